"""Two-level mechanisms: the four cells of their reports, and the blanket that hides two answers.

Model: for any two answers x and z all reports fall into four cells, with E = e^epsilon:

    cell       under x     under z     under anybody, at least
    X          E low       low         low
    Z          low         E low       low
    both       E both      E both      both
    neither    neither     neither     neither

where "at least" holds report by report, in proportion to the cell's law. That measure, of mass
2 low + both + neither, is common to everybody's reports whatever their answers are: the *blanket*
[BBGN19].

k-RR: X is the symbol x. Subset selection: the sets with x and without z. Projective geometry
response: the points of x's hyperplane that are not on z's. Hadamard: the coefficients that differ,
with x's sign. In these each report has one of two probabilities, u or E u, under any answer, so
that the blanket is u everywhere. Unary responses with a bit per answer: the cells are the bits of x
and z. With W for the law of a report whose bits are all unset, the law under an answer y is W times
q*/p* or (1 - q*)/(1 - p*), by the bit of y; so the blanket is W (1 - q*)/(1 - p*).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from deniable.protocol import HadamardParameters, Parameters, ProfileParameters
from deniable.protocol.channel import Bits, Points, Product, Sign, Subset, Symbol, unknown_kind
from deniable.protocol.thresholds import as_fraction


class Levels(NamedTuple):
    """The four cells, as above: E, and the blanket's masses.

    Guarantees: (E + 1) low + E both + neither = 1, exactly.
    """

    ratio: Fraction
    low: Fraction
    both: Fraction
    neither: Fraction


def levels(parameters: Parameters) -> Levels | None:
    """Return the cells of one report; None for mechanisms that have no such form.

    None: answers hashed or permuted by cohort, several bits per answer, a single bit whose two
    sides differ, signs other than Hadamard's, and several parts.
    """
    # Two profiles that share an attribute are in other cells than two that share none.
    if isinstance(parameters, ProfileParameters):
        return None
    # Half of the coefficients differ between x and z; a sign of the rest is both, or neither. Of a
    # sketch it is another share for every two answers.
    if isinstance(parameters, HadamardParameters):
        keep = as_fraction(parameters.keep)
        quarter = (1 - keep) / 2
        return Levels(keep / (1 - keep), quarter, quarter, quarter)
    channel = parameters.channel
    rest = channel.typical
    match rest:
        case Sign() | Product():
            return None
        case _ if not channel.direct:
            return None
        case Symbol():
            return Levels(
                rest.keep / rest.move, rest.move, Fraction(0), (rest.size - 2) * rest.move
            )
        case Subset():
            return _of_subsets(rest)
        case Points():
            return _of_points(rest)
        case Bits():
            return _of_bits(rest)
    raise unknown_kind("central epsilon of two levels", rest)


def _of_subsets(rest: Subset) -> Levels:
    k, d, include = rest.of, rest.take, rest.include
    low = (1 - include) * Fraction(d, k - 1)
    ratio = include * (k - d) / ((1 - include) * d)
    # Sets with both, and with neither, over sets with x alone: C(k-2, d-2) and C(k-2, d) over
    # C(k-2, d-1).
    return Levels(ratio, low, low * Fraction(d - 1, k - d), low * Fraction(k - 1 - d, d))


def _of_points(rest: Points) -> Levels:
    # Two hyperplanes meet in `shared` points (docs/mathematics.md, section 2).
    inside, inner, shared = rest.inside, rest.inner, rest.shared
    each = (1 - inside) / rest.outer
    neither = rest.count - 2 * inner + shared
    return Levels(inside / inner / each, each * (inner - shared), each * shared, each * neither)


def _of_bits(rest: Bits) -> Levels | None:
    q, p = rest.one, rest.zero
    if rest.width == 1:
        return Levels(q / p, p, Fraction(0), Fraction(0)) if q == 1 - p else None
    if rest.drawn != 1:
        return None  # sets: several bits per answer
    ratio = q * (1 - p) / (p * (1 - q))
    return Levels(ratio, p * (1 - q), p * p * (1 - q) / (1 - p), (1 - p) * (1 - q))
