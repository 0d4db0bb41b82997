"""Shares of any attributes along the dependency tree, and their ranges under crafted reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.ask.crafted_shares import crafted_column
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.profiles.reports import Given, Profiles
from deniable.ask.profiles.shares import about_profiles, said_first
from deniable.crafted.search import Ends, Progress
from deniable.crafted.smoothed_tables import pair_ranges
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.inference import TreeModel
from deniable.marginals.smoothed import Tables
from deniable.marginals.tree import chow_liu
from deniable.mechanisms.base import Floats
from deniable.results.table import Cell, Column, Table

ALONG = (
    "Along the tree: every attribute depends on one other at most. What the tree does not join is "
    "taken to depend only through the path between, so this is a model, not an estimate."
)
CRAFTED = (
    "With {share:.3g} crafted: the range of what the shares become when shifts of every pair are "
    "taken out, everything is smoothed again and the tree is learnt anew. A search, no bound."
)


class _Asked(NamedTuple):
    """A query: the places of the attributes asked for, and given answers of others by place."""

    places: Sequence[int]
    known: Mapping[int, int]


def along_tree(
    reports: Profiles, asked: Sequence[str], given: Given, options: Options = DEFAULTS
) -> Table:
    """Return shares along the tree, of any number of attributes, given answers of others.

    Args:
        reports: to the question.
        asked: attributes by name.
        given: answers of other attributes.
        options: this reads `crafted`, which adds the range of shares without crafted reports.

    Raises:
        InvalidParameter: if a name or answer is unknown, a condition has no answer, `crafted` is
            no share, or there are too many pairs to search.
    """
    places, crafted = reports.places([*asked, *given]), options.crafted
    known = dict(zip(places[len(asked) :], _answers(reports, given), strict=True))
    query = _Asked(places[: len(asked)], known)
    shares = reports.pairs.model().joint(*query)
    if not reports.learned:
        # Smoothed tables are noise then, and so is what a model makes of them.
        shares = np.full_like(shares, np.nan)
    labels = [reports.profile.attributes[place].domain.labels for place in query.places]
    columns = [*(Column(name, "label", name) for name in asked)]
    columns.append(Column("along_tree", "share", "along tree"))
    rows: list[tuple[Cell, ...]] = [
        (*texts, float(share)) for texts, share in zip(product(*labels), shares.flat, strict=True)
    ]
    notes: tuple[str, ...] = (ALONG,)
    if crafted is not None:
        ends = crafted_query(reports, query, crafted, options.stage("searching"))
        columns.append(crafted_column(crafted))
        low, high = (map(float, end.flat) for end in ends)
        rows = [(*row, pair) for row, pair in zip(rows, zip(low, high, strict=True), strict=True)]
        notes = (CRAFTED.format(share=crafted), ALONG)
    condition = ", ".join(f"{name} = {answer}" for name, answer in given.items())
    what = f"shares of {', '.join(asked)} along the tree"
    what += f", given {condition}" if condition else ""
    about = about_profiles(
        reports, "along_tree", what, crafted, attributes=list(asked), given=dict(given)
    )
    return Table.of(about, columns, rows, notes=(*said_first(reports), *notes))


@one_thread
def crafted_query(
    reports: Profiles, query: _Asked, crafted: float, progress: Progress | None = None
) -> Ends:
    """Return the range of shares along the tree without crafted reports.

    Accuracy: the shifts are those that `smoothed_without` takes out, and the tree is learnt anew
    for each of them.

    Edge cases: where only crafted reports may meet a condition, shares lie between 0 and 1.

    Cost: up to 1,000 smoothings.
    """
    share = _validate.probability("crafted", "shares along the tree", crafted)
    pairs = reports.pairs
    seen = pairs.model().joint(*query)

    def read(found: Tables) -> list[Floats]:
        cells = {pair: found[pair] for pair in pairs.raw}
        try:
            return [TreeModel.of(chow_liu(pairs.attributes, cells), cells).joint(*query)]
        except InvalidParameter as error:  # what is given has probability 0 there
            raise ZeroDivisionError from error

    try:
        (ends,) = pair_ranges(reports.mechanism, reports.counts, pairs, share, read, progress)
    except ZeroDivisionError:
        return Ends(np.zeros_like(seen), np.ones_like(seen))
    # The tree of all reports is of pairs smoothed one by one, those of the search are not.
    return Ends(np.minimum(ends.low, seen), np.maximum(ends.high, seen))


def _answers(reports: Profiles, given: Given) -> list[int]:
    """Return the places of given answers."""
    found = []
    for name, answer in given.items():
        (place,) = reports.places([name])
        labels = reports.profile.attributes[place].domain.labels
        if answer is None or answer not in labels:
            raise InvalidParameter(
                f"Along the tree, --given takes {name}=LEVEL with one of: {', '.join(labels)}."
            )
        found.append(labels.index(answer))
    return found
