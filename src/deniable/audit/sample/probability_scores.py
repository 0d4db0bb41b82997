"""Score tests of each probability of an encoder: its estimated error, from reports of two answers.

Model: reports of an answer are taken apart into yes/no outcomes that are independent and fall into
classes, each with an exact chance: the answer's own symbol or sign was sent, a bit that the answer
sets is 1, one that it does not set is 1; and the same for a permanent response by itself
(`permanent.py`). If a threshold is off by a share x, the chance p_c of a class moves by x d_c. With
k_c "yes" among the n_c outcomes of class c,

    S = sum over c of d_c (k_c - n_c p_c) / (p_c (1 - p_c)),
    J = sum over c of d_c^2 n_c / (p_c (1 - p_c)),

S / J estimates x, with a standard error of 1 / sqrt(J): no test of x alone has more power.

Guarantees: the p-value is Chernoff's bound on the tails of S, so that the level holds for every
number of reports, however skewed. It is twice exp(-z^2/2) for z standard deviations, about: an
error x is seen, 99 times in 100, from J x^2 = (sqrt(2 ln(2/alpha)) + 2.33)^2 on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from scipy import optimize

from deniable.audit.channel_checks import own_support
from deniable.audit.channel_checks_ngrams import parts_of
from deniable.audit.channel_checks_profiles import bit_tables
from deniable.audit.hypotheses import Check
from deniable.audit.profile_reading import BITS, kept_chance, own_rest, room, shown_by
from deniable.audit.reading import Record, bit_table, held_table, number
from deniable.audit.sample.outcome_chances import Bit, Chance, Group, Kept, Order, Support
from deniable.audit.sample.permanent import permanent_outcomes
from deniable.mechanisms.base import Floats
from deniable.protocol import (
    Answer,
    CoefficientsParameters,
    InpEMParameters,
    NGramsParameters,
    Parameters,
    PrefixesParameters,
    ProfileParameters,
)
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.thresholds import ONE, to_text
from deniable.protocol.unary import UnaryParameters

POWER = 2.3263
"""The normal quantile of 99%: standard deviations that give a test a power of 99%."""
STEP = 1 << 22
"""A threshold is moved by one part in 2^22, to differentiate chances numerically."""
DERIVED = "keep"
"""All chances that follow from the odds of a profile's mechanism, off by one share."""

GROUP = "group"
"""The first word in the names of classes that count draws of a group."""
SHOWN = "permanent"
"""The first word in the names of classes that are seen in the permanent response itself."""


@dataclass(frozen=True)
class Alone:
    """One class whose chance is off by itself, and no other with it."""

    name: object


Moved = Parameters | Alone | None
"""The direction of an error: other parameters, one class alone, or (None) all chances together."""


@dataclass(frozen=True)
class Class:
    """Outcomes with one chance."""

    yes: int
    count: int
    chance: Chance


@dataclass
class Tally:
    """Outcomes of all reports so far, by class.

    Attributes:
        parameters: as published.
        classes: by any name that tells them apart.
    """

    parameters: Parameters
    classes: dict[object, Class] = field(default_factory=dict)

    def add(self, answer: Answer, records: Sequence[Record]) -> None:
        """Count the outcomes of reports of one answer, each of another device."""
        for name, seen in outcomes(self.parameters, answer, records):
            self._count(name, seen)

    def add_permanent(self, side: int, answer: Answer, records: Sequence[Record]) -> None:
        """Count the coins of the permanent stage, from reports that show it: `permanent.py`."""
        for name, yes, count, chance in permanent_outcomes(self.parameters, answer, records):
            self._count((SHOWN, side, name), Class(yes, count, chance))

    def merge(self, other: Tally) -> None:
        """Add the counts of other reports of the same field."""
        for name, seen in other.classes.items():
            self._count(name, seen)

    def _count(self, name: object, seen: Class) -> None:
        before = self.classes.get(name)
        yes, count = (before.yes, before.count) if before else (0, 0)
        self.classes[name] = Class(yes + seen.yes, count + seen.count, seen.chance)

    def errors(self) -> dict[str, Error]:
        """Return the error of each probability that some outcome here depends on, by name."""
        named = {
            name: c
            for name, c in self.classes.items()
            if c.count and 0 < c.chance(self.parameters) < 1
        }
        names, live = tuple(named), list(named.values())
        chances = np.array([c.chance(self.parameters) for c in live])
        yes, counts = (np.array([getattr(c, n) for c in live], float) for n in ("yes", "count"))
        found = {}
        for name, moved, share in directions(self.parameters):
            slopes = _slopes(moved, share, named, chances)
            if live and bool(np.any(np.abs(slopes) > 1e-9)):
                found[name] = Error(name, slopes, chances, yes, counts, names)
        return found


@dataclass(frozen=True)
class Error:
    """The error of one probability, as a share of it.

    Attributes:
        name: of the threshold.
        slopes, chances, yes, counts: d, p, k and n of every class.
        classes: their names.
    """

    name: str
    slopes: Floats
    chances: Floats
    yes: Floats
    counts: Floats
    classes: tuple[object, ...] = ()

    @property
    def weights(self) -> Floats:
        """The contribution of one "yes" of each class to S: d / (p (1 - p))."""
        return np.asarray(self.slopes / (self.chances * (1 - self.chances)))

    @property
    def information(self) -> float:
        """J, the Fisher information of all outcomes about x."""
        return float((self.slopes * self.weights * self.counts).sum())

    def shown(self, side: int) -> float:
        """Return the part of J from the permanent responses to one of the two answers."""
        seen = [isinstance(n, tuple) and n[:2] == (SHOWN, side) for n in self.classes]
        return float((self.slopes * self.weights * self.counts)[seen].sum())

    @property
    def score(self) -> float:
        """S, the score."""
        return float((self.weights * (self.yes - self.counts * self.chances)).sum())

    @property
    def off(self) -> float:
        """The estimated error, as a share of the probability."""
        return self.score / self.information

    @property
    def std_error(self) -> float:
        """The standard error of `off`."""
        return 1 / math.sqrt(self.information)

    def seen(self, alpha: float) -> float:
        """Return the smallest error that would be found 99 times in 100."""
        return deviations(alpha) * self.std_error

    def check(self) -> Check:
        """Test that the probability is as declared; see the guarantee above."""
        bound = _chernoff(self.weights, self.chances, self.counts, self.score)
        name = f"{self.name} is off by {self.off:+.2%} +- {self.std_error:.2%}"
        return Check(name, self.score, min(1.0, 2 * bound))


def _slopes(moved: Moved, share: float, named: Mapping[object, Class], before: Floats) -> Floats:
    """Return d of every class."""
    if moved is None:
        return before
    if isinstance(moved, Alone):
        return np.where([name == moved.name for name in named], before, 0.0)
    after = np.array([one.chance(moved) for one in named.values()])
    return np.asarray((after - before) / share)


def deviations(alpha: float) -> float:
    """Return the size of an error that is found 99 times in 100, in standard deviations."""
    # Chernoff: 2 exp(-z^2/2) = alpha at z = sqrt(2 ln(2/alpha)); POWER more for the power of 99%.
    return math.sqrt(2 * math.log(2 / alpha)) + POWER


def directions(parameters: Parameters) -> Iterator[tuple[str, Moved, float]]:
    """Yield every probability with parameters that have a little less, and the share of change.

    None stands for all chances together off by the same share. A stage that does nothing (its
    threshold is 0 or 2^64) has no probability.
    """
    if isinstance(parameters, PrefixesParameters) and parameters.groups > 1:
        for group in range(parameters.groups):
            yield f"weights[{group}]", Alone((GROUP, group)), 1.0
    if isinstance(parameters, TruthParameters):
        yield DERIVED, None, 1.0
        return
    for name, value in parameters.published().items():
        threshold = getattr(parameters, name, None)
        if name == "orders" and isinstance(parameters, CoefficientsParameters):
            for i, each in enumerate(parameters.orders):
                less = (*parameters.orders[:i], each - each // STEP, *parameters.orders[i + 1 :])
                yield f"{name}[{i}]", replace(parameters, orders=less), -1 / STEP
        elif isinstance(threshold, int) and isinstance(value, str) and STEP < threshold < ONE:
            yield name, _moved(parameters, name, threshold), -1 / STEP


def _moved(parameters: Parameters, name: str, threshold: int) -> Parameters:
    less = to_text(threshold - threshold // STEP)
    return type(parameters).from_published({**parameters.published(), name: less})


def outcomes(
    parameters: Parameters, answer: Answer, records: Sequence[Record]
) -> Iterator[tuple[object, Class]]:
    """Yield the classes of outcomes of one answer's reports, each with a name."""
    if isinstance(parameters, ProfileParameters):
        yield from _of_profiles(parameters, answer, records)
    elif isinstance(parameters, NGramsParameters):
        for part, (shape, own, _, part_records) in enumerate(parts_of(parameters, answer, records)):
            name = "gram" if part else "whole"
            yield from _of_bits(name, shape, own, part_records)
    elif isinstance(parameters, UnaryParameters):
        yield from _of_bits("", parameters, answer, records)
    else:
        yes, count = own_support(parameters, answer, records)
        yield "own", Class(yes, count, Support())
        if isinstance(parameters, PrefixesParameters):
            drawn = Counter(number(record, "group") for record in records)
            for group in range(parameters.groups):
                yield (GROUP, group), Class(drawn[group], len(records), Group(group))


def _of_bits(
    part: str, parameters: UnaryParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[tuple[object, Class]]:
    shown, held = bit_table(parameters, records), held_table(parameters, answer, records)
    for name, mask in (("q_star", held), ("p_star", ~held)):
        yield (part, name), Class(int((shown & mask).sum()), int(mask.sum()), Bit(name, part))


def _of_profiles(
    parameters: ProfileParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[tuple[object, Class]]:
    if isinstance(parameters, BITS):
        yield from _of_profile_bits(parameters, answer, records)
        return

    @cache
    def known(public: tuple[int, ...]) -> tuple[int, object, Chance]:
        name = kept_chance(parameters, answer, public)
        return own_rest(parameters, answer, public), name, Kept(answer, public)

    found: dict[object, Class] = {}
    for record in records:
        public, rest = shown_by(parameters, record)
        own, name, chance = known(public)
        before = found.get(name) or Class(0, 0, chance)
        found[name] = Class(before.yes + (rest == own), before.count + 1, before.chance)
    yield from found.items()
    if isinstance(parameters, CoefficientsParameters):
        yield from _of_orders(parameters, records)


def _of_profile_bits(
    parameters: ProfileParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[tuple[object, Class]]:
    shown, held = bit_tables(parameters, answer, records)
    if isinstance(parameters, InpEMParameters):
        right = shown == held
        yield "bit", Class(int(right.sum()), right.size, Support())
        return
    sizes = np.array([room(parameters, shown_by(parameters, record)[0]) for record in records])
    others = (np.arange(shown.shape[1]) < sizes[:, None]) & ~held
    for place, mask in enumerate((held, others)):
        yield place, Class(int((shown & mask).sum()), int(mask.sum()), Support(place))


def _of_orders(
    parameters: CoefficientsParameters, records: Sequence[Record]
) -> Iterator[tuple[object, Class]]:
    """Yield the draws of each order, among those without a lower one."""
    drawn = np.array([shown_by(parameters, record)[0][0] for record in records])
    taken = np.searchsorted(np.cumsum(parameters.counts), drawn, side="right")
    for order in range(len(parameters.orders)):
        yes, count = int((taken == order).sum()), int((taken >= order).sum())
        yield ("order", order), Class(yes, count, Order(order))


def _chernoff(weights: Floats, chances: Floats, counts: Floats, score: float) -> float:
    """Return exp(-max over t of (t s - K(t))): at least P(S >= s), or P(S <= s) if s < 0.

    K is the logarithm of E exp(t S), S a sum of independent centred outcomes.
    """
    if score == 0:
        return 1.0
    steps = weights if score > 0 else -weights
    scale = 1 / float(np.abs(steps).max())
    steps, target = steps * scale, abs(score) * scale

    def exponent(t: float) -> float:
        grown = np.logaddexp(np.log1p(-chances), np.log(chances) + t * steps)
        return float((counts * (grown - t * steps * chances)).sum() - t * target)

    most = float((counts * (np.maximum(steps, 0) - steps * chances)).sum())
    if target >= most * (1 - 1e-12):
        return 0.0 if target > most * (1 + 1e-9) else math.exp(exponent(700.0))
    least = optimize.minimize_scalar(exponent, bounds=(0.0, 50.0), method="bounded")
    return math.exp(min(0.0, float(least.fun)))
