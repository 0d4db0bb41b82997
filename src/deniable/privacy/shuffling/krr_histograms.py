"""The law of a shuffled crowd's histogram under k-RR, over all possible histograms.

Model: with low for the probability of another symbol and E low for one's own, a person who holds
y adds one report, whose generating function is low (T + (E - 1) t_y), T the sum of all t. So the
others' histogram has

    O(t) = low^(n-1) product over y of (T + (E - 1) t_y)^(people who hold y).

The one that counts holds x or z; with g = e^eps, the coefficients of

    low [ (E - g) t_x - (g E - 1) t_z - (g - 1) (T - t_x - t_z) ] O(t)

are P(histogram | x) - g P(histogram | z), and delta is the sum of those above 0. Symbols other than
x and z that nobody holds stand in T alone, so that their reports are alike: they are one symbol
with the weight of all of them.

A law of m reports is a flat array over all histograms of m reports of s symbols, by rank: with the
partial sums c_i = h_1 + ... + h_i,

    rank = sum over i < s of C(c_i + i - 1, i),

which no two share, which does not depend on h_s, and is below C(m + s - 1, s - 1): the places of
fewer reports are the first ones of more.

Accuracy: laws are sums of products of positive numbers, each person adds a few roundings of
1.1e-16 of a number; GUARD, 1e-9 of it, is far more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.shuffling.binomial_tails import Numbers

Places = NDArray[np.int64]


class Histograms:
    """Laws of crowds in which a given number of symbols other than x and z are held.

    Cost: of each step a pass over C(m + s - 1, s - 1) numbers for each of the s symbols.

    Attributes:
        symbols: s. 0 is x, 1 is z, then those that are held, then all that nobody holds, if any.
        held: the number of symbols that people may hold, x and z included.

    Args:
        ratio: E.
        answers: k, at least 2.
        third: the number of held symbols other than x and z.
        people: n.
    """

    def __init__(self, ratio: float, answers: int, third: int, people: int) -> None:
        unheld = answers - 2 - third
        self.held = 2 + third
        self._ratio, self._low = ratio, 1 / (ratio + answers - 1)
        self._weights = [1.0] * self.held + ([float(unheld)] if unheld else [])
        self.symbols = len(self._weights)
        self._before = _places_before(self.symbols, people)
        self._sizes = [size_of(self.symbols, count) for count in range(people + 1)]

    def nobody(self) -> Numbers:
        """Return the law of no others."""
        return np.ones(1)

    def joined(self, law: Numbers, symbol: int) -> Numbers:
        """Return the law after one more person who holds a symbol.

        The last symbol may stand for several that are counted together; the person holds one.
        """
        chances = [self._low * weight for weight in self._weights]
        chances[symbol] += self._low * (self._ratio - 1)
        return self._spread(law, chances)

    def blurred(self, law: Numbers) -> Numbers:
        """Return the law after one more report that is uniform over all k symbols."""
        total = math.fsum(self._weights)
        return self._spread(law, [weight / total for weight in self._weights])

    def delta(self, law: Numbers, grown: float, guard: float) -> float:
        """Return delta at g = `grown`, for one that counts and others of a law.

        Args:
            law: of the others.
            grown: g, at least 1.
            guard: the relative error given to every number, against us; below 0, in our favour.
        """
        if grown >= self._ratio:
            return 0.0
        # The coefficients of the model's bracket, symbol by symbol. Those that count against the
        # promise are made larger by the guard, those that count for it smaller.
        worth = [-(grown - 1) * (1 - guard) * weight for weight in self._weights]
        worth[0] = (self._ratio - grown) * (1 + guard)
        worth[1] = -(grown * self._ratio - 1) * (1 - guard)
        gains = self._spread(law, worth)
        return self._low * (1 + guard) * float(np.maximum(gains, 0.0).sum())

    def _spread(self, law: Numbers, chances: list[float]) -> Numbers:
        """Return sums over the symbol of the last report, each with its factor."""
        size = self._sizes[self._sizes.index(len(law)) + 1]
        padded = np.append(law, 0.0)  # an impossible predecessor has probability 0
        longer = np.zeros(size)
        # A rank does not depend on h_s: a report of the last symbol leaves every place as it is.
        longer[: len(law)] = chances[-1] * law
        for chance, before in zip(chances[:-1], self._before, strict=True):
            longer += chance * padded.take(before[:size], mode="clip")
        return longer


def size_of(symbols: int, count: int) -> int:
    """Return the number of histograms of `count` reports over `symbols` symbols."""
    return math.comb(count + symbols - 1, symbols - 1)


def _places_before(symbols: int, people: int) -> list[Places]:
    """Return, for each symbol but the last, every histogram's rank with one report of it less.

    A histogram without a report of that symbol gets a place beyond all.
    """
    sums = np.zeros((1, 0), dtype=np.int64)
    for length in range(1, symbols):
        heads = [sums[: size_of(length, last)] for last in range(people + 1)]
        ends = np.repeat(np.arange(people + 1), [len(head) for head in heads])
        sums = np.column_stack([np.concatenate(heads), ends])
    below = np.column_stack([np.zeros(len(sums), dtype=np.int64), sums[:, :-1]])
    found = []
    for symbol in range(symbols - 1):
        less = sums.copy()
        less[:, symbol:] -= 1  # c_i for all i from the symbol on: they are partial sums
        before = _ranks(np.maximum(less, 0), people)
        found.append(np.where(sums[:, symbol] > below[:, symbol], before, len(sums)))
    return found


def _ranks(sums: Places, people: int) -> Places:
    total = np.zeros(len(sums), dtype=np.int64)
    for place in range(sums.shape[1]):
        # C(c_i + i - 1, i) with i = place + 1.
        table = [math.comb(value + place, place + 1) for value in range(people + 1)]
        total += np.array(table, dtype=np.int64)[sums[:, place]]
    return total
