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
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np
from scipy import optimize

from deniable.audit.hypotheses import Check
from deniable.audit.reading import Report, Said, kept_chance, said, support_of
from deniable.audit.sample.outcome_chances import Block, Chance, Coin, Kept
from deniable.audit.sample.permanent import permanent_outcomes
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import (
    Bits,
    Own,
    Points,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.thresholds import ONE, to_text

POWER = 2.3263
"""The normal quantile of 99%: standard deviations that give a test a power of 99%."""
STEP = 1 << 22
"""A threshold is moved by one part in 2^22, to differentiate chances numerically."""
DERIVED = "keep"
"""All chances that follow from the odds of a profile's mechanism, off by one share."""

NUMBER = "number"
"""The first word in the names of classes that count draws of a public number's blocks."""
OWN = "own"
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

    def add(self, answer: Answer, reports: Sequence[Report]) -> None:
        """Count the outcomes of reports of one answer, each of another device."""
        for name, seen in outcomes(self.parameters, answer, reports):
            self._count(name, seen)

    def add_permanent(self, side: int, answer: Answer, reports: Sequence[Report]) -> None:
        """Count the coins of the permanent stage, from reports that show it: `permanent.py`."""
        for name, yes, count, chance in permanent_outcomes(self.parameters, answer, reports):
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
    threshold is 0 or 2^64) has no probability. The blocks of a public number's law that no
    threshold moves are probabilities of their own.
    """
    # One coin of which the thresholds of tables of all sizes follow: each of them is tested by its
    # own share, and that coin itself is tossed nowhere (protocol/profile_truth.py).
    if isinstance(parameters, TruthParameters):
        yield DERIVED, None, 1.0
        return
    for place, number in enumerate(parameters.channel.numbers):
        if place not in by_threshold(parameters):
            for block, (_, chance) in enumerate(number.blocks or ()):
                if chance:
                    yield f"{number.name}[{block}]", Alone((NUMBER, place, block)), 1.0
    for name, less in _moved(parameters):
        yield name, less, -1 / STEP


@lru_cache(maxsize=64)
def by_threshold(parameters: Parameters) -> frozenset[int]:
    """Return the places of the public numbers of one block, or whose law some threshold moves."""
    numbers, others = parameters.channel.numbers, [less for _, less in _moved(parameters)]
    return frozenset(
        place
        for place, number in enumerate(numbers)
        if sum(chance > 0 for _, chance in number.blocks or ()) < 2
        or any(less.channel.numbers[place].blocks != number.blocks for less in others)
    )


def _moved(parameters: Parameters) -> Iterator[tuple[str, Parameters]]:
    """Yield the parameters with one threshold a little lower, by its name."""
    published = parameters.published()
    for name, value in published.items():
        if isinstance(value, str) and value.isdecimal() and STEP < int(value) < ONE:
            yield name, type(parameters).from_published({**published, name: _less(value)})
        listed = value if isinstance(value, list) else []
        for i, each in enumerate(listed):
            if isinstance(each, str):
                other = [*listed[:i], _less(each), *listed[i + 1 :]]
                yield (
                    f"{name}[{i}]",
                    type(parameters).from_published({**published, name: other}),
                )


def _less(threshold: str) -> str:
    return to_text(int(threshold) - int(threshold) // STEP)


def outcomes(
    parameters: Parameters, answer: Answer, reports: Sequence[Report]
) -> Iterator[tuple[object, Class]]:
    """Yield the classes of outcomes of one answer's reports, each with a name."""
    for group in said(parameters.channel, answer, reports):
        match group.rest:
            case Bits():
                shown, held = group.tables()
                for name, mask in (("one", held), ("zero", ~held)):
                    chance = Coin(name, group.part, group.public)
                    yes, count = int((shown & mask).sum()), int(mask.sum())
                    yield (group.part, group.rest.width, name), Class(yes, count, chance)
            case Symbol() | Sign() | Subset() | Points():
                yield from _of_support(group)
            case rest:
                raise unknown_kind("test of each probability", rest)
    yield from _of_blocks(parameters, reports)


def _of_support(group: Said) -> Iterator[tuple[object, Class]]:
    """Yield the reports that support their answer, by chance: a number that is no sign has its."""
    supports, chance_of = support_of(group.rest), cache(lambda own: kept_chance(group.rest, own))
    yes: Counter[float] = Counter()
    owns: dict[float, Own] = {}
    counts: Counter[float] = Counter()
    for own, value in zip(group.owns, group.values, strict=True):
        chance = chance_of(own)
        owns.setdefault(chance, own)
        counts[chance] += 1
        yes[chance] += supports(own, value)
    for chance, count in counts.items():
        law = Kept(owns[chance], group.part, group.public)
        yield (group.part, OWN, chance), Class(yes[chance], count, law)


def _of_blocks(parameters: Parameters, reports: Sequence[Report]) -> Iterator[tuple[object, Class]]:
    """Yield the draws of each block of a public number, among those of no earlier block.

    Where no threshold moves the law, each block is tested alone, so that all draws count.
    """
    for place, number in enumerate(parameters.channel.numbers):
        if sum(chance > 0 for _, chance in number.blocks or ()) < 2:
            continue
        ends = np.cumsum([count for count, _ in number.blocks or ()])
        drawn = np.array([public[place] for public, _ in reports], dtype=np.int64)
        at = np.searchsorted(ends, drawn, side="right")
        for block in range(len(ends)):
            after = block if place in by_threshold(parameters) else 0
            yes, count = int((at == block).sum()), int((at >= after).sum())
            yield (NUMBER, place, block), Class(yes, count, Block(place, block, after))


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
