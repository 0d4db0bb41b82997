"""Levels and versions of one question as one table.

Levels are chosen by different people: their likelihoods multiply, where reports can be counted.
Versions share their sample (`ask/pooling.py`). A test says whether they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import normal_isf, normal_sf
from deniable.ask.crafted_shares import crafted_slopes
from deniable.ask.estimate import (
    about_of,
    about_reports,
    decoded_rows,
    finished,
    shares_table,
    table_of,
)
from deniable.ask.intervals import reading_of
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.pooling import PooledShares, pool_shares
from deniable.ask.several import AnyCounts, agreeing, alone, left_out, own_field
from deniable.ask.string_sets import has_absent, of_people
from deniable.ask.truth import against_truth
from deniable.decode.decoded import decided
from deniable.decode.reading import READING, Reading, around, by_error
from deniable.errors import InvalidParameter
from deniable.groups import Pooled
from deniable.groups.likelihood import Supports
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Profile, StringSets
from deniable.protocol.epsilon import as_float
from deniable.results.charts.bars import ORDERED_DOMAINS
from deniable.results.table import Table
from deniable.results.table.text import p_text

DISAGREE = "they do not agree"


@dataclass(frozen=True)
class _Together:
    """Pooled shares as `decided` takes them."""

    pooled: PooledShares
    supports: Sequence[Supports] | None
    reading: Reading = READING

    @property
    def frequency(self) -> Floats:
        """The pooled shares."""
        return self.pooled.whole.shares

    @property
    def std_error(self) -> Floats:
        """One standard deviation of each."""
        return np.where(np.isfinite(self.frequency), self.pooled.error, np.nan)

    @property
    def p_values(self) -> Floats:
        """P(an estimate as large | nobody holds the answer)."""
        if self.supports is None:
            return np.asarray(normal_sf(self.frequency / self.std_error))
        return np.array([one.p_value for one in self.supports])

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the ends of the 1 - alpha intervals, within 0..1."""
        if self.supports is None:
            return around(self.frequency, normal_isf(alpha / 2) * self.std_error)
        ends = np.array([one.interval(alpha) for one in self.supports])
        return ends[:, 0], ends[:, 1]

    def limit(self, alpha: float) -> float:
        """Return the detection limit, from the typical error of the noise."""
        noise = self.pooled.noise if self.pooled.noise.ndim == 1 else self.pooled.noise.diagonal()
        known = noise[np.isfinite(noise) & np.isfinite(self.frequency)]
        if not known.size:
            return float("nan")
        n = sum(part.counted.n for part in self.pooled.parts)
        return by_error(float(np.sqrt(np.median(known))), n, known.size, alpha)


def any_table(
    counted: AnyCounts,
    field: Field,
    listed: Sequence[str] | None = None,
    options: Options = DEFAULTS,
    *,
    points: bool = True,
) -> Table:
    """Return the table of one field, of one level and version or of several together.

    Raises:
        InvalidParameter: if a field of strings has no candidates, or what is asked for holds for
            one level of one version only.
    """
    counted = agreeing(counted, field)
    left = left_out(counted)
    if (one := alone(counted)) is not None:
        own = own_field(one.question, field, counted.question) or field
        table = table_of(one, own, listed, options, points=points)
        return replace(table, notes=(*left, *table.notes))
    if options.decoder != "default":
        raise InvalidParameter(
            "The paper's decoder selects what it tests, so that levels and versions cannot be "
            "pooled.",
            "Leave out --decoder lasso, or name one: --level NAME, --version N.",
        )
    pooled = pool_shares(counted, field, listed, options)
    notes = [*left, *(agreement(what, *told) for what, told in pooled.tests.items())]
    return _table(counted, pooled, field, options, notes)


def agreement(what: str, names: Sequence[str], found: Pooled) -> str:
    """Return the sentence that says whether levels or versions agree."""
    told, text = ", ".join(names), p_text(found.p_value)
    shown = text if text.startswith("<") else f"= {text}"
    if found.p_value >= 0.05:
        return f"The {what} ({told}) are pooled; they agree (p {shown})."
    return (
        f"The {what} ({told}) are pooled, but {DISAGREE} (p {shown}): they may be different "
        "people, or the answers changed between them. Look at each by itself."
    )


def agreements(counted: AnyCounts, field: Field, options: Options) -> list[str]:
    """Return whether the levels and versions of a field of listed answers agree, in words."""
    counted = agreeing(counted, field)
    left = left_out(counted)
    if alone(counted) is not None:
        return list(left)
    pooled = pool_shares(counted, field, None, options)
    return [*left, *(agreement(what, *told) for what, told in pooled.tests.items())]


def pooled_members(pooled: PooledShares) -> dict[str, object]:
    """Return which levels and versions were pooled, and the test that they agree, as JSON."""
    members = [
        {
            "version": part.counted.question.version,
            "level": part.counted.question.level,
            "n": part.counted.n,
        }
        for part in pooled.parts
    ]
    _, test = pooled.tests.get("versions") or next(iter(pooled.tests.values()))
    agree = {"statistic": test.statistic, "degrees": test.degrees, "p_value": test.p_value}
    return {"pooled": members, "agreement": agree}


def _table(
    counted: AnyCounts, pooled: PooledShares, field: Field, options: Options, notes: list[str]
) -> Table:
    alpha, parts = 1 - options.confidence, pooled.parts
    # Binomial likelihoods hold for different people, levels, and none of their reports crafted.
    exact = options.of == "population" and options.crafted is None
    supports = pooled.supports() if exact else None
    together = _Together(pooled, supports, replace(READING, of=options.of))
    labels, n = parts[0].labels, sum(part.counted.n for part in parts)
    found = decided(labels, n, together, alpha, method="pooled")
    tested = not isinstance(field.domain, Profile)
    absent = tested and has_absent(field.domain, parts[-1].counted.question.absent)
    ordered = not tested or field.domain.kind in ORDERED_DOMAINS
    if not tested:  # as of one level: which answers somebody has is seldom the question
        unknown = np.full(len(labels), np.nan)
        none = np.zeros(len(labels), dtype=bool)
        found = replace(found, z=unknown, p_value=unknown, holm=none, storey=none)
    rows, about_sets = of_people(
        decoded_rows(found, labels, {}, ordered=ordered, absent=absent), field.domain
    )
    reading = reading_of(options, counted.question, field, counted.epochs)
    known = bool(np.isfinite(found.frequency).all())
    notes = about_reports([*about_sets, *notes], counted, reading, known, options.confidence)
    scale = field.domain.most if isinstance(field.domain, StringSets) else 1
    about = about_of(
        counted,
        field,
        expected_false=found.expected_false,
        unlisted=None,
        limit=found.limit * scale,
        level=options.confidence,
    )
    epsilon = max(part.field.parameters.epsilon_once for part in parts)
    more = {**about.more, **pooled_members(pooled)}
    about = replace(about, of=options.of, n=n, epsilon_once=as_float(epsilon), more=more)
    shifts = None
    if options.crafted is not None:
        slopes = [crafted_slopes(part.field, len(labels), options.crafted) for part in parts]
        each = dict(zip(labels, pooled.moved(slopes, options.crafted), strict=True))
        shifts = [each[str(row[0])] for row in rows]
    table = finished(shares_table(about, rows, notes), field, options.crafted, shifts=shifts)
    truth = options.truth.get(field.name)
    return table if truth is None else against_truth(table, truth)
