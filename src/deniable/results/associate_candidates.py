"""Which answers of a field an association tells apart: the given ones, or those that stand out."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import _validate
from deniable.associate import Variable
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Candidate, Code
from deniable.protocol import ABSENT, Field, Question
from deniable.results.associate_reports import FieldReports
from deniable.results.candidates import Candidates
from deniable.results.estimate import result_of
from deniable.results.result import ABSENT_LABEL

TOP = 5
"""So many answers of a field are told apart unless said."""
FEW_ANSWERS = 12
"""A closed domain of at most so many answers is shown whole."""
MOST_TOP = 1_000


def variable_of(
    read: FieldReports,
    field: Field,
    *,
    given: Sequence[str] | None = None,
    listed: Sequence[str] | None = None,
    top: int | None = None,
    other: bool | None = None,
) -> Variable:
    """Return a field as a variable of an association.

    Args:
        read: its reports.
        field: of the question.
        given: the answers to tell apart; all of them unless `top` says how many.
        listed: strings to look for, of which those that stand out are taken.
        top: how many answers at most; 5 unless said.
        other: whether all other answers have a category of their own; where there are any,
            unless said.

    Raises:
        InvalidParameter: if a given answer is not one of the domain, if a field of strings has
            neither, or if no answer stands out.
    """
    question = read.accumulated.question
    mechanism = mechanism_of(field, question.absent)
    if top is not None:
        _validate.integer("top", "associate", top, 1, MOST_TOP)
    chosen = _chosen(read, field, given, listed, top)
    labels = _domain_labels(field, question)
    if labels is None:  # strings
        strings: list[Candidate] = [*chosen, ABSENT] if question.absent else [*chosen]
        return Variable(
            field.name,
            mechanism,
            read.reports[field.name],
            tuple(strings),
            other=True if other is None else other,
        )
    codes = [labels.index(label) for label in chosen]
    missing = len(codes) < len(labels)
    if mechanism.hashed:
        return Variable(
            field.name,
            mechanism,
            read.reports[field.name],
            tuple(_code(code, field) for code in codes),
            tuple(chosen),
            missing if other is None else other and missing,
        )
    return Variable(
        field.name,
        mechanism,
        read.reports[field.name],
        tuple(chosen) if missing else None,
        labels,
        missing if other is None else other and missing,
    )


def _code(code: int, field: Field) -> Candidate:
    return ABSENT if code == field.domain.size else Code(code)


def _domain_labels(field: Field, question: Question) -> tuple[str, ...] | None:
    """Return every answer of a closed domain; None for strings."""
    if field.domain.size is None:
        return None
    labels = tuple(field.domain.labels)
    return (*labels, ABSENT_LABEL) if question.absent else labels


def _chosen(
    read: FieldReports,
    field: Field,
    given: Sequence[str] | None,
    listed: Sequence[str] | None,
    top: int | None,
) -> list[str]:
    labels = _domain_labels(field, read.accumulated.question)
    if given is not None:
        given = Candidates(given)
        if labels is not None and (unknown := [text for text in given if text not in labels]):
            raise InvalidParameter(
                f"Field {field.name!r} has no answer {unknown[0]!r:.80}. Its answers are: "
                f"{', '.join(labels)[:200]}."
            )
        if top is None or len(given) <= top:
            return list(given)
    elif labels is not None and len(labels) <= max(FEW_ANSWERS, top or 0):
        return list(labels)
    return _standing_out(read, field, given if given is not None else listed, top or TOP)


def _standing_out(
    read: FieldReports, field: Field, strings: Sequence[str] | None, top: int
) -> list[str]:
    """Return the most frequent answers that the field's own estimate finds."""
    candidates = strings if field.domain.size is None else None
    result = result_of(read.accumulated, field, candidates)
    wanted = None if strings is None else set(Candidates(strings))
    rows = [
        row
        for row in result.rows
        if row.stands_out and row.value != ABSENT_LABEL and (not wanted or row.value in wanted)
    ]
    found = sorted(rows, key=lambda row: -row.frequency)[:top]
    if not found:
        raise InvalidParameter(
            f"No answer of field {field.name!r} stands out from zero in {result.n:,} reports, so "
            "there is nothing to associate.",
            "Collect more reports, or name the answers to tell apart as candidates.",
        )
    return [row.value for row in found]
