"""Answers to audit a field with: all of a small domain, or some that differ as much as they can."""

from __future__ import annotations

from itertools import combinations
from math import comb

from deniable.protocol import Answer, Field, Sets
from deniable.protocol.domain import ABSENT_KEY, code_key, set_key, string_key
from deniable.protocol.unary import UnaryParameters

STRINGS = ("deniable", "plausible", "local", "differential", "")


def every_answer(field: Field, absent: bool, most: int) -> list[Answer] | None:
    """Return all answers of a field; None where they are more than `most`, or cannot be listed."""
    domain = field.domain
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
    """Return a few answers of a field, the first two of which have nothing in common.

    A set of which one member is sampled is replaced by its members: see `convexity`.
    """
    domain = field.domain
    last: list[Answer] = []
    if absent:
        last = [Answer(ABSENT_KEY, -1 if domain.size is None else domain.size)]
    if domain.size is None:
        return [*(Answer(string_key(text)) for text in STRINGS), *last]
    if isinstance(domain, Sets) and per_bit(field):
        half = min(domain.most, max(1, len(domain.values) // 2))
        one = tuple(range(half))
        other = tuple(range(half, min(len(domain.values), 2 * half)))
        return [Answer(set_key(members), members=members) for members in (one, other)] + last
    codes = sorted({0, 1, domain.size // 2, domain.size - 1})
    return [*(Answer(code_key(code), code) for code in codes), *last]


def per_bit(field: Field) -> bool:
    """Tell whether a set's members have a bit each."""
    parameters = field.parameters
    return isinstance(parameters, UnaryParameters) and parameters.members > 0


def convexity(field: Field) -> str:
    """Return why the members of a sampled set may stand for it; nothing where none is sampled."""
    if not isinstance(field.domain, Sets) or per_bit(field):
        return ""
    return (
        "One of a set's places is drawn uniformly, so that its law is the mean of its members' "
        "laws, and no two sets differ more than two members do. "
    )
