"""Imagined people: reports of answers that were drawn, by the mechanisms of real variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.associate.fields import rest_shares
from deniable.associate.variable import Variable
from deniable.mechanisms.base import Candidate, Codes

_PRIVATE = 0xE000
"""The first of Unicode's characters for private use."""
_UNLISTED = 1_000


def reported(variable: Variable, codes: Codes, rng: np.random.Generator) -> Variable:
    """Return the variable with reports of people whose categories are given.

    People of "(other)" hold answers of a closed domain in the shares that the variable's own
    reports give them, or one of 1,000 made-up strings.
    """
    mechanism, last = variable.mechanism, len(variable.categories) - 1
    if mechanism.hashed:
        names: list[Candidate] = list(variable.candidates or ())
        if variable.other:
            # Letters for private use, in every place that a mechanism looks at: nobody's answer.
            length = getattr(mechanism.parameters, "length", 1)
            names += [chr(_PRIVATE + number) * length for number in range(_UNLISTED)]
            codes = np.where(codes == last, last + rng.integers(0, _UNLISTED, codes.size), codes)
        # A name costs as much as many reports: few people hold few of them.
        held, codes = np.unique(codes, return_inverse=True)
        names = [names[place] for place in held]
        return replace(variable, reports=mechanism.simulate(codes, rng, names))
    answers = np.array(variable.asked())
    if not variable.other:
        return replace(variable, reports=mechanism.simulate(answers[codes], rng))
    rest, shares = rest_shares(variable)
    others = rng.choice(rest, size=codes.size, p=shares)
    codes = np.where(codes == last, others, np.append(answers, 0)[codes])
    return replace(variable, reports=mechanism.simulate(codes, rng))
