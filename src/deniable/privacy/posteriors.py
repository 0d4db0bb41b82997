"""The attacker's posterior probability that one person holds an answer [EPK14, section 6].

Model: the attacker reads one report for an answer v. With RAPPOR s of v's h bits are at 1; with
every other mechanism the report supports v or does not (h = 1). A holder of v shows s ones with
likelihood q*^s (1-q*)^(h-s), anybody else with p*^s (1-p*)^(h-s). With f_v the share of people who
hold v,

    P(v | s) = f_v q*^s (1-q*)^(h-s) / [the same + (1 - f_v) p*^s (1-p*)^(h-s)].

An attacker who targets everybody whose report shows all h is wrong about 1 - P(v | h) of them: the
false discovery rate. That others' answers may set the same bits is neglected, as in the paper; it
adds about h / k to p*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.protocol import Parameters
from deniable.protocol.channel import Bits, Points, Product, Sign, Subset, Symbol, unknown_kind

Floats = NDArray[np.float64]


def marks_of(parameters: Parameters) -> int:
    """Return h, the number of bits of a report about one answer; 1 where it is support or not."""
    match parameters.channel.typical:
        case Bits(drawn=drawn):
            return max(1, drawn)
        case Symbol() | Sign() | Subset() | Points() | Product():
            return 1
        case rest:
            raise unknown_kind("posterior of one report", rest)


def posterior(parameters: Parameters, frequency: Floats, ones: int) -> Floats:
    """Return the posterior probability that a person holds v, given `ones` of its bits at 1."""
    # `support` is (own, other) in the oracles' order: RAPPOR's q* and p*.
    q, p = (float(chance) for chance in parameters.support)
    zeros = marks_of(parameters) - ones
    held = frequency * q**ones * (1 - q) ** zeros
    other = (1 - frequency) * p**ones * (1 - p) ** zeros
    return np.asarray(held / (held + other))


def false_discovery_rate(parameters: Parameters, frequency: Floats) -> Floats:
    """Return the share of wrongly targeted people among those with all of v's bits at 1."""
    return 1 - posterior(parameters, frequency, marks_of(parameters))
