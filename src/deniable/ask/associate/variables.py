"""The answers of a field that an association tells apart: given ones, or those that stand out."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import _validate
from deniable._words import plural
from deniable.ask.associate.field_reports import FieldReports
from deniable.ask.candidates import fitted_candidates
from deniable.ask.estimate import ABSENT_LABEL, table_of
from deniable.ask.options import DEFAULTS, Options
from deniable.associate import Variable
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Candidate, Code
from deniable.protocol import ABSENT, Field, Question, StringSets

TOP = 5
"""The default of `Options.top`: the most answers of a field that are told apart."""
FEW_ANSWERS = 12
"""The largest closed domain that is shown whole, in answers."""
MOST_TOP = 1_000


def variable_of(
    read: FieldReports,
    field: Field,
    options: Options = DEFAULTS,
    listed: Sequence[str] | None = None,
) -> Variable:
    """Return a field as a variable of an association.

    Args:
        read: the reports of the question's fields.
        field: a field of the question.
        options: `candidates` lists the answers to tell apart; if it lists more than `top`, those
            that stand out are taken. Without it, a closed domain of at most 12 (or `top`) answers
            is taken whole, and of others the answers that stand out, at most `top` (5 by
            default). `other` decides whether all other answers form a category of their own; by
            default they do where there are any.
        listed: strings to look for where `candidates` has none for the field.

    Raises:
        InvalidParameter: if a given answer is not one of the domain, if a field of strings has
            neither, or if no answer stands out.
    """
    question, top, other = read.accumulated.question, options.top, options.other
    if isinstance(field.domain, StringSets):
        raise InvalidParameter(
            f"Field {field.name!r} is a set of strings, of which a report shows one: what goes "
            "together with the whole set cannot be told.",
            "Ask about fields of one answer each.",
        )
    mechanism = mechanism_of(field, question.absent)
    if top is not None:
        _validate.integer("top", "associate", top, 1, MOST_TOP)
    chosen = _chosen(read, field, options.candidates.get(field.name), listed, top)
    labels = _domain_labels(field, question)
    reports = read.reports[field.name]
    if labels is None:  # strings
        strings: list[Candidate] = [*chosen, ABSENT] if question.absent else [*chosen]
        rest = True if other is None else other
        return Variable(field.name, mechanism, reports, tuple(strings), other=rest)
    codes = [labels.index(label) for label in chosen]
    missing = len(codes) < len(labels)
    rest = missing if other is None else other and missing
    if mechanism.hashed:
        asked = tuple(_code(code, field) for code in codes)
        return Variable(field.name, mechanism, reports, asked, tuple(chosen), rest)
    listed_few = tuple(chosen) if missing else None
    return Variable(field.name, mechanism, reports, listed_few, labels, rest)


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
        given = fitted_candidates(given, field)
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
    table = table_of(read.accumulated, field, candidates)
    wanted = None if strings is None else set(fitted_candidates(strings, field))
    rows = [
        row
        for row in table.rows
        if row.stands_out and row.value != ABSENT_LABEL and (not wanted or row.value in wanted)
    ]
    found = sorted(rows, key=lambda row: -row.frequency)[:top]
    if not found:
        raise InvalidParameter(
            f"No answer of field {field.name!r} stands out from zero in "
            f"{plural(table.about.n, 'report')}, "
            "so there is nothing to associate.",
            "Collect more reports, or name the answers to tell apart as candidates.",
        )
    return [row.value for row in found]
