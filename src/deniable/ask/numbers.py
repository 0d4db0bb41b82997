"""Numbers in bins: mean, quantiles, shares above, and the cumulative curve, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deniable.ask.estimate import about_epochs, about_of, asked_of, chosen
from deniable.ask.grouped import EPOCH, group_rows, groups_by, key_columns
from deniable.ask.intervals import of_note, reading_of
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.pooling import pool_shares
from deniable.ask.several import AnyCounts, Asked, agreeing, alone, newest
from deniable.ask.together import agreements
from deniable.decode.number_noise import imagined_noise
from deniable.decode.numbers import Binned, Number
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Numbers, Question
from deniable.results.charts.cumulative import (
    cumulative_caption,
    cumulative_described,
    cumulative_picture,
)
from deniable.results.charts.number_lines import (
    number_lines,
    number_lines_caption,
    number_lines_described,
)
from deniable.results.table import Cell, Column, Table, Tables

QUANTILES = (0.25, 0.5, 0.75, 0.9)
"""The quantiles that are always told."""
CUT = (
    "The mean is that of values cut to {low:g} to {high:g}: what is beyond counts as the edge, "
    "since open bins have no bound."
)
INSIDE = (
    "95% intervals hold whatever lies inside of bins; 'if even' takes bins to be evenly filled, as "
    "the estimate does."
)
COLUMNS = (
    Column("value", "label", "number"),
    Column("estimate", "number", "estimate", otherwise="open bin"),
    Column("interval", "interval", "95% interval", of="number"),
    Column("even_interval", "interval", "if even", of="number", extra=True),
)
CURVE = (
    Column("x", "number", "x"),
    Column("below", "share", "share below x"),
    Column("std_error", "error", "std. error", extra=True),
    Column("interval", "interval", "95% interval"),
)


def numbers(
    source: Source,
    asked: Asked,
    options: Options = DEFAULTS,
    by: Sequence[str] = (),
) -> Tables:
    """Return mean, quantiles and shares above of every field of numbers, also by group.

    Args:
        source: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        options: this reads `fields`, `quantiles`, `above`, `of`, `people` and `confidence`.
        by: "epoch", a segment, or both; nothing for all reports together.

    Raises:
        InvalidParameter: if the question has no numbers, or no reports.
        StoreError: if the store cannot be read.
    """
    return _each(source, asked, options, numbers_table, by)


def cumulative(source: Source, asked: Asked, options: Options = DEFAULTS) -> Tables:
    """Return the cumulative curve of every field of numbers, with its band.

    Raises:
        InvalidParameter: if the question has no numbers, or no reports.
        StoreError: if the store cannot be read.
    """
    return _each(source, asked, options, cumulative_table)


Make = Callable[[AnyCounts, Field, Options], Table]


def _each(
    source: Source, asked: Asked, options: Options, make: Make, by: Sequence[str] = ()
) -> Tables:
    question = newest(asked)
    _check(options)
    fields = [f for f in chosen(question, options.fields) if isinstance(f.domain, Numbers)]
    if not fields:
        raise InvalidParameter(
            f"Question {question.id!r} has no numbers.", f"Use: deniable estimate {question.id}"
        )
    counted = options.counted_all(source, asked, apart=True if by else None)
    each = ((agreeing(counted, field), field) for field in fields)
    if by:
        return Tables(numbers_by(same, field, by, options) for same, field in each)
    return Tables(make(same, field, options) for same, field in each)


def _check(options: Options) -> None:
    """Refuse options of shares that would change nothing here."""
    wishes = {
        "--crafted": options.crafted is not None,
        "--decoder lasso": options.decoder != DEFAULTS.decoder,
        "--interval exact": options.interval != DEFAULTS.interval,
        "--truth": bool(options.truth),
    }
    if wrong := [name for name, wished in wishes.items() if wished]:
        raise InvalidParameter(
            f"{wrong[0]} is about the shares of answers, not about numbers.",
            "Leave it out here, or ask for shares: deniable estimate QUESTION",
        )


def binned(counted: AnyCounts, field: Field, options: Options) -> Binned:
    """Return the shares of bins with their covariance, of those who answered.

    Raises:
        InvalidParameter: if there are no reports, or a bin cannot be told from others.
    """
    question, domain = counted.question, field.domain
    if not isinstance(domain, Numbers) or counted.n == 0:
        raise InvalidParameter(f"There are no numbers in the reports to {question.id!r} yet.")
    if (one := alone(counted)) is None:
        return _pooled_bins(counted, field, domain, options)
    mechanism = mechanism_of(field, question.absent)
    answers = asked_of(mechanism, None, field, question.absent)
    found = mechanism.estimate(one.counts[field.name], answers)
    if not np.isfinite(found.frequency).all():
        raise InvalidParameter("Not every bin can be told apart with these reports.")
    noise = np.diag(found.variance) if found.covariance is None else found.covariance
    reading = reading_of(options, question, field, counted.epochs)
    shares, noise = found.frequency, reading.noise * noise
    sample = reading.people / counted.n if reading.of == "population" else 0.0
    bins = _among_present(shares, noise, sample, question, domain, options)
    absent = float(np.clip(shares[-1], 0, 1 - 1 / counted.n)) if question.absent else None
    nobody, everybody = (
        imagined_noise(mechanism, answers, held, counted.n, absent) for held in (bins.last, 0)
    )
    ends = (_noise_among_present(*each, question) * reading.noise for each in (nobody, everybody))
    return replace(bins, ends=(next(ends), next(ends)))


def _noise_among_present(shares: Floats, noise: Floats, question: Question) -> Floats:
    return _present(shares, noise)[1] if question.absent else noise


def _pooled_bins(counted: AnyCounts, field: Field, domain: Numbers, options: Options) -> Binned:
    """Return the bins of several levels and versions together."""
    found = pool_shares(counted, field, None, options)
    if not np.isfinite(found.whole.shares).all():
        raise InvalidParameter("Not every bin can be told apart with these reports.")
    noise = np.diag(found.noise) if found.noise.ndim == 1 else found.noise
    shares, question = found.whole.shares, counted.question
    return _among_present(shares, noise, found.sample, question, domain, options)


def _among_present(
    shares: Floats,
    noise: Floats,
    sample: float,
    question: Question,
    domain: Numbers,
    options: Options,
) -> Binned:
    if question.absent:
        sample /= max(1e-9, min(1.0, float(shares[:-1].sum())))
        shares, noise = _present(shares, noise)
    return Binned(np.array(domain.bounds), shares, noise, sample, 1 - options.confidence)


def _present(shares: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return the shares among those who answered; the absent answer is the last."""
    f, v = shares[:-1], covariance[:-1, :-1]
    present = max(float(f.sum()), 1e-9)
    # Delta method: d(f_i / s) = (1[i = j] - f_i / s) / s.
    slope = (np.eye(f.size) - np.outer(f / present, np.ones(f.size))) / present
    return f / present, slope @ v @ slope.T


def numbers_table(counted: AnyCounts, field: Field, options: Options = DEFAULTS) -> Table:
    """Return mean, quantiles and shares above of one field, from counts that are there."""
    bins = binned(counted, field, options)
    wanted = sorted({*QUANTILES, *options.quantiles})
    names = {0.25: "lower quartile", 0.5: "median", 0.75: "upper quartile"}
    found = [bins.mean, *(bins.quantile(tau, names.get(tau, "")) for tau in wanted)]
    found += [bins.above(x) for x in options.above]
    reading = reading_of(options, counted.question, field, counted.epochs)
    notes = [
        *agreements(counted, field, options),
        CUT.format(low=bins.edges[0], high=bins.edges[-1]),
        INSIDE,
        *about_epochs(reading, len(counted.epochs)),
        of_note(options.of),
    ]
    about = replace(about_of(counted, field, "numbers"), of=options.of)
    return Table.of(about, COLUMNS, [_row(one) for one in found], notes=tuple(notes))


def _row(number: Number) -> Sequence[Cell]:
    return number.name, number.estimate, (number.low, number.high), number.even


def cumulative_table(counted: AnyCounts, field: Field, options: Options = DEFAULTS) -> Table:
    """Return the share below every edge, with its interval."""
    bins = binned(counted, field, options)
    below, errors = bins.cumulative
    low, high = bins.band
    rows = [
        (float(x), float(below[i]), float(errors[i]), (float(low[i]), float(high[i])))
        for i, x in enumerate(bins.edges)
    ]
    about = replace(about_of(counted, field, "cumulative"), of=options.of)
    notes = (*agreements(counted, field, options), of_note(options.of))
    form = {
        "picture": cumulative_picture,
        "described": cumulative_described,
        "caption": cumulative_caption,
    }
    return Table.of(about, CURVE, rows, notes=notes, **form)


def numbers_by(
    counted: AnyCounts, field: Field, by: Sequence[str], options: Options = DEFAULTS
) -> Table:
    """Return the numbers of every group, from counts that were kept apart."""

    def make(part: AnyCounts) -> Table:
        return numbers_table(part, field, options)

    whole, groups = make(counted), groups_by(counted, by, make)
    rows = list(group_rows(groups, whole, COLUMNS))
    more = {"by": by[0] if len(by) == 1 else list(by)}
    about = replace(
        whole.about,
        kind="number_trend" if EPOCH in by else "number_groups",
        more={**more, "groups": [group.as_json() for group in groups]},
    )
    form = {
        "picture": number_lines,
        "described": number_lines_described,
        "caption": number_lines_caption,
    }
    return Table.of(about, [*key_columns(by), *COLUMNS], rows, notes=whole.notes[:-1], **form)
