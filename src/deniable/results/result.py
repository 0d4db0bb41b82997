"""A result: the table that a person reads, with everything needed to read it rightly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from deniable.protocol.epochs import date_of, days_of
from deniable.results.intervals import LEVEL

ABSENT_LABEL = "(absent)"
"""How the absent answer is named in results."""

ORDERED_DOMAINS = frozenset({"boolean", "numbers", "profile"})
"""Domains whose answers have an order of their own; the others are shown by frequency."""


@dataclass(frozen=True)
class Row:
    """One answer: its estimated share of the reports, with its error.

    Attributes:
        value: the answer in words: a category, a bin, or the candidate string itself.
        frequency: unbiased; noise may put it below 0 or above 1. NaN if it cannot be learned.
        std_error: one standard deviation of `frequency`; NaN if it cannot be learned.
        interval: the ends of the 95% interval.
        z: `frequency` over `std_error`.
        p_value: of the hypothesis that nobody gave this answer.
        holm: detected, where not one false detection is wanted; None if it was not tested.
        storey: detected, where 5% false ones are allowed; None if it was not tested.
        selected_interval: wider, so that 95% of those of *detected* answers cover; None for others.
        points: point estimates of the whole distribution, by name; not unbiased any more.
        attacked_interval: `interval` with what crafted reports could do; None if nobody asked.
        truth: the true share, where it is known (simulations and the demo).
    """

    value: str
    frequency: float
    std_error: float
    interval: tuple[float, float]
    z: float = math.nan
    p_value: float = math.nan
    holm: bool | None = None
    storey: bool | None = None
    selected_interval: tuple[float, float] | None = None
    points: Mapping[str, float] = field(default_factory=dict)
    truth: float | None = None
    attacked_interval: tuple[float, float] | None = None

    @property
    def learned(self) -> bool:
        """Whether there is an estimate at all."""
        return math.isfinite(self.frequency) and math.isfinite(self.std_error)

    @property
    def stands_out(self) -> bool:
        """Whether it was detected (Storey); untested, whether the whole interval lies above 0."""
        return self.interval[0] > 0 if self.storey is None else self.storey

    def as_json(self) -> dict[str, object]:
        """Return the row as JSON; what cannot be learned is null."""
        row: dict[str, object] = {
            "value": self.value,
            "frequency": _number(self.frequency),
            "std_error": _number(self.std_error),
            "interval": [_number(end) for end in self.interval],
            "z": _number(self.z),
            "p_value": _number(self.p_value),
            "holm": self.holm,
            "storey": self.storey,
        }
        if self.selected_interval is not None:
            row["selected_interval"] = [_number(end) for end in self.selected_interval]
        if self.attacked_interval is not None:
            row["attacked_interval"] = [_number(end) for end in self.attacked_interval]
        if self.points:
            row["points"] = {name: _number(share) for name, share in self.points.items()}
        if self.truth is not None:
            row["truth"] = _number(self.truth)
        return row


@dataclass(frozen=True)
class Unlisted:
    """The share of reports whose strings no candidate names.

    Attributes:
        frequency: unbiased, so noise may put it below 0.
        std_error: one standard deviation of it.
        interval: the ends of its 95% interval.
        suspected: whether the residuals alone say that there are such strings.
    """

    frequency: float
    std_error: float
    interval: tuple[float, float]
    suspected: bool

    def as_json(self) -> dict[str, object]:
        """Return it as JSON; what cannot be known is null."""
        return {
            "frequency": _number(self.frequency),
            "std_error": _number(self.std_error),
            "interval": [_number(end) for end in self.interval],
            "suspected": self.suspected,
        }


@dataclass(frozen=True)
class Epochs:
    """The epochs that a result covers, each `days` UTC days long."""

    first: int
    last: int
    days: int

    @property
    def first_day(self) -> date:
        """The first day of the first epoch."""
        return date_of(days_of(self.first, self.days)[0])

    @property
    def last_day(self) -> date:
        """The last day of the last epoch."""
        return date_of(days_of(self.last, self.days)[1])

    def as_json(self) -> dict[str, object]:
        """Return the epochs as JSON, with their days."""
        return {
            "first": self.first,
            "last": self.last,
            "first_day": self.first_day.isoformat(),
            "last_day": self.last_day.isoformat(),
        }


@dataclass(frozen=True)
class Result:
    """What the reports to one field of a question say.

    Attributes:
        question, version, field, description: what was asked.
        domain, mechanism: the kind of answers, and how they were randomised.
        n: the number of reports. Where devices report in every epoch it is not one of people.
        epsilon_once: the epsilon of this field in one report.
        epsilon_forever: in all reports of one value; None if it grows with every report.
        memoised: whether a permanent response bounds what many reports reveal.
        epochs: what the reports cover; None without reports.
        rows: one per answer, by frequency; booleans and numbers in their own order; absent last.
        expected_false: how many of the answers detected by Storey are expected to be false.
        unlisted: the share of strings outside the candidates; None for closed domains.
        notes: what a reader must know.
        attackers: the share of crafted reports that `attacked_interval` allows for, if any.
        simulated: how many of the n reports are simulated.
    """

    question: str
    version: int
    field: str
    description: str
    domain: str
    mechanism: str
    n: int
    epsilon_once: float
    epsilon_forever: float | None
    memoised: bool
    epochs: Epochs | None
    rows: tuple[Row, ...]
    expected_false: float = 0.0
    unlisted: Unlisted | None = None
    notes: tuple[str, ...] = ()
    attackers: float | None = None
    simulated: int = 0

    @property
    def ordered(self) -> bool:
        """Whether the rows stand in an order of their own, not by frequency."""
        return self.domain in ORDERED_DOMAINS

    def with_truth(self, truth: Mapping[str, float]) -> Result:
        """Return the result with the true share beside each estimate, by value.

        Edge cases: a value that `truth` does not name gets none.
        """
        rows = tuple(replace(row, truth=truth.get(row.value)) for row in self.rows)
        return replace(self, rows=rows)

    def as_json(self) -> dict[str, object]:
        """Return the result as spec/schemas/result.json describes it; never NaN or infinity."""
        attackers = {} if self.attackers is None else {"attackers": self.attackers}
        return {
            "question": self.question,
            "version": self.version,
            "field": self.field,
            "description": self.description,
            "domain": self.domain,
            "mechanism": self.mechanism,
            "n": self.n,
            "simulated": self.simulated,
            "level": LEVEL,
            "epsilon_once": self.epsilon_once,
            "epsilon_forever": self.epsilon_forever,
            "memoised": self.memoised,
            "epochs": None if self.epochs is None else self.epochs.as_json(),
            "rows": [row.as_json() for row in self.rows],
            "expected_false": _number(self.expected_false),
            "unlisted": None if self.unlisted is None else self.unlisted.as_json(),
            "notes": list(self.notes),
            **attackers,
        }


def _number(value: float) -> float | None:
    """Return a number that JSON can hold: None for NaN and infinities."""
    return value if math.isfinite(value) else None
