"""How much of a report's noise a device keeps for ever, and so repeats in every epoch.

Model [EPK14]: of two stages, the permanent one shows 1 with probability u (u_1 for a holder of the
answer, u_0 for anybody else) and is kept; the fresh one reports 1 with probability q if it shows 1,
else p. Of the variance r (1 - r) of one report, r = p + (q - p) u,

    kept    B = (q - p)^2 u (1 - u)               the same in all epochs
    fresh   W = u q (1 - q) + (1 - u) p (1 - p)   drawn anew in each

A k-RR chain is the same with the chances of the two symbols. Of a crowd in which a share f holds
the answer, f B_1 + (1 - f) B_0 of f (B_1 + W_1) + (1 - f) (B_0 + W_0) is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.mechanisms.base import Floats
from deniable.protocol import Parameters
from deniable.protocol.channel import Bits, Symbol

_STEPS = 33


@dataclass(frozen=True)
class Lasting:
    """The kept part and the whole of a report's variance, of a holder and of anybody else."""

    holder: tuple[float, float]
    other: tuple[float, float]

    def share(self, frequency: Floats) -> Floats:
        """Return the kept share of the noise, where shares of this size hold the answers."""
        held = np.clip(np.nan_to_num(frequency), 0.0, 1.0)
        kept, whole = (held * self.holder[i] + (1 - held) * self.other[i] for i in (0, 1))
        return np.asarray(kept / whole)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest share that any frequency can make it."""
        # A mixture's ratio lies between those of its parts (mediants).
        each = sorted(kept / whole for kept, whole in (self.holder, self.other))
        return each[0], each[1]


NOTHING = Lasting((0.0, 1.0), (0.0, 1.0))
"""All noise is fresh."""
EVERYTHING = Lasting((1.0, 1.0), (1.0, 1.0))
"""All noise is permanent."""


def lasting_of(parameters: Parameters, *, drawn: bool = False) -> Lasting:
    """Return what lasts of a mechanism's noise.

    Args:
        parameters: of the field.
        drawn: whether a permanent draw chose what is reported, as of sets: then holders lie
            between the two stages' ends, and the largest share in between is taken.

    Edge cases: a mechanism with a permanent part whose kind this does not know keeps everything,
    which makes errors too large and never too small.
    """
    if not parameters.memoised:
        return NOTHING
    stages = parameters.channel.typical.stages
    match stages:
        case (Bits() as first, Bits() as then):
            permanent, fresh = (first.one, first.zero), (then.one, then.zero)
        case (Symbol() as first, Symbol() as then):
            permanent, fresh = (first.keep, first.move), (then.keep, then.move)
        case _:
            return EVERYTHING
    one, zero = map(float, permanent)
    q, p = map(float, fresh)
    if not drawn:
        return Lasting(_parts(one, q, p), _parts(zero, q, p))
    between = [_parts(u, q, p) for u in np.linspace(zero, one, _STEPS)]
    worst = max(between, key=lambda parts: parts[0] / parts[1])
    return Lasting(worst, worst)


def _parts(u: float, q: float, p: float) -> tuple[float, float]:
    """Return B and B + W; the latter is r (1 - r) of one report."""
    r = p + (q - p) * u
    return (q - p) ** 2 * u * (1 - u), r * (1 - r)
