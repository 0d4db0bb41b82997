"""The average protection by a Bloom filter, beyond what epsilon promises in the worst case.

Epsilon is of the two answers that differ most and of the worst report. [EPK14, section 6 and 6.1]
names three things that it does not count:

    silent       (f/2)^h of the devices keep none of the h bits of their string in the permanent
                 response: nothing they ever report speaks for it;
    namesakes    other strings that set the same bits in a cohort, a flavour of k-anonymity;
    mean loss    by how much a report moves the log-odds between two strings on average.

Model: h hash functions draw bits of k, uniformly and independently, so that a string sets j
different ones with probability C(k, j) j! S(h, j) / k^h, S the Stirling numbers of the second kind.
None of it is a promise: a person's own string may have no namesake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.protocol import RapporParameters


@dataclass(frozen=True)
class AverageCase:
    """The average protection by Bloom filters with noise.

    Attributes:
        silent: the share of devices whose permanent response has none of their string's bits.
        namesakes: the chance that a given other string sets the same bits in a cohort.
        loss_once: the mean log-likelihood ratio that one report gives between the person's string
            and a random other one, in nats, as epsilon is.
        loss_forever: the same of the permanent response itself, which all reports together show.
    """

    silent: float
    namesakes: float
    loss_once: float
    loss_forever: float


def average_case(parameters: RapporParameters) -> AverageCase:
    """Return what the Bloom filters of these parameters hide on average.

    Example:
        >>> from deniable.authoring import resolve
        >>> from deniable.protocol import Strings
        >>> wanted = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
        >>> found = average_case(resolve(RapporParameters, wanted, Strings(), False))
        >>> round(found.silent, 4), round(1e6 * found.namesakes), round(found.loss_once, 3)
        (0.0625, 122, 0.132)
    """
    k, h = parameters.bits, parameters.hashes
    one, zero = (Fraction(t, 2**64) for t in (parameters.permanent_one, parameters.permanent_zero))
    # A bit of the string is kept at 1 with probability `one`, 1 - f/2 in the paper's letters.
    silent = float((1 - one) ** h)
    # Two strings set the same j bits: sum over all such sets of P(set)^2, P = j! S(h, j) / k^h.
    same = sum(
        Fraction(math.comb(k, j) * (math.factorial(j) * stirling(h, j)) ** 2, k ** (2 * h))
        for j in range(1, min(h, k) + 1)
    )
    # Bits of one string that a random other one does not set: k a (1 - a), a = 1 - (1 - 1/k)^h.
    a = 1 - (1 - 1 / k) ** h
    apart = k * a * (1 - a)
    q, p = (float(chance) for chance in parameters.support)
    losses = [apart * _divergences(x, y) for x, y in ((q, p), (float(one), float(zero)))]
    return AverageCase(silent, float(same), *losses)


def _divergences(q: float, p: float) -> float:
    """Return KL(q | p) + KL(p | q) of two coins: a bit set by one string alone, and by the other.

    It is (q - p) ln [q (1 - p) / (p (1 - q))], infinite where one of them is certain.
    """
    if min(p, 1 - q) == 0:
        return math.inf
    return (q - p) * math.log(q * (1 - p) / (p * (1 - q)))


def stirling(n: int, j: int) -> int:
    """Return the ways to split n things into j groups: Stirling's number of the second kind."""
    terms = ((-1) ** i * math.comb(j, i) * (j - i) ** n for i in range(j + 1))
    return int(sum(terms)) // math.factorial(j)
