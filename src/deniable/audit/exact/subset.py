"""Subset selection at full size: one coin, then Floyd's algorithm, read off the encoder.

Model: after the coin the encoder draws `count` uniform numbers below among - count + 1, ...,
among; Floyd's algorithm makes of them a set of `count` of `among` integers, every one of the
C(among, count) sets equally likely [Bentley and Floyd, "A sample of brilliance", Communications of
the ACM, 1987]. So a set with the answer has probability w / C(k - 1, d - 1), one without it
(1 - w) / C(k - 1, d), w the coin's.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat
from math import comb

import numpy as np

from deniable.audit.exact.declared_channel import check_chance
from deniable.audit.exact.tracing import Scripted
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field
from deniable.protocol.channel import Subset, as_mask, unknown_kind, whole
from deniable.protocol.epsilon import within
from deniable.protocol.thresholds import as_fraction

RUNS = 8


def subset_ratio(field: Field, answer: Answer, rng: np.random.Generator) -> Fraction:
    """Return the worst ratio of two answers.

    Raises:
        InvalidParameter: if the encoder draws otherwise, or makes another set of its draws.
    """
    channel = field.parameters.channel
    rest, own = channel.typical, channel.own(answer, ())
    if not isinstance(rest, Subset):
        raise unknown_kind("proof by Floyd's algorithm", rest)
    k, size = rest.of, rest.take
    asked = {
        _checked(field, rest, answer, whole(own), included, rng)
        for included in (True, False)
        for _ in range(RUNS)
    }
    if len(asked) > 1:
        raise InvalidParameter("The coin of a subset does not have one threshold.")
    include = as_fraction(asked.pop())
    ratio = Subset(include, size, k).worst
    if ratio is None:
        raise InvalidParameter("A subset is certain to have the answer, or not to have it.")
    if within(ratio, field.parameters.epsilon_once):  # else the ratio is the finding
        some = as_mask(range(size)) << whole(own) >> max(0, whole(own) + size - k)
        check_chance(field, answer, (), some, include / comb(k - 1, size - 1))
    return ratio


def _checked(
    field: Field,
    rest: Subset,
    answer: Answer,
    own: int,
    included: bool,
    rng: np.random.Generator,
) -> int:
    """Run the encoder on one script, compare all it does with the model, return the threshold."""
    k, count = rest.of, rest.take - included
    bounds = list(range(k - count, k))
    script = [int(rng.integers(0, bound)) for bound in bounds]
    draws = Scripted(repeat(included), script)
    record = encode_drawn(field, answer, Scripted(repeat(False)), Scripted(repeat(False)), draws)
    if len(draws.asked) != 1 or draws.bounds != bounds:
        raise InvalidParameter("The draws of a subset are not those of Floyd's algorithm.")
    chosen: set[int] = set()
    for last, drawn in zip(range(k - 1 - count, k - 1), script, strict=True):
        chosen.add(last if drawn in chosen else drawn)
    expected = {other if other < own else other + 1 for other in chosen}
    expected |= {own} if included else set()
    if field.parameters.channel.record((), as_mask(frozenset(expected))) != record:
        raise InvalidParameter("A subset is not the one that its draws say.")
    return draws.asked[0]
