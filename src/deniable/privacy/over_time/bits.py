"""Rows of bits over time: the worst ratio of n reports of one permanent response."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol.channel import Bits


def ratio_after(first: Bits, then: Bits, n: int) -> Fraction:
    """Return the largest ratio of the probabilities of n reports under two answers, exactly.

    Of n reports of one bit only the number of ones matters, and the likelihood ratio of
    permanent 1 against permanent 0 rises with it; so the extremes are n ones and n zeros. With a
    and b for P(permanent 1) of a set and an unset bit (1 - f/2 and f/2), these have probability

        a q^n + (1 - a) p^n        and    (1 - a) (1 - p)^n + a (1 - q)^n      for a set bit,

    and the same with b for an unset one. [EPK14] leaves this open; n = 1 is its theorem 2 and the
    limit of large n its theorem 1.
    """
    a, b, q, p = first.one, first.zero, then.one, then.zero

    def ones(permanent: Fraction) -> Fraction:
        return permanent * q**n + (1 - permanent) * p**n

    def zeros(permanent: Fraction) -> Fraction:
        return (1 - permanent) * (1 - p) ** n + permanent * (1 - q) ** n

    # Bits set by the one value only show n ones at worst, bits set by the other only n zeros;
    # `differ` counts both kinds (docs/mathematics.md, section 1).
    up, down = ones(a) / ones(b), zeros(b) / zeros(a)
    most, least = first.differ
    return max(up**most * down**least, up**least * down**most)
