"""Points of a projective geometry over F_q, in one order that every party shares.

A point is a line through 0 in F_q^t, written as its vector whose first non-zero entry is 1. With
c(d) = (q^d - 1) / (q - 1), the point that ends in 1 followed by d digits has number

    c(d) + (the number that these d digits spell in base q, most significant first)

so that numbers run from 0 to K - 1, K = c(t), and both directions cost t steps.
`spec/mechanisms.md`, section `pgr`, specifies this bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence


def points_below(prime: int, digits: int) -> int:
    """Return c(d): the number of points of a space of dimension d."""
    return int((prime**digits - 1) // (prime - 1))


def vector_of(number: int, prime: int, dimension: int) -> list[int]:
    """Return the vector of a point."""
    digits = 0
    while points_below(prime, digits + 1) <= number:
        digits += 1
    rest = digits_of(number - points_below(prime, digits), prime, digits)
    return [0] * (dimension - digits - 1) + [1, *rest]


def digits_of(number: int, prime: int, count: int) -> list[int]:
    """Return a number in base q, most significant digit first."""
    return [number // prime**place % prime for place in range(count - 1, -1, -1)]


def number_of(vector: Sequence[int], prime: int) -> int:
    """Return the number of the point that a vector other than 0 lies on."""
    first = next(place for place, entry in enumerate(vector) if entry)
    scale = pow(vector[first], -1, prime)
    rest = 0
    for entry in vector[first + 1 :]:
        rest = rest * prime + entry * scale % prime
    return points_below(prime, len(vector) - first - 1) + rest


def inside_point(v: Sequence[int], choice: int, prime: int) -> int:
    """Return point number `choice`, of c(t - 1), among those u with <u, v> = 0.

    Let i be the place of v's last non-zero entry. The entries of u other than u_i are those of
    point `choice` of the space of dimension t - 1, and u_i solves <u, v> = 0. Entries before i
    decide u_i, so that it is 0 where they are: the first non-zero entry of u is 1 already.
    """
    last = _last(v)
    u = vector_of(choice, prime, len(v) - 1)
    u.insert(last, 0)
    u[last] = -pow(v[last], -1, prime) * _product(u, v) % prime
    return number_of(u, prime)


def outside_point(v: Sequence[int], choice: int, prime: int) -> int:
    """Return point number `choice`, of q^(t - 1), among those u with <u, v> != 0.

    Each has exactly one vector with <u, v> = 1: its entries other than u_i are the digits of
    `choice`, and u_i solves that equation.
    """
    last = _last(v)
    u = digits_of(choice, prime, len(v) - 1)
    u.insert(last, 0)
    u[last] = pow(v[last], -1, prime) * (1 - _product(u, v)) % prime
    return number_of(u, prime)


def _last(v: Sequence[int]) -> int:
    return max(place for place, entry in enumerate(v) if entry)


def _product(u: Sequence[int], v: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(u, v, strict=True))
