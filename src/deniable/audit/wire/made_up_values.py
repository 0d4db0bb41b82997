"""Values that an app might hand to the client, made up for audits."""

from __future__ import annotations

from deniable.protocol import (
    Boolean,
    Domain,
    Field,
    Numbers,
    Profile,
    Question,
    Sets,
    Strings,
    StringSets,
)
from deniable.protocol.profile_domain import Perhaps

LONG = "a value that is long, " * 100
"""A long string, within the largest length that is allowed."""


def two_values(field: Field) -> tuple[object, object]:
    """Return two values of a field that differ in everything, the length included."""
    domain = field.domain
    if isinstance(domain, Profile):
        pairs = {
            name: _two(each.known if isinstance(each, Perhaps) else each)
            for name, each in domain.attributes
        }
        return {n: pair[0] for n, pair in pairs.items()}, {n: pair[1] for n, pair in pairs.items()}
    return _two(domain)


def _two(domain: Domain) -> tuple[object, object]:
    if isinstance(domain, Boolean):
        return False, True
    if isinstance(domain, Numbers):
        return domain.bounds[0] - 1, domain.bounds[-1] + 1
    if isinstance(domain, Sets):
        return [], list(domain.values[: domain.most])
    if isinstance(domain, StringSets):
        return [], [str(number) if not domain.alphabet else domain.alphabet[0] for number in (1, 2)]
    if isinstance(domain, Strings) and domain.alphabet:
        return domain.alphabet[0], domain.alphabet[-1] * domain.length
    if domain.size is None:
        return "a", LONG
    by_length = sorted(domain.labels, key=len)
    return by_length[0], by_length[-1]


def two_answers(question: Question) -> tuple[object, object]:
    """Return two values of a whole question, as `Client.record` takes them."""
    if question.plain:
        return two_values(question.fields[0])
    pairs = {field.name: two_values(field) for field in question.fields}
    return {n: pair[0] for n, pair in pairs.items()}, {n: pair[1] for n, pair in pairs.items()}
