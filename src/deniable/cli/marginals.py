"""deniable marginals: tables of any few attributes of a profile, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import typer
from rich.progress import Progress

from deniable.cli.options_of_many_words import SpreadCommand
from deniable.cli.output import (
    DataDirectory,
    JsonFlag,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import find_question, say_where_reports_are
from deniable.results.marginals import RecordReports, record_reports
from deniable.results.marginals_pairs import pairs_view, sample_view, tree_view
from deniable.results.marginals_query import query_view
from deniable.results.marginals_tables import Kind, tables_view
from deniable.results.view import View, save_view, view_text
from deniable.store import open_store


class _Marginals(SpreadCommand):
    spread: ClassVar[tuple[str, ...]] = ("--attributes", "-a", "--given", "-g")


COMMAND = _Marginals
"""How the command line is read; see `deniable.cli.app`."""


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
        int | None, typer.Option(min=1, help="All tables of so many attributes, as one.")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Test every pair for independence; correlations.")
    ] = False,
    tree: Annotated[
        bool,
        typer.Option("--tree", help="The dependency tree; with --attributes, shares along it."),
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Draw so many synthetic records from the tree.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Only unbiased shares, with errors.")] = False,
    smoothed: Annotated[bool, typer.Option("--smoothed", help="Only smoothed shares.")] = False,
    attackers: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of reports that may be crafted: a second bar."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of --sample; by default it is new.")
    ] = None,
    version: VersionNumber = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write a file: .csv, .json, .parquet, .png, .svg or .html. May be repeated.",
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Estimate tables of attributes, raw and smoothed; test pairs; learn the dependency tree."""
    _check(attributes, given, order, pairs, tree, sample)
    if attackers is not None and sample is not None:
        raise typer.BadParameter(
            "--attackers goes with tables, --pairs and --tree, not with --sample: records have no "
            "bar. Ask for shares along the tree instead: --tree --attributes."
        )
    asked = find_question(survey, question, version)
    with open_store(data, create=False) as store, progress(quiet=json) as display:
        say_where_reports_are(store, survey, asked)
        task = display.add_task("counting", total=None)
        reports = record_reports(
            store,
            asked,
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )
    kind: Kind = "both" if raw == smoothed else "raw" if raw else "smoothed"
    with progress(quiet=json) as display:
        attack = _Attack.shown(attackers, display)
        if sample is not None:
            view = sample_view(reports, sample, np.random.default_rng(seed))
        elif pairs:
            view = pairs_view(reports, attackers=attack.attackers, attacking=attack.attacking)
        elif tree:
            view = _along(reports, attributes or (), given or (), attack)
        else:
            view = _tables(reports, attributes or (), given or (), order, kind, attack)
    for path in output or ():
        path.parent.mkdir(parents=True, exist_ok=True)
        save_view(view, path)
    if json:
        emit_json(view.data)
    else:
        out.print(view_text(view), markup=False)


class _Attack(NamedTuple):
    """The share of reports that may be crafted, and what shows how much is done about it."""

    attackers: float | None
    attacking: Callable[[int, int], None] | None = None

    @classmethod
    def shown(cls, attackers: float | None, display: Progress) -> _Attack:
        if attackers is None:
            return cls(None)
        task = display.add_task("attacking", total=None)
        return cls(attackers, lambda done, total: display.update(task, completed=done, total=total))


def _check(
    attributes: list[str] | None,
    given: list[str] | None,
    order: int | None,
    pairs: bool,
    tree: bool,
    sample: int | None,
) -> None:
    """Refuse what cannot be asked for together."""
    chosen = [order is not None, pairs, tree, sample is not None]
    if sum(chosen) > 1:
        raise typer.BadParameter("Use one of --order, --pairs, --tree and --sample.")
    if attributes and (order is not None or pairs or sample is not None):
        raise typer.BadParameter("--attributes goes alone, with --given, or with --tree.")
    if given and not attributes:
        raise typer.BadParameter("--given needs --attributes: what to show, given that.")


def _tables(
    reports: RecordReports,
    attributes: Sequence[str],
    given: Sequence[str],
    order: int | None,
    kind: Kind,
    attack: _Attack,
) -> View:
    """Return one table, or all of an order; of single attributes unless said."""
    known = _known(given)
    one = [reports.table([*attributes, *known])] if attributes else None
    tables = one or reports.tables(order or 1)
    return tables_view(reports, tables, kind, known, attack.attackers, attack.attacking)


def _along(
    reports: RecordReports,
    attributes: Sequence[str],
    given: Sequence[str],
    attack: _Attack,
) -> View:
    """Return the tree, or shares along it."""
    if attributes:
        return query_view(reports, attributes, _known(given), attack.attackers, attack.attacking)
    return tree_view(reports, attack.attackers, attack.attacking)


def _known(given: Sequence[str]) -> dict[str, str | None]:
    """Read what is given: an attribute, or an attribute and one of its levels."""
    parts = (text.partition("=") for text in given)
    return {name: level if equals else None for name, equals, level in parts}
