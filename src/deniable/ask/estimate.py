"""From the reports in a store to a table of shares, one per field of the question.

store -> accumulate -> counts -> decode -> table
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deniable.ask.candidates import Candidates, require_candidates
from deniable.ask.crafted_shares import with_crafted
from deniable.ask.intervals import of_note, reading_of
from deniable.ask.lasso import lasso_table
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.several import AnyCounts, Several, heading_of
from deniable.ask.string_sets import has_absent, of_people
from deniable.ask.truth import against_truth
from deniable.ask.whole_distributions import Points, point_columns
from deniable.decode import Decoded, DecodedRow, decode
from deniable.decode.reading import Reading, read
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.mechanisms import Candidate, Mechanism, mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.protocol import ABSENT, Field, Profile, Question, Sets, StringSets
from deniable.protocol.epsilon import as_float
from deniable.results.charts.bars import ORDERED_DOMAINS, bars, caption, described
from deniable.results.table import About, Cell, Column, Ends, Epochs, Table, interval_name
from deniable.results.words.shares import NOTHING_LEARNED, in_words, nothing_learned

ABSENT_LABEL = "(absent)"
"""The name of the absent answer in results."""
UNBIASED = (
    "Intervals are {intervals}s of each frequency by itself, within 0 and 1. Frequencies are "
    "unbiased and not clipped: noise can put one below 0 or above 1."
)
NOT_LEARNED = "Rows without a number cannot be learned from these reports."
NO_REPORTS = "There are no reports yet."
POINTS = ("likely", "normalised", "projected", "base_cut", "posterior", "smoothed")
"""The point estimates of a whole distribution that a row may have."""
COLUMNS = (
    Column("value", "label", "value"),
    Column("frequency", "share", "estimate"),
    Column("std_error", "error", "std. error", extra=True),
    Column("interval", "interval", "95% interval"),
    Column("crafted_interval", "second_interval"),
    Column("z", "number"),
    Column("p_value", "p_value", "p-value", extra=True),
    Column("holm", "decision", "found", word="Holm", extra=True),
    Column("storey", "decision", "found", word="Storey", extra=True),
    Column("selected_interval", "interval"),
    *(Column(name, "share") for name in POINTS),
    Column("truth", "share"),
)
STAMPS = (
    Column("question", "label"),
    Column("version", "count"),
    Column("field", "label"),
    Column("n", "count"),
    Column("simulated", "count"),
    Column("epsilon_once", "number"),
    Column("epsilon_forever", "number"),
)


def table_of(
    accumulated: Accumulated,
    field: Field,
    candidates: Sequence[str] | None = None,
    options: Options = DEFAULTS,
    *,
    points: bool = True,
) -> Table:
    """Return the table of one field from counts that are there already.

    Without `points` it has no point estimates of the whole distribution, which take the time.

    Raises:
        InvalidParameter: if the field takes strings and there are no candidates.
    """
    if isinstance(field.domain, Profile):
        found = _attributes(accumulated, field, options)
    else:
        found = _answers(accumulated, field, candidates, options, points)
    found = finished(found, field, options.crafted)
    truth = options.truth.get(field.name)
    return found if truth is None else against_truth(found, truth)


def finished(
    table: Table,
    field: Field,
    crafted: float | None,
    *notes: str,
    shifts: Sequence[float] | None = None,
) -> Table:
    """Return a table of shares with its meaning in words, and a second interval if wanted."""
    if crafted is not None:
        table = with_crafted(table, field, crafted, shifts)
        table = replace(table, notes=(*table.notes, *notes))
    if nothing_learned(table):
        table = replace(table, notes=(NOTHING_LEARNED, *table.notes))
    return replace(table, words=in_words(table))


def shares_table(
    about: About,
    rows: Sequence[Sequence[Cell]],
    notes: Sequence[str] = (),
    columns: Sequence[Column] = COLUMNS,
    **more: Any,
) -> Table:
    """Return an estimate as a table: rows as `answer_row` makes them, under COLUMNS."""
    form = {"picture": bars, "described": described, "caption": caption, "stamps": STAMPS}
    titled = {"interval": about.intervals}
    columns = [replace(one, title=titled.get(one.name, one.title)) for one in columns]
    return Table.of(about, columns, rows, notes=tuple(notes), **form, **more)


def answer_row(
    value: str,
    frequency: float,
    std_error: float,
    interval: Ends,
    *,
    z: float = math.nan,
    p_value: float = math.nan,
    holm: bool | None = None,
    storey: bool | None = None,
    selected_interval: Ends | None = None,
    points: Mapping[str, float] | None = None,
    truth: float | None = None,
) -> tuple[Cell, ...]:
    """Return one answer as cells of COLUMNS.

    Args:
        value: the answer in words: a category, a bin, or the candidate string itself.
        frequency: unbiased; noise may put it below 0 or above 1. NaN if it cannot be learned.
        std_error: one standard deviation of `frequency`; NaN if it cannot be learned.
        interval: the ends of the 95% interval.
        z: `frequency` over `std_error`.
        p_value: the p-value of the hypothesis that nobody gave this answer.
        holm: detected, where not one false detection is wanted; None if it was not tested.
        storey: detected, where 5% false ones are allowed; None if it was not tested.
        selected_interval: wider, so that 95% of those of *detected* answers cover.
        points: point estimates of the whole distribution, by name; not unbiased any more.
        truth: the true share, where it is known.
    """
    given = points or {}
    shares = (given.get(name) for name in POINTS)
    tests = (None, z, p_value, holm, storey, selected_interval)
    return (value, frequency, std_error, interval, *tests, *shares, truth)


def _answers(
    accumulated: Accumulated,
    field: Field,
    candidates: Sequence[str] | None,
    options: Options,
    wanted: bool,
) -> Table:
    question = accumulated.question
    listed = require_candidates(question, field, candidates)
    mechanism = mechanism_of(field, question.absent)
    reading = reading_of(options, question, field, accumulated.epochs)
    counts = accumulated.counts[field.name]
    absent = has_absent(field.domain, question.absent)
    asked = asked_of(mechanism, listed, field, absent)
    if options.decoder == "lasso":
        return _lasso(accumulated, field, asked or [], listed, options)
    found = decode(mechanism, counts, asked, reading=reading, alpha=1 - options.confidence)
    if isinstance(field.domain, Sets | StringSets):  # shares of members do not add up to 1
        found = replace(found, likely=np.full(len(found.likely), np.nan))
    points = point_columns(mechanism, counts, field.domain, absent, asked) if wanted else {}
    rows, about_sets = of_people(
        decoded_rows(
            found,
            labels_of(found.candidates, field, absent),
            points,
            ordered=field.domain.kind in ORDERED_DOMAINS,
            absent=absent,
        ),
        field.domain,
    )
    known = bool(np.all(np.isfinite(found.frequency) & np.isfinite(found.std_error)))
    notes = about_reports(list(found.notes), accumulated, reading, known, options.confidence)
    false = found.expected_false
    # Of sets of strings, what is outside of the candidates is a number of strings, not a share.
    unlisted = None if about_sets else unlisted_of(found)
    limit = found.limit * (field.domain.most if isinstance(field.domain, StringSets) else 1)
    about = about_of(
        accumulated,
        field,
        expected_false=false,
        unlisted=unlisted,
        limit=limit,
        level=options.confidence,
    )
    about = replace(about, of=reading.of)
    return shares_table(about, rows, (*about_sets, *notes, *(listed.notes if listed else ())))


def _lasso(
    accumulated: Accumulated,
    field: Field,
    asked: list[Candidate],
    listed: Candidates | None,
    options: Options,
) -> Table:
    """Return the table of the paper's decoder."""
    if options.crafted is not None:
        raise InvalidParameter(
            "There is no second interval for the paper's decoder, which selects what it tests.",
            "Leave out --crafted, or --decoder lasso.",
        )
    mechanism = mechanism_of(field, accumulated.question.absent)
    level = options.confidence
    about = about_of(
        accumulated, field, "lasso", expected_false=0.0, unlisted=None, limit=math.nan, level=level
    )
    notes = (*(listed.notes if listed else ()), *accumulated.ignored_words)
    counts = accumulated.counts[field.name]
    return lasso_table(replace(about, of="reporters"), mechanism, counts, asked, notes)


def _attributes(accumulated: Accumulated, field: Field, options: Options) -> Table:
    """Return the shares of every level of every attribute of a profile.

    Rows are named "attribute=level" and stand in the survey's order. They are not tested: which
    answers somebody has is seldom the question. `deniable marginals` has the tables.
    """
    question = accumulated.question
    mechanism, counts = mechanism_of(field, question.absent), accumulated.counts[field.name]
    reading = reading_of(options, question, field, accumulated.epochs)
    found = mechanism.estimate(counts)
    shares = read(found, reading)
    alpha = 1 - options.confidence
    error, (low, high) = shares.std_error, shares.interval(alpha)
    rows = [
        answer_row(label, float(share), float(error[i]), (float(low[i]), float(high[i])))
        for i, (label, share) in enumerate(zip(found.candidates, found.frequency, strict=True))
    ]
    known = bool(np.isfinite(found.frequency).all())
    notes = about_reports(list(found.notes), accumulated, reading, known, options.confidence)
    limit, level = shares.limit(alpha), options.confidence
    about = about_of(
        accumulated, field, expected_false=0.0, unlisted=None, limit=limit, level=level
    )
    return shares_table(replace(about, of=reading.of), rows, notes)


def about_of(accumulated: AnyCounts, field: Field, kind: str = "estimate", **more: object) -> About:
    """Return the head of a table of one field: question, reports, mechanism and epsilons."""
    question, parameters = accumulated.question, field.parameters
    permanent = question.repeat == "permanent"
    forever = parameters.epsilon_forever
    if question.repeat == "once" or permanent:
        forever = parameters.epsilon_once
    return About(
        kind,
        question=question.id,
        version=question.version,
        digest=question.digest.hex(),
        description=heading_of(accumulated),
        field=field.name,
        domain=field.domain.kind,
        mechanism=parameters.mechanism,
        n=accumulated.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(parameters.epsilon_once),
        epsilon_forever=None if forever is None else as_float(forever),
        memoised=parameters.memoised or permanent,
        epochs=epochs_of(accumulated),
        more=more,
    )


def chosen(question: Question, names: Sequence[str] | None) -> list[Field]:
    """Return some fields of a question, or all of them, in the question's order.

    Raises:
        InvalidParameter: if there is no such field.
    """
    known = [field.name for field in question.fields]
    if unknown := [name for name in names or () if name not in known]:
        raise InvalidParameter(
            f"Question {question.id!r} has no field {unknown[0]!r:.80}. Its fields are: "
            f"{', '.join(known)}."
        )
    return [field for field in question.fields if names is None or field.name in names]


def asked_of(
    mechanism: Mechanism, listed: Candidates | None, field: Field, absent: bool
) -> list[Candidate] | None:
    """Return the answers to estimate, as the mechanism takes them: candidates, codes or labels."""
    if isinstance(field.domain, Sets):
        return None
    if listed is None and mechanism.hashed and field.domain.size is not None:
        return every_code(field.domain.size, absent)
    labels: list[Candidate] = [*(field.domain.labels if listed is None else listed)]
    return [*labels, ABSENT] if absent else labels


def labels_of(candidates: tuple[str, ...], field: Field, absent: bool) -> tuple[str, ...]:
    """Return the answers in words, in the order of the estimate."""
    if field.domain.size is None:
        return candidates
    labels = field.domain.values if isinstance(field.domain, Sets) else field.domain.labels
    return (*labels, ABSENT_LABEL) if absent else labels


def epochs_of(accumulated: AnyCounts) -> Epochs | None:
    """Return the epochs that reports cover; None without reports."""
    if not accumulated.epochs:
        return None
    question = accumulated.question
    days = accumulated.days if isinstance(accumulated, Several) else question.epoch
    return Epochs(min(accumulated.epochs), max(accumulated.epochs), days)


def decoded_rows(
    found: Decoded,
    labels: Sequence[str],
    points: Points | None = None,
    *,
    ordered: bool = False,
    absent: bool = False,
) -> list[tuple[Cell, ...]]:
    """Return rows of `answer_row` in the order in which they are read, the absent one last."""
    rows = [
        _row(label, decoded, {name: float(shares[i]) for name, shares in (points or {}).items()})
        for i, (label, decoded) in enumerate(zip(labels, found.rows(), strict=True))
    ]
    last = [rows.pop()] if absent else []
    if not ordered:
        # Stable: equal frequencies keep the order of the survey; NaN goes to the end.
        rows.sort(key=lambda row: _by_share(row[1], row[2]))
    return [*rows, *last]


def _by_share(share: Any, error: Any) -> float:
    return -share if math.isfinite(share) and math.isfinite(error) else math.inf


def _row(label: str, decoded: DecodedRow, points: dict[str, float]) -> tuple[Cell, ...]:
    likely = {} if np.isnan(decoded.likely) else {"likely": decoded.likely}
    return answer_row(
        label,
        decoded.frequency,
        decoded.std_error,
        decoded.interval,
        z=decoded.z,
        p_value=decoded.p_value,
        holm=decoded.holm,
        storey=decoded.storey,
        selected_interval=decoded.selected_interval,
        points={**likely, **points},
    )


def unlisted_of(found: Decoded) -> dict[str, object] | None:
    """Return the share of strings outside the candidates, as JSON; None where there is none."""
    other = found.other
    if other is None:
        return None
    ends = {"interval": other.interval, "suspected": other.suspected}
    return {"frequency": other.frequency, "std_error": other.std_error, **ends}


def about_epochs(reading: Reading, epochs: int) -> list[str]:
    """Return the note on people who report in several epochs; none for one epoch."""
    if reading.noise > 1:
        return [
            f"The same devices may have reported in each of {epochs} epochs: what is permanent in "
            f"their noise does not average out, and makes it {math.sqrt(reading.noise):.2f} times "
            "that of as many new devices (--new-people). One epoch has no such factor."
        ]
    if reading.people > 1 and reading.of == "population":
        return [
            f"The same people may have reported in each of {epochs} epochs: the error of such a "
            "sample is counted once, however often they report."
        ]
    return []


def about_reports(
    notes: list[str], accumulated: AnyCounts, reading: Reading, known: bool, level: float
) -> list[str]:
    """Return the notes, with those about the reports themselves added."""
    if accumulated.n == 0 and not notes:
        notes.append(NO_REPORTS)
    elif not known:
        notes.append(NOT_LEARNED)
    notes += about_epochs(reading, len(accumulated.epochs))
    notes += [] if isinstance(accumulated, Several) else accumulated.ignored_words
    unbiased = UNBIASED.format(intervals=interval_name(level))
    return [*notes, unbiased, of_note(reading.of)] if accumulated.n else notes
