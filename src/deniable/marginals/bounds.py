"""The error bounds of [CKS18], section 4, as functions.

Model: with constant probability the total variation between the true and the raw table of any k of
d yes/no attributes, from N people at epsilon, is at most a constant and logarithms times

    growth(d, k) / (epsilon sqrt(N)),

    inp_rr   theorem 4.3     2^((d+k)/2)
    inp_ps   theorem 4.4     2^(d + k/2)
    inp_ht   theorem 4.5     sqrt(2^k T),  T = sum over l = 1..k of C(d, l) coefficients
    marg_rr  section 4.3     2^k d^(k/2)
    marg_ps  lemma 4.6       2^(3k/2) d^(k/2)
    marg_ht  lemma 4.6       2^(3k/2) d^(k/2)

The paper's table 2 prints d^k for d^(k/2) of inp_ht, and for inp_rr the bound of inp_ps; these are
those of its theorems. Accuracy: what a bound leaves out (constant, logarithms) is a factor that
`deniable paper cks18-table2` measures; the closed forms of `deniable plan --attributes` leave out
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb, sqrt

from deniable import _validate
from deniable.errors import InvalidParameter

# Each mechanism has a theorem of its own in the paper.
GROWTH: Mapping[str, Callable[[int, int], float]] = {
    "inp_rr": lambda d, k: 2 ** ((d + k) / 2),
    "inp_ps": lambda d, k: 2 ** (d + k / 2),
    "inp_ht": lambda d, k: sqrt(2**k * sum(comb(d, size) for size in range(1, k + 1))),
    "marg_rr": lambda d, k: 2**k * d ** (k / 2),
    "marg_ps": lambda d, k: 2 ** (1.5 * k) * d ** (k / 2),
    "marg_ht": lambda d, k: 2 ** (1.5 * k) * d ** (k / 2),
}
"""How the bound of each method grows with d and k."""


def error_bound(mechanism: str, attributes: int, order: int, epsilon: float, people: int) -> float:
    """Return the bound on the total variation of a raw table, without constant and logarithms.

    Args:
        mechanism: one of the six methods of section 4.
        attributes: d.
        order: k, the attributes of a table.
        epsilon: of a report.
        people: N.

    Raises:
        InvalidParameter: if the paper has no bound for the method, or a number is out of range.

    Example:
        >>> round(error_bound("inp_ht", attributes=8, order=2, epsilon=1.0, people=2**18), 4)
        0.0234
    """
    if mechanism not in GROWTH:
        raise InvalidParameter(
            f"[CKS18] has no bound for {mechanism!r:.40}. It has one for: {', '.join(GROWTH)}."
        )
    d = _validate.integer("attributes", "error_bound", attributes, 1, 1_000)
    k = _validate.integer("order", "error_bound", order, 1, d)
    n = _validate.integer("people", "error_bound", people, 1, 10**12)
    if not epsilon > 0:
        raise _validate.invalid("epsilon", "error_bound", "a number greater than 0", epsilon)
    return GROWTH[mechanism](d, k) / (epsilon * sqrt(n))
