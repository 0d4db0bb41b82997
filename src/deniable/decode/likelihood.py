"""Maximum likelihood of the counts with frequencies that can be: none negative, at most 1 in all.

Model: each cell's count is binomial, c ~ Bin(N, q + (p - q) s) with s = X f + g d/k, where g is the
share of people with strings outside the list, spread evenly over the cells (d distinct bits of k).
Cells count as independent: reports support them independently given the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deniable.decode.design import Design
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.decode.observed import Observed
from deniable.mechanisms.base import Floats

_ROUNDS = 6
_SETTLED = 1e-7


@dataclass(frozen=True)
class Likely:
    """The frequencies that make the counts likeliest.

    Attributes:
        frequency: of each candidate, at least 0.
        other: of all strings outside the list, at least 0; with the others it is at most 1.
        share: the share of people that this puts in each cell.
    """

    frequency: Floats
    other: float
    share: Floats


def most_likely(observed: Observed, design: Design) -> Likely:
    """Maximise the likelihood by iteratively re-weighted non-negative least squares.

    Newton's method with the expected information: each round weighs the cells by the last fit and
    solves a quadratic problem with the same constraints. The fixed point satisfies the conditions
    of the maximum, up to the half report that `Observed.support` adds.

    Cost: 3 to 6 rounds of O(M^3) at most for M candidates.

    Edge cases: candidates with the same cells share their frequency in an arbitrary way.
    """
    columns = design.matrix().T.tocsr()
    # A string outside the list sets any given cell with probability d/k.
    filled = observed.shape.distinct / observed.shape.bits
    everything = sparse.hstack(
        [columns, sparse.csr_matrix(np.full((design.rows, 1), filled))], format="csr"
    )
    found = np.append(np.zeros(len(design)), 1.0)
    for _ in range(_ROUNDS):
        # Fisher scoring: the expected information is X'WX, W = 1 / Var y at the last fit, and
        # the next solution minimises f'X'WX f / 2 - f'X'W y under the constraints.
        weights = observed.weights(everything @ found)
        weighted = sparse.diags_array(weights).tocsr() @ everything
        gram, right = (everything.T @ weighted).toarray(), weighted.T @ observed.y
        last, found = found, nonnegative_least_squares(gram, right, total=1.0, start=found)
        if np.abs(found - last).max() < _SETTLED:
            break
    return Likely(found[:-1], float(found[-1]), everything @ found)
