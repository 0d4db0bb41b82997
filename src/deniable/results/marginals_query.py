"""Shares of any attributes along the dependency tree, and what crafted reports did to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.crafted.smoothed import Progress, check_tables, smoothed_without
from deniable.marginals.inference import TreeModel
from deniable.marginals.tree import chow_liu
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Subset
from deniable.results.marginals import RecordReports
from deniable.results.marginals_cells import Given
from deniable.results.marginals_tables import heading_of, summary_of
from deniable.results.view import Cell, View

ALONG = (
    "Along the tree: every attribute depends on one other at most. What the tree does not join is "
    "taken to depend only through the path between, so this is a model, not an estimate."
)
CRAFTED = (
    "With {share:.3g} crafted: the range of what the shares become when attacks on every pair are "
    "taken out, everything is smoothed again and the tree is learnt anew. A search, no bound."
)


class _Asked(NamedTuple):
    """Whose shares are asked for, by place, and the levels of others, by place."""

    places: Sequence[int]
    known: Mapping[int, int]


def query_view(
    reports: RecordReports,
    asked: Sequence[str],
    given: Given,
    attackers: float | None = None,
    attacking: Progress | None = None,
) -> View:
    """Return shares along the tree, of any number of attributes, given levels of others.

    Args:
        reports: to the question.
        asked: attributes by name.
        given: levels of other attributes.
        attackers: the share of reports that may be crafted; adds what shares are without them.
        attacking: called with how much of that is done.

    Raises:
        InvalidParameter: if a name or level is unknown, a condition has no level, `attackers` is
            no share, or there are too many pairs to attack.
    """
    places = reports.places([*asked, *given])
    known = dict(zip(places[len(asked) :], _levels(reports, given), strict=True))
    query = _Asked(places[: len(asked)], known)
    table = reports.pairs.model().joint(*query)
    labels = [reports.record.attributes[place].domain.labels for place in query.places]
    rows: list[dict[str, Cell]] = []
    for index in np.ndindex(table.shape):
        values = {name: names[i] for name, names, i in zip(asked, labels, index, strict=True)}
        rows.append({**values, "along_tree": float(table[index])})
    header: tuple[str, ...] = (*asked, "along tree")
    notes: tuple[str, ...] = (ALONG,)
    lines = [[str(row[name]) for name in asked] + [f"{row['along_tree']:.2%}"] for row in rows]
    data = {
        **summary_of(reports),
        "kind": "along_tree",
        "attributes": list(asked),
        "given": dict(given),
    }
    if attackers is not None:
        low, high = attacked_query(reports, query, attackers, attacking)
        for row, line, ends in zip(rows, lines, zip(low.flat, high.flat, strict=True), strict=True):
            row["attacked_low"], row["attacked_high"] = float(ends[0]), float(ends[1])
            line.append(f"{ends[0]:.2%} to {ends[1]:.2%}")
        header = (*header, f"with {attackers:.3g} crafted")
        notes, data["attackers"] = (CRAFTED.format(share=attackers), ALONG), attackers
    numbers = [name for name in rows[0] if name not in asked]
    data["rows"] = [
        {"values": {name: row[name] for name in asked}, **{name: row[name] for name in numbers}}
        for row in rows
    ]
    data["notes"] = list(notes)
    condition = ", ".join(f"{name} = {level}" for name, level in given.items())
    what = f"shares of {', '.join(asked)} along the tree"
    heading = (*heading_of(reports), what + (f", given {condition}" if condition else ""))
    return View(heading, header, lines, rows, data, notes)


@one_thread
def attacked_query(
    reports: RecordReports, query: _Asked, attackers: float, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return the least and the largest that shares along the tree are without crafted reports.

    Accuracy: a search, as `smoothed_without` is; a tree that liars have changed is learnt anew.

    Edge cases: where a condition may be all liars', shares lie between 0 and 1.

    Cost: up to 1,000 smoothings.
    """
    share = _validate.probability("attackers", "shares along the tree", attackers)
    pairs = reports.pairs
    check_tables({pair: table.probability.shape for pair, table in pairs.raw.items()})
    raw: dict[Subset, Floats] = {pair: table.probability for pair, table in pairs.raw.items()}
    low = high = pairs.model().joint(*query)
    for run in smoothed_without(reports.mechanism, reports.counts, raw, share, progress):
        cells = {pair: run[pair] for pair in pairs.raw}
        try:
            found = TreeModel.of(chow_liu(pairs.attributes, cells), cells).joint(*query)
        except InvalidParameter:  # what is given has probability 0 there
            return np.zeros_like(low), np.ones_like(high)
        low, high = np.minimum(low, found), np.maximum(high, found)
    return low, high


def _levels(reports: RecordReports, given: Given) -> list[int]:
    """Return the places of given levels."""
    found = []
    for name, level in given.items():
        (place,) = reports.places([name])
        labels = reports.record.attributes[place].domain.labels
        if level is None or level not in labels:
            raise InvalidParameter(
                f"Along the tree, --given takes {name}=LEVEL with one of: {', '.join(labels)}."
            )
        found.append(labels.index(level))
    return found
