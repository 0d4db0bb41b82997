"""Symbols over time: the worst ratio of n reports of one permanent response."""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol.channel import Symbol


def ratio_after(first: Symbol, then: Symbol, n: int) -> Fraction:
    """Return the largest ratio of the probabilities of n reports under two answers, exactly.

    Let a symbol s be reported c_s times and L_s = keep^c_s move^(n - c_s), the fresh stage's
    probability of that given permanent response s. With A and B for the permanent stage's
    probabilities of the answer and of another symbol, the ratio for answers x and z is

        (B sum L + (A - B) L_x) / (B sum L + (A - B) L_z),

    which is largest where L_x / sum L is largest and L_z / sum L smallest: both when x is
    reported every time.
    """
    k, keep, move, report = first.size, first.keep, first.move, then.keep
    # x is reported n times: L_x = same, L_s = other for each of the k - 1 other symbols.
    same, other = report**n, ((1 - report) / (k - 1)) ** n
    return (keep * same + (k - 1) * move * other) / (
        move * same + keep * other + (k - 2) * move * other
    )
