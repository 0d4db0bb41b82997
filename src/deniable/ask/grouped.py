"""Counts in groups, by epoch or segment, and a table of every group under one head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.ask.candidates import field_candidates
from deniable.ask.intervals import lasting_in, reading_of
from deniable.ask.options import Options
from deniable.ask.pooling import PooledShares, pool_shares
from deniable.ask.several import AnyCounts, alone
from deniable.errors import InvalidParameter
from deniable.groups import Groups, local_level
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, StringSets
from deniable.results.table import Cell, Column, Epochs, Row, Table
from deniable.results.table.columns import plain

EPOCH = "epoch"
MOST_EPOCHS = 1_000
MOST_TESTED = 64
"""The most answers whose changes are tested together; more are tested one by one."""

Make = Callable[[AnyCounts], Table]
"""Makes the table of some counts."""
Pool = Callable[[AnyCounts | None], PooledShares]
"""Pools the levels and versions of some counts, or of all."""
Split = Callable[[AnyCounts], Mapping[str, AnyCounts]]
"""Divides counts into groups with names, where neither epochs nor a segment do."""


@dataclass(frozen=True)
class OneReport:
    """The noise of one report at the shares of all groups.

    Attributes:
        covariance: of the shares that it adds.
        supported: the share of reports that support each answer; None if none is counted so.
    """

    covariance: Floats
    supported: Floats | None


@dataclass(frozen=True)
class Group:
    """The counts of an epoch, of a segment's value, or of both, and their table.

    Attributes:
        key: the members of the JSON that name the group: epoch, from, to; a segment's value.
        counted: its counts.
        table: made of them.
    """

    key: Mapping[str, Any]
    counted: AnyCounts
    table: Table

    def as_json(self) -> dict[str, object]:
        """Return the group as JSON."""
        rows = [plain(row) for row in self.table.rows]
        return {**self.key, "n": self.counted.n, "rows": rows}


def groups_by(
    counted: AnyCounts, by: Sequence[str], make: Make, split: Split | None = None
) -> list[Group]:
    """Return the groups of counts by epoch, a segment, or both, the epoch changing slowest.

    With `split` they are its groups, and `by` is the one name that their names stand under.

    Raises:
        InvalidParameter: if the question has no such segment, `by` names one twice or more than
            one, or there are too many epochs.
    """
    if split is not None:
        return [Group({by[0]: name}, one, make(one)) for name, one in split(counted).items()]
    segments = [name for name in by if name != EPOCH]
    if len(segments) > 1 or len(set(by)) < len(by):
        raise InvalidParameter("Group by epoch, by one segment, or by both: --by epoch --by NAME")
    parts: list[tuple[dict[str, Any], AnyCounts]] = [({}, counted)]
    if EPOCH in by:
        if len(counted.epochs) > MOST_EPOCHS:
            raise InvalidParameter(
                f"There are {len(counted.epochs):,} epochs: at most {MOST_EPOCHS:,} are shown.",
                "Choose some with --since and --until.",
            )
        days = counted.question.epoch
        parts = [(_epoch_key(epoch, days), one) for epoch, one in counted.by_epoch().items()]
    for name in segments:
        parts = [
            ({**key, name: value}, one)
            for key, part in parts
            for value, one in part.by_segment(name).items()
        ]
    return [Group(key, one, make(one)) for key, one in parts]


def _epoch_key(epoch: int, days: int) -> dict[str, Any]:
    covered = Epochs(epoch, epoch, days)
    first, last = covered.first_day.isoformat(), covered.last_day.isoformat()
    return {EPOCH: epoch, "from": first, "to": last}


def key_columns(by: Sequence[str]) -> list[Column]:
    """Return the columns that name a group."""
    epoch = [Column(EPOCH, "count"), Column("from", "label", "from"), Column("to", "label")]
    segments = [Column(name, "label", name) for name in by if name != EPOCH]
    return [*(epoch if EPOCH in by else []), *segments, Column("n", "count", "n")]


def shown_columns(whole: Table) -> list[Column]:
    """Return the columns of a table that every group shows: labels, the share and its errors."""
    kept = ("label", "error", "interval", "second_interval")
    share, _, interval, _ = whole.columns.main
    return [
        column
        for column in whole.columns
        if column.name == share
        or (column.kind in kept and (column.kind != "interval" or column.name == interval))
    ]


def by_labels(table: Table) -> dict[tuple[object, ...], Row]:
    """Return the rows of a table by their labels."""
    names = [column.name for column in table.columns.of("label")]
    return {tuple(row[name] for name in names): row for row in table.rows}


def group_rows(
    groups: Sequence[Group], whole: Table, columns: Sequence[Column]
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of every group, in the order of the whole table's."""
    order = list(by_labels(whole))
    for group in groups:
        found = by_labels(group.table)
        for labels in order:
            if labels in found:
                cells = (found[labels][column.name] for column in columns)
                yield (*group.key.values(), group.counted.n, *cells)


def label_of(labels: tuple[object, ...]) -> str:
    """Return labels as one text."""
    return ", ".join(str(label) for label in labels)


def as_groups(
    groups: Sequence[Group],
    whole: Table,
    field: Field,
    options: Options,
    noise: OneReport | None,
    pool: Pool | None = None,
) -> Groups:
    """Return the shares of groups as the mathematics takes them.

    Args:
        groups: the groups, whose tables must be of the population.
        whole: the table of all groups together.
        field: the field.
        options: says who reports in several epochs.
        noise: that of one report, in the order of the whole table's rows.
        pool: pools levels and versions of some counts; None where there is one of each.
    """
    share, error, _, _ = whole.columns.main
    order = list(by_labels(whole))
    tables = [by_labels(group.table) for group in groups]
    nothing = (np.nan, np.nan)
    cells = np.array(
        [
            [
                (table[one][share or ""], table[one][error or ""]) if one in table else nothing
                for one in order
            ]
            for table in tables
        ],
        dtype=float,
    ).reshape(len(groups), len(order), 2)
    question = groups[0].counted.question
    readings = [reading_of(options, question, field, group.counted.epochs) for group in groups]
    found = Groups(
        tuple(label_of(labels) for labels in order),
        tuple(group.key.get(EPOCH, 0) for group in groups),
        np.array([group.counted.n for group in groups], dtype=float),
        cells[:, :, 0],
        cells[:, :, 1] ** 2,
        lasting_in(question, field).ends,
        np.array(whole.column(share or ""), dtype=float),
        None if noise is None else noise.covariance,
        [(reading.noise, reading.people) for reading in readings],
        None if noise is None else noise.supported,
    )
    return found if pool is None else _of_several(found, groups, field, pool)


def pool_of(
    counted: AnyCounts, field: Field, listed: Sequence[str] | None, options: Options
) -> Pool | None:
    """Return what pools the levels and versions of a part of some counts; None if there is one.

    Variances are evaluated at the shares of all these counts: those of a part differ from them by
    chance, and a small share by chance would seem to be a sure one.
    """
    if alone(counted) is not None:
        return None
    asked = of_population(options)
    whole = pool_shares(counted, field, listed, asked)

    def pooled(part: AnyCounts | None) -> PooledShares:
        if part is None:
            return whole
        return pool_shares(part, field, listed, asked, whole.whole.shares)

    return pooled


def _of_several(found: Groups, groups: Sequence[Group], field: Field, pool: Pool) -> Groups:
    """Return groups with the errors of their own mix of levels and versions."""
    place = {label: i for i, label in enumerate(pool(None).parts[0].labels)}
    rows = [place[label] for label in found.labels]
    scale = field.domain.most**2 if isinstance(field.domain, StringSets) else 1
    each = [pool(group.counted).whole for group in groups]
    variance = scale * np.stack([one.variance[rows] for one in each])
    joint = [one.covariance[np.ix_(rows, rows)] for one in each if one.covariance is not None]
    return replace(
        found,
        precision=1 / variance,
        repeated=pool(None).kept[rows],
        covariances=joint if len(joint) == len(each) else (),
    )


def smoothed(groups: Groups) -> dict[tuple[int, str], float]:
    """Return the line through every answer's shares, by epoch and answer."""
    lines = [local_level(f, v) for f, v in zip(groups.shares.T, groups.variance.T, strict=True)]
    return {
        (epoch, label): float(line[t])
        for label, line in zip(groups.labels, lines, strict=True)
        for t, epoch in enumerate(groups.times)
    }


def of_population(options: Options) -> Options:
    """Return the options with which groups are compared: of the population, no crafted reports."""
    return replace(options, of="population", crafted=None)


def listed_of(field: Field, options: Options) -> Sequence[str] | None:
    """Return the strings to test a field for: those given, or those of its own file."""
    return options.candidates.get(field.name) or field_candidates(field, options.folder)
