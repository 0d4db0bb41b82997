"""Randomised points of a projective geometry, a person at a time.

The same numbers as `protocol.projective.inside_point` and `outside_point`, which explain them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Integers = NDArray[np.int64]


@njit
def _digits(number: int, prime: int, count: int, out: Integers) -> None:
    for place in range(count - 1, -1, -1):
        rest = number // prime
        out[place] = number - rest * prime
        number = rest


@njit
def _vector(number: int, prime: int, dimension: int, starts: Integers, out: Integers) -> None:
    digits = 0
    while digits + 1 < dimension and starts[digits + 1] <= number:
        digits += 1
    _digits(number - starts[digits], prime, dimension, out)
    out[dimension - 1 - digits] = 1


@njit
def _number(vector: Integers, prime: int, starts: Integers, inverses: Integers) -> int:
    first, dimension = 0, vector.size
    while vector[first] == 0:
        first += 1
    scale, rest = inverses[vector[first]], 0
    for place in range(first + 1, dimension):
        entry = vector[place] if scale == 1 else vector[place] * scale % prime
        rest = rest * prime + entry
    number: int = starts[dimension - 1 - first] + rest
    return number


@njit
def moved_points(
    true: Integers,
    inside: NDArray[np.bool_],
    choices: Integers,
    prime: int,
    starts: Integers,
    inverses: Integers,
) -> Integers:
    """Return for each point v point number `choice` among those u with <u, v> = 0, or not 0.

    Cost: O(t) per person, less where equal points v come one after the other.

    Args:
        true: the numbers of the points v.
        inside: whether <u, v> = 0.
        choices: below c(t - 1) inside, below q^(t - 1) outside; they are not checked.
        prime: q.
        starts: the number of the first point with d digits after its 1, d = 0..t-1.
        inverses: of every number modulo q; 0 for 0.
    """
    dimension = starts.size
    found = np.empty(true.size, dtype=np.int64)
    v, u = np.zeros(dimension, dtype=np.int64), np.zeros(dimension, dtype=np.int64)
    before, last = -1, 0
    for i in range(true.size):
        if true[i] != before:
            before, last = true[i], dimension - 1
            _vector(before, prime, dimension, starts, v)
            while v[last] == 0:
                last -= 1
        if inside[i]:
            _vector(choices[i], prime, dimension - 1, starts, u)
        else:
            _digits(choices[i], prime, dimension - 1, u)
        product = 0
        for place in range(dimension - 1, last, -1):  # make room for the entry that is solved for
            u[place] = u[place - 1]
            product += u[place] * v[place]
        for place in range(last):
            product += u[place] * v[place]
        # <u, v> = product + u_last v_last must be 0 (inside) or 1 (outside, up to scale) modulo q.
        wanted = (prime - product % prime) + (0 if inside[i] else 1)
        u[last] = inverses[v[last]] * wanted % prime
        found[i] = _number(u, prime, starts, inverses)
    return found
