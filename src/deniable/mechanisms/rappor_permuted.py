"""The bits that permutations choose for the answers of a closed domain [KBR16, O-RAPPOR]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.cells import by_cohort
from deniable.mechanisms.permuting import all_ranks
from deniable.protocol import RapporParameters


def answer_bits(parameters: RapporParameters, cohort: int) -> NDArray[np.int64]:
    """Return the bits of every answer in a cohort, a row each, one per hash function.

    Guarantees: equal to `RapporParameters.places`. Bits of a row may repeat.

    Cost: h sorts of the domain.
    """
    indices = ((cohort << 16) | i for i in range(parameters.hashes))
    every = [all_ranks(parameters.answers, index) % parameters.bits for index in indices]
    return np.stack(every, axis=1)


def permuted_bits(
    parameters: RapporParameters, cohorts: NDArray[np.uint16], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the bits of people's answers in their cohorts, a row each.

    Cost: linear in the people, and h sorts of the domain for each cohort that occurs.
    """
    held = np.empty((codes.size, parameters.hashes), dtype=np.int64)
    for cohort, rows in by_cohort(cohorts):
        held[rows] = answer_bits(parameters, cohort)[codes[rows]]
    return held
