"""deniable marginals: tables of any few attributes of a profile; pairs, tree and samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
import typer

from deniable.ask import profiles
from deniable.ask.profiles import (
    Kind,
    along_tree,
    pairs_table,
    sample_table,
    shares_of,
    tree_table,
)
from deniable.ask.profiles.over_groups import profiles_by
from deniable.cli.asking import AskingPeople, GroupBy
from deniable.cli.options_of_many_words import SpreadCommand
from deniable.cli.output import (
    Crafted,
    IntervalsOf,
    JsonFlag,
    OutputFiles,
    check_names,
    emit_tables,
)
from deniable.results.table import Tables


class _Marginals(SpreadCommand):
    spread: ClassVar[tuple[str, ...]] = ("--attributes", "-a", "--given", "-g")


COMMAND = _Marginals
"""The class that reads this command line; see `deniable.cli.app`."""


def marginals(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    attributes: Annotated[
        list[str] | None,
        typer.Option("--attributes", "-a", help="The table of these: --attributes a b c."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", "-g", help="Shares given these: --given b c, or --given b=yes."),
    ] = None,
    order: Annotated[
        int | None, typer.Option(min=1, help="All tables of this number of attributes, as one.")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Test every pair for independence; correlations.")
    ] = False,
    tree: Annotated[
        bool,
        typer.Option("--tree", help="The dependency tree; with --attributes, shares along it."),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Draw this number of synthetic profiles from the tree."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Only unbiased shares, with errors.")] = False,
    smoothed: Annotated[bool, typer.Option("--smoothed", help="Only smoothed shares.")] = False,
    of: IntervalsOf = "population",
    crafted: Crafted = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of --sample; by default it is new.")
    ] = None,
    by: GroupBy = None,
    output: OutputFiles = None,
    *,
    asking: AskingPeople,
    json: JsonFlag = False,
) -> None:
    """Estimate tables of attributes, raw and smoothed; test pairs; learn the dependency tree."""
    _check(attributes, given, order, pairs, tree, sample)
    if crafted is not None and sample is not None:
        raise typer.BadParameter(
            "--crafted goes with tables, --pairs and --tree, not with --sample: profiles have no "
            "bar. Ask for shares along the tree instead: --tree --attributes."
        )
    asked = asking.questions(question)
    check_names(output)
    kind: Kind = "both" if raw == smoothed else "raw" if raw else "smoothed"
    with asking.source(asked, quiet=json) as (store, base):
        people = asking.people(changes=bool(by))
        options = replace(base, of=of, crafted=crafted, people=people)
        if by:
            if pairs or tree or sample is not None:
                raise typer.BadParameter("--by goes with tables: --attributes or --order.")
            known = _known(given)
            table = profiles_by(
                store,
                asked,
                by,
                options,
                attributes=attributes or (),
                given=known,
                order=order or 1,
            )
            emit_tables(Tables([table]), output, json)
            return
        reports = profiles(store, asked, options)
        if sample is not None:
            table = sample_table(reports, sample, np.random.default_rng(seed))
        elif pairs:
            table = pairs_table(reports, options=options)
        elif tree and attributes:
            table = along_tree(reports, attributes, _known(given), options)
        elif tree:
            table = tree_table(reports, options)
        else:
            wanted = [*(attributes or ()), *_known(given)]
            tables = [reports.table(wanted)] if attributes else reports.tables(order or 1)
            table = shares_of(reports, tables, kind, _known(given), options)
    emit_tables(Tables([table]), output, json)


def _check(
    attributes: list[str] | None,
    given: list[str] | None,
    order: int | None,
    pairs: bool,
    tree: bool,
    sample: int | None,
) -> None:
    """Refuse options that exclude each other."""
    chosen = [order is not None, pairs, tree, sample is not None]
    if sum(chosen) > 1:
        raise typer.BadParameter("Use one of --order, --pairs, --tree and --sample.")
    if attributes and (order is not None or pairs or sample is not None):
        raise typer.BadParameter("--attributes goes alone, with --given, or with --tree.")
    if given and not attributes:
        raise typer.BadParameter("--given needs --attributes: what to show, given that.")


def _known(given: Sequence[str] | None) -> dict[str, str | None]:
    """Read the conditions: an attribute, or an attribute and one of its answers."""
    parts = (text.partition("=") for text in given or ())
    return {name: answer if equals else None for name, equals, answer in parts}
