"""An association as a table: a row per combination of answers, and its tests as a part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from deniable.ask.associate.pair_tables import pairs_of
from deniable.ask.crafted_shares import crafted_column
from deniable.associate import Derived, Joint, Pair, conditional, odds_ratios
from deniable.crafted.association import CraftedAssociation
from deniable.crafted.ratios import crafted_conditional, crafted_odds
from deniable.crafted.search import Ends
from deniable.mechanisms.base import Floats
from deniable.results.charts.heat_map import heat_map, heat_map_described, heat_map_key
from deniable.results.table import About, Cell, Column, Table, interval_name
from deniable.results.table.columns import Kind
from deniable.results.words.association import ALPHA, association_words

Filled = list[tuple[Column, Iterable[Cell]]]
"""Columns with their cells."""
FIT = (
    "Fit: {solver}, {rounds} rounds on {patterns:,} different patterns; no table has a "
    "log-likelihood larger by more than {gap:.2g}."
)


@dataclass(frozen=True)
class Associated:
    """A fitted association: joint table, tests, the shifts by crafted reports.

    Attributes:
        joint: the table.
        pairs: the test of every pair.
        crafted: how far crafted reports can have moved both; None where nobody asked.
        mutual: of more than two fields, the test of all of them together.
        given: the fields whose answers further conditional shares are given.
    """

    joint: Joint
    pairs: tuple[Pair, ...]
    crafted: CraftedAssociation | None = None
    mutual: tuple[Pair, ...] = ()
    given: tuple[str, ...] = ()

    def dependent(self, names: tuple[str, ...]) -> bool:
        """Tell whether the test of a pair found that its fields depend on each other."""
        return any(pair.names == names and pair.holm < ALPHA for pair in self.pairs)


def association_table(about: About, found: Associated, notes: Sequence[str]) -> Table:
    """Return the table of an association.

    Columns: one per field, then the share of every combination with error and interval, its
    conditional shares, and for two fields the odds ratio. Parts: `tests`, a row per pair; of more
    than two fields also the table of every pair, the others summed out.
    """
    joint, crafted = found.joint, found.crafted
    fit = {"solver": joint.solver, "rounds": joint.rounds, "gap": joint.gap}
    fit |= {"patterns": joint.patterns, "informative": joint.informative}
    labels = {name: list(texts) for name, texts in zip(joint.names, joint.labels, strict=True)}
    about = replace(about, more={**about.more, "labels": labels, "fit": fit})
    parts = {"tests": _tests(about, found)} | _mutual(about, found)
    if len(joint.names) > 2:
        parts |= {" and ".join(two.names): _shares(about, found, two) for two in pairs_of(joint)}
    parts |= _conditionals(about, found)
    said = () if crafted is None else crafted.notes
    whole = _shares(about, found, joint)
    table = replace(whole, notes=(FIT.format(**fit), *notes, *said), parts=parts)
    words = association_words(table)
    about = replace(table.about, what=(*words.learned, *words.not_learned))
    return replace(table, words=words, about=about)


def _shares(about: About, found: Associated, joint: Joint) -> Table:
    """Return the table of a joint distribution, or of two of its fields."""
    filled: Filled = []
    combinations = list(product(*joint.labels))
    for place, name in enumerate(joint.names):
        filled.append((Column(name, "label", name), [texts[place] for texts in combinations]))
    filled += [
        (Column("probability", "share", "share"), map(float, joint.probability.flat)),
        (Column("std_error", "error", "std. error", extra=True), map(float, joint.std_error.flat)),
        (Column("interval", "interval", about.intervals, extra=True), _ends(joint.low, joint.high)),
    ]
    if found.crafted is not None:
        second = _second_intervals(joint, found.joint, found.crafted)
        filled.append((crafted_column(found.crafted.crafted), _ends(*second)))
    for prefix, derived in _derived(joint).items():
        filled += _derived_columns(prefix, derived, joint, found)
    columns, cells = zip(*filled, strict=True)
    more = {**about.more, "dependent": found.dependent(joint.names)}
    return Table.of(
        replace(about, more=more),
        columns,
        list(zip(*cells, strict=True)),
        picture=heat_map,
        described=heat_map_described,
        caption=heat_map_key,
    )


def _conditionals(about: About, found: Associated) -> dict[str, Table]:
    """Return the shares of every other field given the answers to some, a table for each."""
    given, tables = found.given, {}
    for of in (name for name in found.joint.names if given and name not in given):
        derived = conditional(found.joint, of, given)
        name = f"P({of} | {', '.join(given)})"
        ends = _ends(derived.low, derived.high)
        columns = [
            *(Column(one, "label", one) for one in derived.names),
            Column("probability", "share", name),
            Column("std_error", "error", "std. error", extra=True),
            Column("interval", "interval", about.intervals),
        ]
        numbers = map(float, derived.value.flat), map(float, derived.std_error.flat), ends
        cells = zip(product(*derived.labels), *numbers, strict=True)
        rows = [(*texts, *three) for texts, *three in cells]
        head = replace(about, kind="conditional", crafted=None)
        tables[name] = Table.of(head, columns, rows, notes=derived.notes)
    return tables


def _derived(joint: Joint) -> dict[str, Derived]:
    """Return conditional shares, of two fields both ways, and their odds ratios."""
    *given, last = joint.names
    derived = {"conditional": conditional(joint, last, given)}
    if len(given) == 1:
        derived["reverse"] = conditional(joint, given[0], last)
        derived["odds_ratio"] = odds_ratios(joint)
    return derived


def _derived_columns(prefix: str, derived: Derived, joint: Joint, found: Associated) -> Filled:
    """Return the columns of one derived number.

    Only the conditional shares of the last field have a title, so that people see them.
    """
    axes = [derived.names.index(name) for name in joint.names]
    kind: Kind = "number" if prefix == "odds_ratio" else "share"
    *given, last = joint.names
    shown = prefix == "conditional"
    error = f"{prefix}_std_error"
    title = f"P({last} | {', '.join(given)})" if shown else ""
    ends = interval_name(joint.level) if shown else ""
    interval = Column(f"{prefix}_interval", "interval", ends, kind, error, extra=True)
    filled: Filled = [
        (Column(prefix, kind, title, error=error), map(float, derived.value.transpose(axes).flat)),
        (
            Column(error, "error" if shown or kind == "share" else "number"),
            map(float, derived.std_error.transpose(axes).flat),
        ),
        (interval, _ends(derived.low.transpose(axes), derived.high.transpose(axes))),
    ]
    if found.crafted is not None and joint.names == found.joint.names:
        second_of = crafted_odds if prefix == "odds_ratio" else crafted_conditional
        second = second_of(joint, derived, found.crafted.shifts)
        column = crafted_column(found.crafted.crafted, f"{prefix}_crafted_interval")
        column = replace(column, title=column.title if shown else "", of=kind, error=error)
        filled.append((column, _ends(*(end.transpose(axes) for end in second))))
    return filled


def _ends(low: Floats, high: Floats) -> list[Cell]:
    return [(float(one), float(two)) for one, two in zip(low.flat, high.flat, strict=True)]


def _second_intervals(joint: Joint, whole: Joint, crafted: CraftedAssociation) -> Ends:
    """Return second intervals: a share that crafted reports pushed up is really lower."""
    shifts = crafted.shifts
    if joint.names != whole.names:
        shifts = shifts.margins[tuple(whole.names.index(name) for name in joint.names)]
    # Of pairs out of more fields the interval itself may go beyond 0 and 1.
    low = np.minimum(joint.low, np.maximum(0.0, joint.low - shifts.up))
    return Ends(low, np.maximum(joint.high, np.minimum(1.0, joint.high + shifts.down)))


_TEST_COLUMNS = (
    Column("method", "label", "method"),
    Column("statistic", "number", "statistic"),
    Column("dof", "count", "degrees of freedom"),
    Column("p_value", "p_value", "p-value"),
)


def _test_cells(pair: Pair) -> tuple[Cell, ...]:
    return (pair.test.method, pair.test.statistic, pair.test.dof, pair.test.p_value)


def _mutual(about: About, found: Associated) -> dict[str, Table]:
    """Return the test that all fields are independent together, if there are more than two."""
    columns = [Column("fields", "label", "fields"), *_TEST_COLUMNS, Column("notes", "label")]
    rows = [
        (", ".join(found.joint.names), *_test_cells(one), " ".join(one.test.notes))
        for one in found.mutual
    ]
    return {"mutual": Table.of(replace(about, kind="tests"), columns, rows)} if rows else {}


def _tests(about: About, found: Associated) -> Table:
    """Return the tests of independence, a row per pair, corrected for their number."""
    columns = [
        Column("first", "label", "first"),
        Column("second", "label", "second"),
        *_TEST_COLUMNS,
        Column("p_holm", "p_value", "Holm"),
        Column("p_bh", "p_value", "BH"),
        Column("notes", "label"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (*pair.names, *_test_cells(pair), pair.holm, pair.bh, " ".join(pair.test.notes))
        for pair in found.pairs
    ]
    if found.crafted is not None:
        title = crafted_column(found.crafted.crafted).title
        columns.append(Column("crafted_p_value", "second_interval", title, "p_value"))
        columns.append(Column("crafted_p_holm", "second_interval", "Holm " + title, "p_value"))
        tests = found.crafted.tests
        rows = [(*row, one.p_value, one.holm) for row, one in zip(rows, tests, strict=True)]
    return Table.of(replace(about, kind="tests"), columns, rows)
