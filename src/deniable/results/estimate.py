"""From the reports in a store to results, one per field of the question.

store -> accumulate -> counts -> decode -> result
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from deniable.decode import Decoded, DecodedRow, decode
from deniable.engines.local import Accumulated, Progress, accumulate
from deniable.errors import InvalidParameter
from deniable.mechanisms import Candidate, Mechanism, mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.protocol import ABSENT, Field, Profile, Question, Sets
from deniable.protocol.epsilon import as_float
from deniable.results.attackers import with_attackers
from deniable.results.candidates import Candidates, candidates_for, is_open, require_candidates
from deniable.results.intervals import normal_intervals, repeat_factor
from deniable.results.points import Points, point_columns
from deniable.results.result import ABSENT_LABEL, ORDERED_DOMAINS, Epochs, Result, Row, Unlisted
from deniable.store.base import Store

UNBIASED = (
    "Intervals are 95% intervals of each frequency by itself. Frequencies are unbiased and not "
    "clipped: noise can put one below 0 or above 1."
)
NOT_LEARNED = "Rows without a number cannot be learned from these reports."
NO_REPORTS = "There are no reports yet."


def estimate_question(
    store: Store,
    question: Question,
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    candidates_folder: Path | None = None,
    field: str | None = None,
    first_epoch: int | None = None,
    last_epoch: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    attackers: float | None = None,
) -> list[Result]:
    """Return one result per field of a question, in the question's order.

    Guarantees: frequencies are unbiased; the 95% intervals cover at least so often, also where
    the same devices report in several epochs.

    Cost: linear in the reports, then that of the mechanism's estimate.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        candidates: the strings to test for, by field name, for fields of strings.
        candidates_folder: where to look for the fields' own candidate files instead.
        field: return only the result of this field.
        first_epoch: leave out the epochs before this one.
        last_epoch: leave out the epochs after this one.
        threads: how many work at once; one per processor unless said.
        progress: called with the number of reports done and expected.
        attackers: the share of reports that may be crafted; adds a second error bar.

    Raises:
        InvalidParameter: if a field of strings has no candidates, or a name is unknown.
        StoreError: if the store cannot be read.
    """
    fields = _fields(question, field)
    known = {**candidates_for(question, candidates_folder), **(candidates or {})}
    lists = {f.name: require_candidates(question, f, known.get(f.name)) for f in fields}
    _check_names(question, known)
    accumulated = accumulate(
        store,
        question,
        first_epoch=first_epoch,
        last_epoch=last_epoch,
        threads=threads,
        progress=progress,
    )
    results = [(f, result_of(accumulated, f, lists[f.name])) for f in fields]
    return [r if attackers is None else with_attackers(r, f, attackers) for f, r in results]


def result_of(
    accumulated: Accumulated, field: Field, candidates: Sequence[str] | None = None
) -> Result:
    """Return the result of one field from counts that are there already.

    Raises:
        InvalidParameter: if the field takes strings and there are no candidates.
    """
    if isinstance(field.domain, Profile):
        return record_result(accumulated, field)
    question = accumulated.question
    listed = require_candidates(question, field, candidates)
    mechanism = mechanism_of(field, question.absent)
    repeats = repeats_of(question, field, accumulated.epochs)
    counts = accumulated.counts[field.name]
    asked = _asked(mechanism, listed, field, question.absent)
    found = decode(mechanism, counts, asked, widen=repeats)
    if isinstance(field.domain, Sets):  # shares of members do not add up to 1
        found = replace(found, likely=np.full(len(found.likely), np.nan))
    points = point_columns(mechanism, counts, field.domain, question.absent, asked)
    rows = decoded_rows(
        found,
        _labels(found, field, question.absent),
        points,
        ordered=field.domain.kind in ORDERED_DOMAINS,
        absent=question.absent,
    )
    return replace(
        empty_result(accumulated, field),
        rows=rows,
        expected_false=found.expected_false,
        unlisted=unlisted_of(found),
        notes=(*_notes(accumulated, found, repeats), *(listed.notes if listed else ())),
    )


def record_result(accumulated: Accumulated, field: Field) -> Result:
    """Return the shares of every level of every attribute of a record.

    Rows are named "attribute=level" and stand in the survey's order. They are not tested: which
    levels somebody has is seldom the question. `deniable marginals` has the tables.
    """
    question = accumulated.question
    mechanism, counts = mechanism_of(field, question.absent), accumulated.counts[field.name]
    repeats = repeats_of(question, field, accumulated.epochs)
    found = mechanism.estimate(counts)
    error = repeats * found.std_error
    low, high = normal_intervals(found.frequency, error)
    rows = tuple(
        Row(label, float(found.frequency[i]), float(error[i]), (float(low[i]), float(high[i])))
        for i, label in enumerate(found.candidates)
    )
    known = bool(np.isfinite(found.frequency).all())
    notes = _about_reports(list(found.notes), accumulated, repeats, known)
    return replace(empty_result(accumulated, field), rows=rows, notes=tuple(notes))


def empty_result(accumulated: Accumulated, field: Field) -> Result:
    """Return what a result says about its question, without any rows."""
    question, parameters = accumulated.question, field.parameters
    permanent = question.repeat == "permanent"
    epsilon_forever = (
        parameters.epsilon_once
        if question.repeat == "once" or permanent
        else parameters.epsilon_forever
    )
    return Result(
        question=question.id,
        version=question.version,
        field=field.name,
        description=question.description,
        domain=field.domain.kind,
        mechanism=parameters.mechanism,
        n=accumulated.n,
        simulated=accumulated.simulated,
        epsilon_once=as_float(parameters.epsilon_once),
        epsilon_forever=None if epsilon_forever is None else as_float(epsilon_forever),
        memoised=parameters.memoised or permanent,
        epochs=epochs_of(accumulated),
        rows=(),
    )


def _fields(question: Question, name: str | None) -> list[Field]:
    fields = [field for field in question.fields if name in (None, field.name)]
    if not fields:
        known = ", ".join(field.name for field in question.fields)
        raise InvalidParameter(
            f"Question {question.id!r} has no field {name!r:.80}. Its fields are: {known}."
        )
    return fields


def _check_names(question: Question, known: Mapping[str, Sequence[str]]) -> None:
    open_fields = {field.name for field in question.fields if is_open(field)}
    if not known.keys() <= open_fields:
        wrong = ", ".join(sorted(known.keys() - open_fields))
        raise InvalidParameter(
            f"Candidates belong to fields of strings. Question {question.id!r} has no such field "
            f"{wrong!r:.80}: leave it out."
        )


def _asked(
    mechanism: Mechanism, listed: Candidates | None, field: Field, absent: bool
) -> list[Candidate] | None:
    """Return what the mechanism is asked about: candidates, codes or labels of all answers."""
    if isinstance(field.domain, Sets):
        return None
    if listed is None and mechanism.hashed and field.domain.size is not None:
        return every_code(field.domain.size, absent)
    labels: list[Candidate] = [*(field.domain.labels if listed is None else listed)]
    return [*labels, ABSENT] if absent else labels


def _labels(found: Decoded, field: Field, absent: bool) -> tuple[str, ...]:
    """Return the answers in words, in the order of the estimate."""
    if field.domain.size is None:
        return found.candidates
    labels = field.domain.values if isinstance(field.domain, Sets) else field.domain.labels
    return (*labels, ABSENT_LABEL) if absent else labels


def repeats_of(question: Question, field: Field, epochs: Mapping[int, int]) -> float:
    """Return the factor of the errors: above 1 where permanent noise comes back every epoch."""
    permanent = field.parameters.memoised or question.repeat == "permanent"
    if question.repeat == "once" or not permanent:
        return 1.0  # one report per device, or fresh noise in each
    return repeat_factor(epochs.values())


def epochs_of(accumulated: Accumulated) -> Epochs | None:
    """Return the epochs that reports cover; None without reports."""
    if not accumulated.epochs:
        return None
    return Epochs(min(accumulated.epochs), max(accumulated.epochs), accumulated.question.epoch)


def decoded_rows(
    found: Decoded,
    labels: Sequence[str],
    points: Points | None = None,
    *,
    ordered: bool = False,
    absent: bool = False,
) -> tuple[Row, ...]:
    """Return the rows in the order in which they are read, the absent answer last."""
    rows = [
        _row(label, decoded, {name: float(shares[i]) for name, shares in (points or {}).items()})
        for i, (label, decoded) in enumerate(zip(labels, found.rows(), strict=True))
    ]
    last = [rows.pop()] if absent else []
    if not ordered:
        # Stable: equal frequencies keep the order of the survey; NaN goes to the end.
        rows.sort(key=lambda row: -row.frequency if row.learned else np.inf)
    return (*rows, *last)


def _row(label: str, decoded: DecodedRow, points: dict[str, float]) -> Row:
    likely = {} if np.isnan(decoded.likely) else {"likely": decoded.likely}
    return Row(
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


def unlisted_of(found: Decoded) -> Unlisted | None:
    """Return the share of strings outside the candidates, where it was estimated."""
    if found.other is None:
        return None
    other = found.other
    return Unlisted(other.frequency, other.std_error, other.interval, other.suspected)


def _notes(accumulated: Accumulated, found: Decoded, repeats: float) -> list[str]:
    known = bool(np.all(np.isfinite(found.frequency) & np.isfinite(found.std_error)))
    return _about_reports(list(found.notes), accumulated, repeats, known)


def _about_reports(
    notes: list[str], accumulated: Accumulated, repeats: float, known: bool
) -> list[str]:
    """Return the notes with what a reader must know about the reports themselves."""
    if accumulated.n == 0 and not notes:
        notes.append(NO_REPORTS)
    elif not known:
        notes.append(NOT_LEARNED)
    if repeats > 1:
        notes.append(
            f"The same devices report in each of {len(accumulated.epochs)} epochs, with the same "
            f"permanent noise: standard errors are {repeats:.2f} times those of as many "
            "independent reports. One epoch by itself has no such factor."
        )
    if accumulated.ignored:
        notes.append(
            f"{accumulated.ignored:,} reports under this id and version carry another digest and "
            "were not counted: the question was changed without a new version."
        )
    return [*notes, UNBIASED] if accumulated.n else notes
