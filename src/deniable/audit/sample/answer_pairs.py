"""Two answers that differ as much as two answers can, and the scores of reports between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.audit.answers import per_bit, some_strings, worst_profiles
from deniable.audit.channel_checks_ngrams import ngrams_ratios
from deniable.audit.channel_checks_profiles import log_ratios
from deniable.audit.reading import Record, bit_table, held_table, supports
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, Field, NGramsParameters, ProfileParameters, Sets
from deniable.protocol.domain import code_key, set_key, string_key
from deniable.protocol.unary import UnaryParameters


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
    if isinstance(field.parameters, ProfileParameters):
        one, other = worst_profiles(field.parameters)
        return Asked(one, one), Asked(other, other)
    if domain.size is None:
        one, other = (Answer(string_key(text)) for text in some_strings(domain)[:2])
        return Asked(one, one), Asked(other, other)
    if isinstance(domain, Sets):
        none = len(domain.values)
        members = tuple(range(min(domain.most, none)))
        full = Answer(set_key(members), members=members)
        empty = Answer(set_key(()))
        if per_bit(field):
            return Asked(full, full), Asked(empty, empty)
        single = Answer(code_key(0), 0) if domain.most == 1 else None
        return Asked(full, single), Asked(empty, Answer(code_key(none), none))
    first, last = (Answer(code_key(code), code) for code in (0, domain.size - 1))
    return Asked(last, last), Asked(first, first)


def scores(field: Field, pair: tuple[Asked, Asked], records: Sequence[Record]) -> Floats:
    """Return the logarithm of each record's likelihood ratio, up to a positive factor.

    A set that reports a drawn member is scored by the first member: any event gives a valid bound.
    """
    parameters = field.parameters
    one, other = (asked.reported or Answer(code_key(0), 0) for asked in pair)
    if isinstance(parameters, ProfileParameters):
        return log_ratios(parameters, one, other, records)
    if isinstance(parameters, NGramsParameters):
        return ngrams_ratios(parameters, one, other, records)
    if not isinstance(parameters, UnaryParameters):
        up = supports(parameters, one, records).astype(np.float64)
        return np.asarray(up - supports(parameters, other, records))
    shown = bit_table(parameters, records)
    mine, theirs = (held_table(parameters, a, records) for a in (one, other))
    q, p = float(parameters.q_star), float(parameters.p_star)
    weight = np.where(shown, math.log(q / p), math.log((1 - q) / (1 - p)))
    signs = mine.astype(np.float64) - theirs
    return np.asarray(np.round((weight * signs).sum(axis=1), 9))
