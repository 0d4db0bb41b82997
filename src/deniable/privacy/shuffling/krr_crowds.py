"""The shuffled crowd of k-RR: its exact epsilon, the worst over all answers of the others.

Model: a crowd divides the n - 1 others into holders of x, holders of z, and holders of each of the
k - 2 other answers; the names of those other answers do not matter. Its delta is computed by
`krr_histograms.py`, and the promise is the largest over all crowds. Exchanging x and z exchanges
their holders, so that every pair of neighbours is among them.

Crowds grow person by person, and two rules end the search early. One more report can only hide
more (an attacker could have added it): a crowd that keeps delta at the largest epsilon so far keeps
it however it grows. And each missing person sends, with probability k low, the uniform report that
everybody sends (`blanket.py`): if the crowd keeps delta when they send nothing else, it keeps delta
whatever they hold.

Finding: wherever all crowds were compared, the worst has nobody at z, some at x, and all
others at one third answer (some may be none). A part of this has a proof: of crowds without anybody
at x or z, the worst has all at one third answer y. For let r of the reports be third answers. Give
each of them one of the answers that the n - 1 others hold in another crowd, drawn without
repetition, and exchange it with y in that report. Reports of those who hold y become ones of those
who hold the answers drawn, a uniform one (of the person who counts) stays uniform: the histogram
becomes one of the other crowd. So nobody can tell more from that one. (r is at most n - 1, unless
all n are third answers: such a histogram speaks for neither x nor z, and never counts.)

`attained` looks at these crowds alone. Without the enumeration that is no upper bound; it is a
lower bound of every true promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from deniable.privacy.shuffling.binomial_tails import GUARD, Numbers, weights
from deniable.privacy.shuffling.epsilon_of_delta import reached, smallest
from deniable.privacy.shuffling.krr_histograms import Histograms, size_of

MOST_WORK = 1_000_000_000
"""The largest count of numbers to compute: some five seconds."""
RULED_OUT = 100
"""The enumeration starts if all work is at most this many times the limit, in the hope that the
rest is ruled out early."""
PLACES = 5
"""The cost of finding a histogram's rank, per pair of its symbols."""
BLANKET = 24
"""The number of different counts of uniform reports where crowds are ruled out together."""
SMALLEST_DELTA = 1e-100
"""Below this, numbers that are too small for a float would count."""


@dataclass(frozen=True)
class Crowd:
    """The answers of the n - 1 others.

    Attributes:
        x, z: the numbers of holders of the two answers that are to be told apart.
        third: the numbers of holders of each other answer that is held, falling.
    """

    x: int
    z: int
    third: tuple[int, ...]

    @property
    def words(self) -> str:
        """The crowd in words."""
        named = [(self.x, "the same answer"), (self.z, "the answer that it is compared with")]
        named += [(count, "a third answer") for count in self.third]
        parts = [f"{n:,} {'holds' if n == 1 else 'hold'} {what}" for n, what in named if n]
        return "of the others " + ", ".join(parts) if parts else "there are no others"


@dataclass(frozen=True)
class Worst:
    """The crowd that hides least of those looked at.

    Attributes:
        epsilon: of this crowd, rounded up to micros; no crowd exceeds it where all were compared.
        at_least: of this crowd, rounded down.
        crowd: the answers of the others.
        crowds: the number of all crowds where all were compared, else 0.
    """

    epsilon: float
    at_least: float
    crowd: Crowd
    crowds: int


def crowds(answers: int, people: int) -> int:
    """Return the number of different crowds of k answers and n people."""
    return sum(
        _partitions(rest, third) * (people - rest)
        for third in range(min(answers - 2, people - 1) + 1)
        for rest in range(third, people)
    )


def _all_work(answers: int, people: int, third: int) -> int:
    """Return the count of numbers to compute if no crowd is ruled out early."""
    symbols = 2 + third + (answers - 2 > third)
    beginnings = sum(
        _partitions(rest, third) * math.comb(people + 1 - rest, 2) for rest in range(third, people)
    )
    return 2 * symbols * size_of(symbols, people) * beginnings


@cache
def _partitions(count: int, parts: int) -> int:
    """Return the number of partitions of `count` into `parts` positive parts."""
    if parts == 0 or count < parts:
        return int(count == parts)
    # Either the smallest part is 1, or 1 can be taken off every part.
    return _partitions(count - 1, parts - 1) + _partitions(count - parts, parts)


class Search:
    """The worst crowd so far, at one delta.

    Args:
        ratio: E.
        answers: k, at least 3.
        people: n.
        local: the epsilon of one report.
        delta: at least 1e-100.
        work: the largest count of numbers to compute.
    """

    def __init__(
        self,
        ratio: float,
        answers: int,
        people: int,
        local: float,
        delta: float,
        work: int = MOST_WORK,
    ) -> None:
        self._ratio, self._answers, self._people = ratio, answers, people
        self._local, self._delta, self._left = local, delta, work
        self._found = Worst(0.0, 0.0, Crowd(people - 1, 0, ()), 0)

    def attained(self, looks: int = 16) -> Worst | None:
        """Return the worst of some crowds with nobody at z, and all at x or one third answer.

        Symbols other than x and z are counted together, which never shows more. None where even
        that would be too much work.

        Args:
            looks: the number of different counts of people at x, the smallest and the largest
                among them.
        """
        others = self._people - 1
        if looks * self._people * size_of(3, self._people) > self._left:
            return None
        space = Histograms(self._ratio, self._answers, 0, self._people)
        places = sorted({others * look // max(1, looks - 1) for look in range(looks)})
        law = space.nobody()
        for count in range(others + 1):
            if count in places:
                full = law
                for _ in range(others - count):
                    full = self._joined(space, full, 2)
                rest = others - count
                self._look(space, full, Crowd(count, 0, (rest,) if rest else ()))
            if count < others:
                law = self._joined(space, law, 0)
        return self._found

    def every(self) -> Worst | None:
        """Return the worst of all crowds; None where that would be too much work."""
        if self.attained() is None:
            return None
        for third in range(min(self._answers - 2, self._people - 1) + 1):
            if _all_work(self._answers, self._people, third) > RULED_OUT * self._left:
                return None
            symbols = 2 + third + (self._answers - 2 > third)
            self._left -= PLACES * symbols**2 * size_of(symbols, self._people)
            if self._left < 0:
                return None
            space = Histograms(self._ratio, self._answers, third, self._people)
            self._grow(space, space.nobody(), [], self._people - 1)
        if self._left < 0:
            return None
        return replace(self._found, crowds=crowds(self._answers, self._people))

    def _grow(self, space: Histograms, law: Numbers, held: list[int], left: int) -> None:
        """Look at all crowds that begin with `held`: holders of z, of third answers, then of x."""
        order = [1, *range(2, space.held), 0]
        place = len(held)
        symbol, final = order[place], place == len(order) - 1
        if held and not final and self._hopeless(space, law, left):
            return
        most = min(left, held[-1]) if symbol > 2 else left
        for count in range(most + 1):
            if count:
                law = self._joined(space, law, symbol)
                if self._left < 0 or self._hidden(space, law):
                    return
            if final and count == left:
                z, *third = held
                self._look(space, law, Crowd(count, z, tuple(third)))
            elif not final and (symbol < 2 or count):
                self._grow(space, law, [*held, count], left - count)

    def _joined(self, space: Histograms, law: Numbers, symbol: int) -> Numbers:
        return self._counted(space, space.joined(law, symbol))

    def _counted(self, space: Histograms, law: Numbers) -> Numbers:
        self._left -= 2 * space.symbols * len(law)  # it is looked at once, too
        return law

    def _hidden(self, space: Histograms, law: Numbers) -> bool:
        """Tell whether a crowd keeps delta at the largest epsilon so far."""
        return space.delta(law, math.exp(self._found.epsilon), GUARD) <= self._delta

    def _hopeless(self, space: Histograms, law: Numbers, left: int) -> bool:
        """Tell whether all crowds with this beginning keep delta, by the blanket.

        Each of the `left` others sends a uniform report with probability k low; otherwise the
        attacker is told the answer. One more uniform report hides more, so that neighbouring counts
        share the smallest.
        """
        ends = np.unique(np.append(np.linspace(0, left, BLANKET).astype(np.int64), left + 1))
        # low = 1 / (E + k - 1), so that a report is uniform with probability k / (E + k - 1).
        chances, _ = weights(left, self._answers / (self._ratio + self._answers - 1), ends)
        done, total, grown = 0, 0.0, math.exp(self._found.epsilon)
        for count, chance in zip(ends[:-1].tolist(), chances.tolist(), strict=True):
            for _ in range(count - done):
                law = self._counted(space, space.blurred(law))
            done = count
            total += chance * space.delta(law, grown, GUARD)
            if total > self._delta:
                return False
        return True

    def _look(self, space: Histograms, law: Numbers, crowd: Crowd) -> None:
        """Keep a crowd if it is worse than all before."""
        if self._hidden(space, law):
            return

        def failing(guard: float) -> Callable[[float], float]:
            return lambda epsilon: space.delta(law, math.exp(epsilon), guard)

        epsilon = smallest(failing(GUARD), self._local, self._delta)
        at_least = reached(failing(-GUARD), self._local, self._delta)
        if epsilon > self._found.epsilon:
            self._found = Worst(epsilon, at_least, crowd, 0)
