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

from deniable.audit.exact.tracing import Scripted
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, SubsetParameters
from deniable.protocol.thresholds import as_fraction

RUNS = 8


def subset_ratio(field: Field, answer: Answer, rng: np.random.Generator) -> Fraction:
    """Return the worst ratio of two answers.

    Raises:
        InvalidParameter: if the encoder draws otherwise, or makes another set of its draws.
    """
    parameters = field.parameters
    if not isinstance(parameters, SubsetParameters):
        raise InvalidParameter(f"{parameters.mechanism} does not report a subset.")
    k, size = parameters.categories, parameters.size
    asked = {
        _checked(field, parameters, answer, included, rng)
        for included in (True, False)
        for _ in range(RUNS)
    }
    if len(asked) > 1:
        raise InvalidParameter("The coin of a subset does not have one threshold.")
    chance = as_fraction(asked.pop())
    inside, outside = chance / comb(k - 1, size - 1), (1 - chance) / comb(k - 1, size)
    return max(inside / outside, outside / inside)


def _checked(
    field: Field,
    parameters: SubsetParameters,
    answer: Answer,
    included: bool,
    rng: np.random.Generator,
) -> int:
    """Run the encoder on one script, compare all it does with the model, return the threshold."""
    k, count = parameters.categories, parameters.size - included
    bounds = list(range(k - count, k))
    script = [int(rng.integers(0, bound)) for bound in bounds]
    draws = Scripted(repeat(included), script)
    record = encode_drawn(field, answer, Scripted(repeat(False)), Scripted(repeat(False)), draws)
    if len(draws.asked) != 1 or draws.bounds != bounds:
        raise InvalidParameter("The draws of a subset are not those of Floyd's algorithm.")
    chosen: set[int] = set()
    for last, drawn in zip(range(k - 1 - count, k - 1), script, strict=True):
        chosen.add(last if drawn in chosen else drawn)
    expected = {other if other < answer.code else other + 1 for other in chosen}
    expected |= {answer.code} if included else set()
    if int.from_bytes(record, "little") != sum(1 << member for member in expected):
        raise InvalidParameter("A subset is not the one that its draws say.")
    return draws.asked[0]
