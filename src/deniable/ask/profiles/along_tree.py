"""Shares of any attributes along the dependency tree, and their ranges under crafted reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.ask.crafted_shares import attacked_column
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.profiles.reports import Given, Profiles
from deniable.ask.profiles.shares import about_profiles
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.crafted.smoothed import Progress, check_tables, smoothed_without
from deniable.marginals.inference import TreeModel
from deniable.marginals.tree import chow_liu
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Subset
from deniable.results.table import Cell, Column, Table

ALONG = (
    "Along the tree: every attribute depends on one other at most. What the tree does not join is "
    "taken to depend only through the path between, so this is a model, not an estimate."
)
CRAFTED = (
    "With {share:.3g} crafted: the range of what the shares become when attacks on every pair are "
    "taken out, everything is smoothed again and the tree is learnt anew. A search, no bound."
)


class _Asked(NamedTuple):
    """A query: the places of the attributes asked for, and given levels of others by place."""

    places: Sequence[int]
    known: Mapping[int, int]


def along_tree(
    reports: Profiles, asked: Sequence[str], given: Given, options: Options = DEFAULTS
) -> Table:
    """Return shares along the tree, of any number of attributes, given levels of others.

    Args:
        reports: to the question.
        asked: attributes by name.
        given: levels of other attributes.
        options: this reads `attackers`, which adds the range of shares without crafted reports.

    Raises:
        InvalidParameter: if a name or level is unknown, a condition has no level, `attackers` is
            no share, or there are too many pairs to attack.
    """
    places, attackers = reports.places([*asked, *given]), options.attackers
    known = dict(zip(places[len(asked) :], _levels(reports, given), strict=True))
    query = _Asked(places[: len(asked)], known)
    shares = reports.pairs.model().joint(*query)
    labels = [reports.record.attributes[place].domain.labels for place in query.places]
    columns = [*(Column(name, "label", name) for name in asked)]
    columns.append(Column("along_tree", "share", "along tree"))
    rows: list[tuple[Cell, ...]] = [
        (*texts, float(share)) for texts, share in zip(product(*labels), shares.flat, strict=True)
    ]
    notes: tuple[str, ...] = (ALONG,)
    if attackers is not None:
        ends = attacked_query(reports, query, attackers, options.stage("attacking"))
        columns.append(attacked_column(attackers))
        low, high = (map(float, end.flat) for end in ends)
        rows = [(*row, pair) for row, pair in zip(rows, zip(low, high, strict=True), strict=True)]
        notes = (CRAFTED.format(share=attackers), ALONG)
    condition = ", ".join(f"{name} = {level}" for name, level in given.items())
    what = f"shares of {', '.join(asked)} along the tree"
    what += f", given {condition}" if condition else ""
    about = about_profiles(
        reports, "along_tree", what, attackers, attributes=list(asked), given=dict(given)
    )
    return Table.of(about, columns, rows, notes=notes)


@one_thread
def attacked_query(
    reports: Profiles, query: _Asked, attackers: float, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return the range of shares along the tree without crafted reports: least and largest.

    Accuracy: the attacks are those that `smoothed_without` tries, and the tree is learnt anew for
    each of them.

    Edge cases: where only crafted reports may meet a condition, shares lie between 0 and 1.

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


def _levels(reports: Profiles, given: Given) -> list[int]:
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
