"""Levels and versions of one question as one answer.

Levels are chosen by different people: their likelihoods multiply. Versions may be answered by the
same people: their sample is shared, whoever came back (`groups/pool.py`). A test says whether they
agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import normal_isf, normal_sf
from deniable._words import plural
from deniable.ask.candidates import candidates_for, require_candidates
from deniable.ask.estimate import (
    UNBIASED,
    about_of,
    asked_of,
    chosen,
    decoded_rows,
    labels_of,
    shares_table,
)
from deniable.ask.intervals import of_note, reading_of
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.string_sets import has_absent
from deniable.decode import decode
from deniable.decode.decoded import decided
from deniable.decode.reading import READING, Counted, Reading, around, critical, read
from deniable.engines.accumulated import Accumulated, merged_tallies
from deniable.errors import InvalidParameter
from deniable.groups import Pooled, pool_groups
from deniable.groups.likelihood import Supports
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Profile, Question, Sets, StringSets
from deniable.results.charts.bars import ORDERED_DOMAINS
from deniable.results.table import Table, Tables
from deniable.results.table.text import p_text
from deniable.results.words.shares import in_words


@dataclass(frozen=True)
class _Part:
    """The shares of one level of one version."""

    counted: Accumulated
    labels: tuple[str, ...]
    shares: Floats
    covariance: Floats
    read: Counted | None


@dataclass(frozen=True)
class _Together:
    """Pooled shares as `decided` takes them."""

    frequency: Floats
    std_error: Floats
    supports: Sequence[Supports] | None
    reading: Reading = READING

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
        """Return the detection limit."""
        return min(1.0, critical(self.frequency.size, alpha) * float(np.median(self.std_error)))


def estimate_together(
    source: Source, questions: Sequence[Question], options: Options = DEFAULTS
) -> Tables:
    """Return the shares of a question over several levels and versions, a table per field.

    Args:
        source: where the reports are.
        questions: levels and versions of one question; the last is the newest.
        options: this reads `fields`, `candidates`, `folder`, `of`, `people` and `confidence`.

    Raises:
        InvalidParameter: if a field is about many attributes or sets, or no reports are there.
        StoreError: if the store cannot be read.
    """
    if isinstance(source, Accumulated) and len(questions) > 1:
        raise InvalidParameter(
            "A file of counts holds one version and level.", "Name it: --version N --level NAME"
        )
    newest = questions[-1]
    counted = [options.counted(source, question) for question in questions]
    with_reports = [one for one in counted if one.n] or counted[-1:]
    return Tables(_pooled(with_reports, field, options) for field in chosen(newest, options.fields))


def _pooled(counted: Sequence[Accumulated], field: Field, options: Options) -> Table:
    if isinstance(field.domain, Profile | Sets | StringSets):
        raise InvalidParameter(
            f"Levels and versions of {field.domain.kind} answers are not pooled.",
            "Name one: --level NAME, --version N.",
        )
    agreeing, notes = _agreeing(counted, field)
    parts = [_part(one, field, options) for one in agreeing]
    versions: dict[int, list[_Part]] = {}
    for part in parts:
        versions.setdefault(part.counted.question.version, []).append(part)
    pooled = [_of_levels(each) for each in versions.values()]
    sizes = [float(sum(p.counted.n for p in each)) for each in versions.values()]
    total = sum(sizes)
    f = np.clip(sum(n * one.shares for n, one in zip(sizes, pooled, strict=True)) / total, 0, 1)
    sample = np.diag(f) - np.outer(f, f)
    whole = pooled[0]
    if len(pooled) > 1:
        shared = None if options.people == "new" or options.of == "reporters" else sample
        whole = pool_groups(
            [one.shares for one in pooled], [one.covariance for one in pooled], sizes, shared
        )
        notes.append(_agree("versions", whole, [str(version) for version in versions]))
    for version, each in versions.items():
        if len(each) > 1:
            found = _of_levels(each)
            names = [part.counted.question.level for part in each]
            notes.append(_agree(f"levels of version {version}", found, names))
    return _table(parts, whole, field, options, notes, single=len(pooled) == 1)


def _part(counted: Accumulated, field: Field, options: Options) -> _Part:
    """Return the shares of one level, with the covariance of what intervals are of."""
    question = counted.question
    own = next(one for one in question.fields if one.name == field.name)
    mechanism, absent = (
        mechanism_of(own, question.absent),
        has_absent(own.domain, question.absent),
    )
    known: Mapping[str, Sequence[str]] = {
        **candidates_for(question, options.folder),
        **options.candidates,
    }
    listed = require_candidates(question, own, known.get(own.name))
    asked = asked_of(mechanism, listed, own, absent)
    reading = reading_of(options, question, own, counted.epochs)
    counts = counted.counts[own.name]
    if own.domain.size is None and not mechanism.hashed:
        raise InvalidParameter(f"{own.parameters.mechanism} cannot be pooled.")
    found = mechanism.estimate(counts, asked)
    if own.domain.size is None:  # strings: the decoder's errors, which allow for the unlisted
        decoded = decode(mechanism, counts, asked, reading=reading)
        variance = np.diag(np.where(decoded.std_error > 0, decoded.std_error**2, np.inf))
        return _Part(counted, decoded.candidates, decoded.frequency, variance, None)
    labels = labels_of(found.candidates, own, absent)
    f = np.clip(np.nan_to_num(found.frequency), 0, 1)
    noise = np.diag(found.variance) if found.covariance is None else found.covariance
    sample = (np.diag(f) - np.outer(f, f)) / max(1, counted.n)
    shares = read(found, reading)
    counted_shares = shares if isinstance(shares, Counted) else None
    return _Part(counted, labels, found.frequency, reading.together(noise, sample), counted_shares)


def _of_levels(parts: Sequence[_Part]) -> Pooled:
    """Return the shares of the levels of one version together: different people."""
    sizes = [float(part.counted.n) for part in parts]
    return pool_groups([p.shares for p in parts], [p.covariance for p in parts], sizes)


def _supports(parts: Sequence[_Part]) -> list[Supports] | None:
    """Return the binomial numbers of every answer, if all levels have them."""
    counted = [part.read for part in parts if part.read is not None]
    if len(counted) < len(parts):
        return None
    phi = [one.spread(one.frequency) for one in counted]
    return [
        Supports(
            np.array([one.reports[v] / p[v] for one, p in zip(counted, phi, strict=True)]),
            np.array([one.found.n / p[v] for one, p in zip(counted, phi, strict=True)]),
            np.array([one.chances.chance[v] for one in counted]),
            np.array([one.chances.gap[v] for one in counted]),
        )
        for v in range(len(parts[0].labels))
    ]


def _agreeing(counted: Sequence[Accumulated], field: Field) -> tuple[list[Accumulated], list[str]]:
    """Return the counts whose field has the same answers as the newest, and what was left out."""
    kept: list[Accumulated] = []
    left: list[Accumulated] = []
    for one in counted:
        own = next((f for f in one.question.fields if f.name == field.name), None)
        same = own is not None and own.domain.published() == field.domain.published()
        (kept if same else left).append(one)
    told = sorted({str(one.question.version) for one in left})
    notes = [
        f"Version {', '.join(told)} has other answers, and is not pooled: "
        f"{plural(sum(one.n for one in left), 'report')}."
    ]
    return kept, notes if left else []


def _agree(what: str, found: Pooled, names: Sequence[str]) -> str:
    told = ", ".join(names)
    if found.p_value >= 0.05:
        return f"The {what} ({told}) are pooled; they agree (p {_shown(found.p_value)})."
    return (
        f"The {what} ({told}) are pooled, but they do not agree (p {_shown(found.p_value)}): they "
        "may be different people, or the answers changed between them. Look at each by itself."
    )


def _shown(p_value: float) -> str:
    text = p_text(p_value)
    return text if text.startswith("<") else f"= {text}"


def _table(
    parts: Sequence[_Part],
    whole: Pooled,
    field: Field,
    options: Options,
    notes: list[str],
    *,
    single: bool,
) -> Table:
    alpha = 1 - options.confidence
    reading = replace(READING, of=options.of)
    error = np.sqrt(np.maximum(whole.covariance.diagonal(), 1e-300))
    # Binomial likelihoods hold for different people: levels, not versions.
    supports = _supports(parts) if single and options.of == "population" else None
    together = _Together(whole.shares, error, supports, reading)
    labels, counted = parts[0].labels, [part.counted for part in parts]
    n = sum(one.n for one in counted)
    found = decided(labels, n, together, alpha, method="pooled")
    absent = has_absent(field.domain, counted[-1].question.absent)
    ordered = field.domain.kind in ORDERED_DOMAINS
    rows = decoded_rows(found, labels, {}, ordered=ordered, absent=absent)
    members = [
        {
            "version": part.counted.question.version,
            "level": part.counted.question.level,
            "n": part.counted.n,
        }
        for part in parts
    ]
    test = {"statistic": whole.statistic, "degrees": whole.degrees, "p_value": whole.p_value}
    newest = merged_tallies(counted)
    about = about_of(
        newest,
        field,
        expected_false=found.expected_false,
        unlisted=None,
        limit=found.limit,
        pooled=members,
        agreement=test,
    )
    epsilon = max(p.counted.question.fields[0].parameters.epsilon_once for p in parts) / 1e6
    about = replace(about, of=options.of, epsilon_once=epsilon)
    table = shares_table(about, rows, (*notes, UNBIASED, of_note(options.of)))
    return replace(table, words=in_words(table))
