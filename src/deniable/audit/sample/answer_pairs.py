"""Two answers that differ as much as two answers can, and the scores of reports between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.audit.answers import some_strings, worst_profiles
from deniable.audit.reading import Report, log_ratios
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, Field, Profile, Sets
from deniable.protocol.domain import code_key, set_key, string_key


@dataclass(frozen=True)
class Asked:
    """An answer that a device is given, and the answer whose channel its reports follow.

    `reported` is None for a set that may report different members.
    """

    answer: Answer
    reported: Answer | None


def worst_pair(field: Field) -> tuple[Asked, Asked]:
    """Return two answers that differ as much as two answers of the field can."""
    domain = field.domain
    if isinstance(domain, Profile):
        one, other = worst_profiles(field.parameters, domain.answers)
        return Asked(one, one), Asked(other, other)
    if domain.size is None:
        one, other = (Answer(string_key(text)) for text in some_strings(domain)[:2])
        return Asked(one, one), Asked(other, other)
    if isinstance(domain, Sets):
        none = len(domain.values)
        members = tuple(range(min(domain.most, none)))
        full = Answer(set_key(members), members=members)
        empty = Answer(set_key(()))
        if field.parameters.per_member:
            return Asked(full, full), Asked(empty, empty)
        single = Answer(code_key(0), 0) if domain.most == 1 else None
        return Asked(full, single), Asked(empty, Answer(code_key(none), none))
    first, last = (Answer(code_key(code), code) for code in (0, domain.size - 1))
    return Asked(last, last), Asked(first, first)


def scores(field: Field, pair: tuple[Asked, Asked], reports: Sequence[Report]) -> Floats:
    """Return the logarithm of each report's likelihood ratio.

    A set that reports a drawn member is scored by the first member: any event gives a valid bound.
    """
    one, other = (asked.reported or Answer(code_key(0), 0) for asked in pair)
    return log_ratios(field.parameters.channel, one, other, reports)
