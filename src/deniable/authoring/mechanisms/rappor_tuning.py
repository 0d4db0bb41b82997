"""From f, p, q or a wanted epsilon to RAPPOR's four thresholds, rounded inwards."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from deniable import _validate
from deniable.authoring.wanted import check_longer, share_of, wanted_epsilon, wanted_forever
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.thresholds import ONE, as_fraction, ceil_threshold, floor_threshold


class TwoStage(NamedTuple):
    """The four thresholds of a two-stage unary mechanism."""

    permanent_one: int
    permanent_zero: int
    report_one: int
    report_zero: int


def from_letters(named: Mapping[str, object]) -> TwoStage:
    """Read the paper's probabilities: p and q, and f (by default 0)."""
    if "p" not in named or "q" not in named:
        raise InvalidParameter(
            "rappor needs both 'p' and 'q' (and 'f' for a permanent stage).", "Add both."
        )
    f = Fraction(_validate.probability("f", "rappor", named.get("f", 0)))
    p = _validate.probability("p", "rappor", named["p"])
    q = _validate.probability("q", "rappor", named["q"])
    if not q > p:
        raise _validate.invalid("q", "rappor", f"greater than 'p' = {p}", q)
    permanent = floor_threshold(1 - f / 2)
    return TwoStage(permanent, ONE - permanent, floor_threshold(q), ceil_threshold(p))


def from_epsilon(named: Mapping[str, object], most: int, least: int) -> TwoStage:
    """Choose the stages that spend a wanted epsilon with the least variance.

    Two answers differ in `most` bits one way and `least` the other (h and h for Bloom filters).
    The chain gets q* = 1/2 and p* = 1/(E + 1), E = exp(epsilon / most): the unary response with
    the least variance for rare answers. Where fewer bits can change one way than the other (a
    single bit: 1 and 0), every bit gets Warner's symmetric response instead. With
    `epsilon_forever` the permanent stage takes f from theorem 1, and p and q solve

        q* = (1 - f/2) q + (f/2) p,      p* = (f/2) q + (1 - f/2) p.

    Where that asks for p < 0, p is 0 and q spends the epsilon alone.
    """
    once = wanted_epsilon("rappor", named, ", or the probabilities 'p' and 'q'")
    forever, permanent, single = wanted_forever("rappor", named), ONE, least < most
    if forever is not None:
        check_longer("rappor", once, forever)
        permanent = _permanent(_share("epsilon_forever", forever, most + least))
    micros = _share("epsilon", once, most + least if single else most)
    one, zero = _solve(as_fraction(permanent), epsilon.exp_micros(micros), single)
    # Where the two epsilons differ by a few micros, q can come out a hair above 1.
    return _inwards(permanent, min(ONE, floor_threshold(one)), ceil_threshold(zero), micros, single)


def _share(name: str, micros: int, factors: int) -> int:
    """Return the part of epsilon of each of several equal factors, in micros, rounded down."""
    what, fix = "factors of one millionth each", "Raise it, or use fewer hashes."
    return share_of(name, "rappor", micros, factors, what, fix)


def _permanent(micros: int) -> int:
    """Return the threshold of 1 - f/2 when one factor (1 - f/2)/(f/2) may spend `micros`."""
    e = epsilon.exp_micros(micros)
    keep = floor_threshold(e / (e + 1))
    while not epsilon.within(Fraction(keep, ONE - keep), micros):
        keep -= 1
    return keep


def _solve(keep: Fraction, ratio: Fraction, single: bool) -> tuple[Fraction, Fraction]:
    """Return q and p of the fresh stage."""
    q_star = ratio / (ratio + 1) if single else Fraction(1, 2)
    p_star = 1 / (ratio + 1)
    flip = 1 - keep
    # The two equations of `from_epsilon`, solved for q and p.
    one = (keep * q_star - flip * p_star) / (keep - flip)
    zero = (keep * p_star - flip * q_star) / (keep - flip)
    if zero < 0:
        # With p = 0: q*/p* = keep/flip is fixed, so (1 - p*)/(1 - q*) = ratio * flip/keep = r,
        # that is (1 - flip q)/(1 - keep q) = r.
        r = ratio * flip / keep
        return (r - 1) / (keep * r - flip), Fraction(0)
    return one, zero


def _inwards(permanent: int, one: int, zero: int, micros: int, single: bool) -> TwoStage:
    """Move q and p towards each other until the exact ratio is within the wanted epsilon."""
    keep, step = as_fraction(permanent), 1
    while True:
        report_one, report_zero = as_fraction(one), as_fraction(zero)
        q_star = keep * report_one + (1 - keep) * report_zero
        p_star = keep * report_zero + (1 - keep) * report_one
        up, down = q_star / p_star, (1 - p_star) / (1 - q_star)
        if epsilon.within(max(up, down) if single else up * down, micros):
            return TwoStage(permanent, ONE - permanent, one, zero)
        one, zero, step = one - step, zero + step, step * 2
