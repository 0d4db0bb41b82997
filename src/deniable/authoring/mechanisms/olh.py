"""OLH from what people wrote: `epsilon`, and where wanted `g` and `seeds`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.olh import MAX_SEEDS, MAX_SYMBOLS, OLHParameters

_symbols = member(OLHParameters, "symbols")
_seeds = member(OLHParameters, "seeds")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> OLHParameters:
    """Read `epsilon`, and `g` and `seeds` unless the best g and all seeds are to be taken."""
    micros = wanted_epsilon("olh", wanted)
    symbols = _symbols("g", "olh", wanted["g"]) if "g" in wanted else best_symbols(micros)
    seeds = _seeds("seeds", "olh", wanted.get("seeds", MAX_SEEDS))
    return OLHParameters(symbols, seeds, truth_threshold(symbols - 1, micros))


def best_symbols(micros: int) -> int:
    """Return the g of the least variance of a rare answer: E + 1, rounded down or up.

    n Var = (E - 1 + g)^2 / ((E - 1)^2 (g - 1)); the part that depends on g is compared exactly.
    """
    e = epsilon.exp_micros(micros)
    near = sorted({min(MAX_SYMBOLS, max(2, int(e) + step)) for step in (1, 2)})
    return min(near, key=lambda g: (e - 1 + g) ** 2 / (g - 1))


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "g": Written(_symbols, "4"),
    "seeds": Written(_seeds, "65536"),
}
AUTHORING = Authoring(KEYS, resolve)
