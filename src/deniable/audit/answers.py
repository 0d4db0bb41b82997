"""Answers to audit a field with: all of a small domain, or a few that differ most."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

from deniable.protocol import (
    Answer,
    CoefficientsParameters,
    Domain,
    Field,
    Parameters,
    Profile,
    Sets,
    Strings,
    StringSets,
)
from deniable.protocol.domain import ABSENT_KEY, code_key, set_key, string_key
from deniable.protocol.profile_domain import profile_answer

MOST_ANSWERS = 64
STRINGS = ("deniable", "plausible", "local", "differential", "")


def every_answer(field: Field, absent: bool, most: int) -> list[Answer] | None:
    """Return all answers of a field; None where they are more than `most`, or cannot be listed."""
    domain = field.domain
    if isinstance(domain, Profile):
        if domain.cells > most:
            return None
        return [profile_answer(codes) for codes in product(*map(range, domain.answers))]
    if domain.size is None:
        return None
    if isinstance(domain, Sets):
        names = len(domain.values)
        if sum(comb(names, size) for size in range(domain.most + 1)) + absent > most:
            return None
        sets = (c for size in range(domain.most + 1) for c in combinations(range(names), size))
        answers = [Answer(set_key(members), members=members) for members in sets]
    elif domain.size + absent > most:
        return None
    else:
        answers = [Answer(code_key(code), code) for code in range(domain.size)]
    return [*answers, Answer(ABSENT_KEY, domain.size)] if absent else answers


def some_answers(field: Field, absent: bool) -> list[Answer]:
    """Return a few answers of a field; the first two have nothing in common.

    Where a set reports one sampled member, its members stand for it: see `convexity`.
    """
    domain = field.domain
    if isinstance(domain, Profile):
        return some_profiles(domain.answers)
    last: list[Answer] = []
    if absent or isinstance(domain, StringSets):
        last = [Answer(ABSENT_KEY, -1 if domain.size is None else domain.size)]
    if domain.size is None:
        return [*(Answer(string_key(text)) for text in some_strings(domain)), *last]
    if isinstance(domain, Sets) and field.parameters.per_member:
        half = min(domain.most, max(1, len(domain.values) // 2))
        one = tuple(range(half))
        other = tuple(range(half, min(len(domain.values), 2 * half)))
        return [Answer(set_key(members), members=members) for members in (one, other)] + last
    codes = sorted({0, 1, domain.size // 2, domain.size - 1})
    return [*(Answer(code_key(code), code) for code in codes), *last]


def some_strings(domain: Domain) -> tuple[str, ...]:
    """Return a few strings of a domain; over an alphabet the first two differ everywhere."""
    if not isinstance(domain, Strings) or not domain.alphabet:
        return STRINGS
    first, last = domain.letters[0], domain.letters[-1]
    mixed = "".join(domain.letters[i % len(domain.letters)] for i in range(domain.length))
    return tuple(dict.fromkeys((first * domain.length, last * domain.length, mixed, first, "")))


def some_profiles(answers: tuple[int, ...]) -> list[Answer]:
    """Return a few profiles; the first two differ in every bit of their codes.

    Codes of answers have b bits, and the codes 2^(b - 1) and 2^(b - 1) - 1 differ in every bit.
    Then come profiles of the first, second, ... answer of every attribute, and two that mix them.
    """
    top = [1 << ((count - 1).bit_length() - 1) for count in answers]
    chosen = [tuple(top), tuple(code - 1 for code in top)]
    for place in range(min(max(answers), MOST_ANSWERS)):
        chosen.append(tuple(min(place, count - 1) for count in answers))
    chosen.append(tuple(count - 1 for count in answers))
    for step in (1, 2):
        chosen.append(tuple((step * i + i * i) % count for i, count in enumerate(answers)))
    return [profile_answer(codes) for codes in dict.fromkeys(chosen)]


def worst_profiles(parameters: Parameters, answers: tuple[int, ...]) -> tuple[Answer, Answer]:
    """Return two profiles that differ as much as two profiles can.

    They differ in every bit of their codes. Where contrasts are reported, they have the first and
    the last answer of every attribute: the ends of the linear contrast.
    """
    # The ends of a polynomial are the mathematics of contrasts alone.
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        last = profile_answer(tuple(count - 1 for count in answers))
        return last, profile_answer((0,) * len(answers))
    one, other, *_ = some_profiles(answers)
    return one, other


def convexity(field: Field) -> str:
    """Return the argument that the members of a sampled set may stand for it; "" elsewhere."""
    if not isinstance(field.domain, Sets | StringSets) or field.parameters.per_member:
        return ""
    return (
        "One of a set's places is drawn uniformly, so that its law is the mean of its members' "
        "laws, and no two sets differ more than two members do. "
    )
