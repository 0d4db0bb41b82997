"""OUE from what people wrote: `epsilon` (with `epsilon_forever`), and of sets `per`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from deniable.authoring.mechanisms.members import check_per, members_of
from deniable.authoring.mechanisms.rappor_tuning import TwoStage
from deniable.authoring.wanted import (
    EPSILONS,
    check_longer,
    share_of,
    wanted_epsilon,
    wanted_forever,
)
from deniable.authoring.written import Authoring, Written
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.oue import OUEParameters, bits_of
from deniable.protocol.thresholds import ONE, as_fraction, ceil_threshold, floor_threshold
from deniable.protocol.unary import set_exponents

_HALF = ONE // 2


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> OUEParameters:
    """Read `epsilon` (with `epsilon_forever` for a permanent stage) and, of sets, `per`."""
    members = members_of("oue", wanted, domain)
    bits = bits_of(domain, absent, members)
    pairs = set_exponents(bits, members)[0] if members else 1
    forever = wanted_forever("oue", wanted)
    once = _share("epsilon", wanted_epsilon("oue", wanted), pairs)
    if forever is None:
        return OUEParameters(bits, ONE, 0, _HALF, _zero(once), members)
    forever = _share("epsilon_forever", forever, pairs)
    check_longer("oue", once, forever)
    return OUEParameters(bits, *_two_stages(once, forever), members)


def _share(name: str, micros: int, pairs: int) -> int:
    """Return the part of epsilon of each pair of bits that can differ, in micros, rounded down."""
    return share_of(name, "oue", micros, pairs, "members", "Raise it.")


def _zero(micros: int) -> int:
    """Return the threshold of 1/(E + 1), rounded up: beside 1/2 the ratio is (1 - q)/q."""
    zero = ceil_threshold(1 / (epsilon.exp_micros(micros) + 1))
    while not epsilon.within(Fraction(ONE - zero, zero), micros):
        zero += 1
    return zero


def _two_stages(once: int, forever: int) -> TwoStage:
    permanent = _zero(forever)
    # p2 = (1 - q1 - q*)/(1 - 2 q1), with q1 = flip and q* = other (docs/mathematics.md, section 6).
    flip, other = as_fraction(permanent), 1 / (epsilon.exp_micros(once) + 1)
    # Where the two epsilons differ by a few micros, the probability can come out a hair above 1.
    report = min(ONE, floor_threshold((1 - flip - other) / (1 - 2 * flip)))
    while not epsilon.within(_ratio(flip, as_fraction(report)), once):
        report -= 1
    return TwoStage(_HALF, permanent, report, ONE - report)


def _ratio(flip: Fraction, report: Fraction) -> Fraction:
    """Return (1 - q)/q of the chain; its other probability is 1/2 whatever `report` is."""
    q = flip * report + (1 - flip) * (1 - report)
    return (1 - q) / q


KEYS: Mapping[str, Written] = {
    **EPSILONS,
    "per": Written(check_per, '"bit"'),
}
AUTHORING = Authoring(KEYS, resolve)
