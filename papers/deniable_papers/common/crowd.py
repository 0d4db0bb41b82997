"""Reports of a crowd without a report: the counts are drawn as a whole, which is exact.

Model: given which people hold what and in which cohort they are, the bits of all reports are
independent coins, q* where the answer sets the bit and p* elsewhere. So the count of bit i in
cohort j, where s_ij of its N_j people have the bit set, is

    c_ij ~ Binomial(s_ij, q*) + Binomial(N_j - s_ij, p*),

independent over all cells, and a cohort's people are a multinomial draw from the holders of each
string. This is the distribution of `accumulate(simulate(values))`, in time that does not depend
on the number of people: a test compares the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.decode.design import Design, Shape, design_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Rappor
from deniable.mechanisms.base import Floats

Totals = NDArray[np.int64]
"""How many people hold each string."""


def drawn(weights: Floats, people: int, rng: np.random.Generator) -> Totals:
    """Return how many people hold each string, each drawn by these shares."""
    return np.asarray(rng.multinomial(people, weights), dtype=np.int64)


def design_for(mechanism: Rappor, strings: list[str]) -> Design:
    """Return the cells that each string sets: its Bloom bits, or in the basic form its own bit."""
    parameters = mechanism.parameters
    shape = Shape(parameters.cohorts, parameters.bits, parameters.hashes)
    if parameters.form == "bloom":
        return design_of(shape, strings)
    return shape.design(np.arange(len(strings))[:, None, None])


def reported(mechanism: Rappor, design: Design, totals: Totals, rng: np.random.Generator) -> Counts:
    """Return the counts of reports of people who hold these strings, in uniform cohorts.

    Args:
        mechanism: RAPPOR with a bit per answer or with Bloom filters; not a single bit.
        design: of the strings, from `design_for`.
        totals: the holders of each string.
        rng: the only source of randomness.

    Raises:
        InvalidParameter: for the single bit of a yes/no question, and unless there is one total
            per string.
    """
    cohorts = mechanism.parameters.cohorts
    held = rng.multinomial(totals, np.full(cohorts, 1 / cohorts))
    return reported_by_cohort(mechanism, design, held, rng)


def reported_by_cohort(
    mechanism: Rappor, design: Design, held: NDArray[np.int64], rng: np.random.Generator
) -> Counts:
    """Return the counts where it is known how many people of each cohort hold each string.

    Args:
        mechanism: as in `reported`.
        design: as in `reported`.
        held: a row per string, a column per cohort.
        rng: the only source of randomness.
    """
    parameters = mechanism.parameters
    if parameters.bits == 1 or len(design) != len(held):
        raise InvalidParameter(
            "A crowd needs one row of holders per string, and more than a single bit."
        )
    shape = (parameters.cohorts, parameters.bits)
    weights = np.repeat(held, parameters.hashes, axis=1)
    cells = np.bincount(design.cells.ravel(), weights.ravel(), minlength=design.rows + 1)
    setting = cells[: design.rows].astype(np.int64).reshape(shape)  # exact below 2^53
    people = held.sum(axis=0)
    ones = rng.binomial(setting, float(parameters.q_star))
    ones += rng.binomial(people[:, None] - setting, float(parameters.p_star))
    return Counts(people, ones)
