"""Mechanisms whose reports have two levels of probability: what two answers tell apart.

Model: for any two answers x and z there are two disjoint sets of reports, X and Z, such that

    P(X | x) = P(Z | z) = high,        P(X | z) = P(Z | x) = low,        high / low = e^epsilon,

all other reports have the same probability under x and z, and the law of a report under *any*
answer is at least low (law in X) + low (law in Z). So a report of anybody else falls into X or Z as
if it came from a coin with probability 2 low at least, and hides the one that counts.

k-RR: X is the symbol x. Subset selection: the sets with x and without z. Projective geometry
response: the points of x's hyperplane that are not on z's. Hadamard: the coefficients that differ,
with x's sign. In these each report has one of two probabilities under any answer, so that the last
condition holds. Unary responses with a bit per answer: bit x is 1 and bit z is 0, so that
high = q* (1 - p*) and low = p* (1 - q*). Under a third answer y these two bits have probability
p* (1 - p*), and the law of bit y differs by the factor (1 - q*)/(1 - p*) at least, which leaves
exactly low.
"""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import (
    HadamardParameters,
    KRRParameters,
    OUEParameters,
    Parameters,
    PGRParameters,
    RapporParameters,
    SubsetParameters,
)
from deniable.protocol.projective import points_below
from deniable.protocol.thresholds import as_fraction


def levels(parameters: Parameters) -> tuple[Fraction, Fraction] | None:
    """Return high and low of one report; None for mechanisms that have no such form.

    None: answers hashed or permuted by cohort, several bits per answer, and a single bit whose two
    sides differ.
    """
    if isinstance(parameters, KRRParameters):
        return parameters.keep, parameters.move
    if isinstance(parameters, HadamardParameters):
        keep = as_fraction(parameters.keep)
        return keep / 2, (1 - keep) / 2
    if isinstance(parameters, SubsetParameters):
        k, d, include = parameters.categories, parameters.size, as_fraction(parameters.include)
        return include * Fraction(k - d, k - 1), (1 - include) * Fraction(d, k - 1)
    if isinstance(parameters, PGRParameters) and parameters.answers:
        inside = as_fraction(parameters.inside)
        apart = parameters.inner - points_below(parameters.prime, parameters.dimension - 2)
        return (
            inside * Fraction(apart, parameters.inner),
            (1 - inside) * Fraction(apart, parameters.outer),
        )
    if isinstance(parameters, OUEParameters | RapporParameters):
        return _of_bits(parameters)
    return None


def _of_bits(parameters: OUEParameters | RapporParameters) -> tuple[Fraction, Fraction] | None:
    q, p = parameters.q_star, parameters.p_star
    if parameters.exponents == (1, 0) and q == 1 - p:
        return q, p
    basic = isinstance(parameters, OUEParameters) or parameters.form == "basic"
    if basic and parameters.members == 0 and parameters.exponents == (1, 1):
        return q * (1 - p), p * (1 - q)
    return None
