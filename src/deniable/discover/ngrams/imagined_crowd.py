"""An imagined crowd through the paper's way: numbers with the right noise, and no reports.

Model: n people report r of P places each, so that n r / P report a place and n r (r - 1) /
(P (P - 1)) a pair of places. What is done with real numbers is done with normal ones of the same
variance: the first look at every place (`imagined_marginals`), the joint tables (`normal_model`),
cliques, and the test, in which strings that are no candidates add the sum of the squares of their
shares, divided by the cells, to every variance.

Accuracy: the share at which half of all strings are found is within 5% of that of simulated reports
(`tests/statistical/test_statistical_plan_ngrams.py`; docs/plan.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

import numpy as np

from deniable._distributions import normal_isf, normal_sf
from deniable.decode.significance import holm
from deniable.discover.ngrams.cliques import Budget, cliques
from deniable.discover.ngrams.graph import Graph, Pair
from deniable.discover.ngrams.imagined_marginals import Look, Place, widened
from deniable.discover.ngrams.joint import Mask
from deniable.discover.ngrams.marginals import ALPHA
from deniable.discover.ngrams.normal_model import Seen, likeliest
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Floats
from deniable.protocol.ngrams import possible_grams

STEPS = 100_000
"""The budget of a search for cliques in an imagined graph."""
_CELLS = 30_000
_MOST_CROWDS = 8
"""A chance is taken from crowds with `_CELLS` cells in all their tables, as far as that goes, and
from at most `_MOST_CROWDS` crowds."""


@dataclass(frozen=True)
class Imagined:
    """Who is asked, how, and how it is decoded.

    Attributes:
        mechanism: of the reports.
        letters: of the alphabet.
        people: who report.
        threshold: of a pair, times delta.
        most: candidates that are tested.
    """

    mechanism: NGrams
    letters: int
    people: int
    threshold: float
    most: int

    def found(self, shares: Floats, rng: np.random.Generator) -> Mask:
        """Tell which of several strings are found.

        The strings are random, of full length; whoever holds none of them holds one of very many.

        Cost: that of `likeliest` for all pairs of places: hundredths of a second.

        Args:
            shares: of the strings, at most 1 together.
            rng: the only source of randomness.
        """
        looks = self._looks(shares, rng)
        if not all(len(look.shares) for look in looks):
            return np.zeros(len(shares), dtype=np.bool_)
        parts = tuple(tuple(map(str, range(len(look.shares)))) for look in looks)
        graph = Graph(parts, self._joined(looks, shares, rng))
        spelled = list(islice(cliques(graph, Budget(STEPS)), self.most))
        every, holds = set(spelled), np.column_stack([look.holds for look in looks])
        candidates = np.array([tuple(own) in every for own in holds.tolist()], dtype=np.bool_)
        return self._tested(shares, candidates, len(spelled), rng)

    @property
    def guess(self) -> float:
        """A share that is found, roughly: from the noise of places, pairs and whole strings."""
        one, whole = float(self._place.noise(0.0)), float(self.mechanism.variance(self.people))
        first = float(normal_isf(ALPHA / self._place.dictionary))
        pair = 2 * one / math.sqrt(self._at_pair) if self._pairs else 0.0
        test = float(normal_isf(ALPHA / self.most)) * math.sqrt(whole)
        return max(first * math.sqrt(one / self._place.people), pair, test)

    def crowds(self, strings: int, least: int = 1) -> int:
        """Return how many crowds are imagined to know a chance: fewer where each takes longer."""
        cells = max(1, len(self._pairs)) * strings**2
        return max(least, min(_MOST_CROWDS, _CELLS // cells))

    @cached_property
    def _place(self) -> Place:
        shape = self.mechanism.parameters
        people = max(1.0, self.people * shape.grams / shape.places)
        dictionary = possible_grams(self.letters, shape.n)
        return Place(self.mechanism.gram, people, self.letters, dictionary)

    @cached_property
    def _pairs(self) -> list[Pair]:
        return list(combinations(range(self.mechanism.parameters.places), 2))

    @property
    def _at_pair(self) -> float:
        # Of C(P, 2) pairs of places a person reports C(r, 2).
        chosen = math.comb(self.mechanism.parameters.grams, 2)
        return max(1.0, self.people * chosen / max(1, len(self._pairs)))

    def _looks(self, held: Floats, rng: np.random.Generator) -> list[Look]:
        """Return the first look at every place: of random strings, filled up behind their end."""
        shape = self.mechanism.parameters
        width = (shape.places - 1) * shape.step + shape.n
        texts = rng.integers(0, self.letters, size=(len(held), width))
        texts[:, shape.length :] = self.letters
        starts = range(0, shape.places * shape.step, shape.step)
        chance = self._unheld(held) / self.letters**shape.n
        return [self._place.look(texts[:, a : a + shape.n], held, chance, rng) for a in starts]

    def _unheld(self, held: Floats) -> float:
        return max(0.0, 1 - float(held.sum()))

    def _joined(
        self, looks: list[Look], held: Floats, rng: np.random.Generator
    ) -> dict[Pair, Mask]:
        """Return the edges between n-grams, for every pair of places."""
        if not self._pairs:
            return {}
        tables, most = len(self._pairs), max(len(look.shares) for look in looks)
        pairs, sides = np.zeros((tables, most, most)), np.zeros((2, tables, most))
        possible, real = pairs > 0, sides > 0
        for table, places in enumerate(self._pairs):
            both = [looks[place] for place in places]
            inner = np.s_[table, : len(both[0].shares), : len(both[1].shares)]
            pairs[inner] = self._table(both[0], both[1], held, rng)
            possible[inner] = self._possible(both[0], both[1], places)
            for side, look in enumerate(both):
                sides[side, table, : len(look.shares)] = self._side(look, rng)
                real[side, table, : len(look.shares)] = True
        noise = float(self._place.noise(float(held.mean())))
        x = likeliest(Seen(pairs, sides[0], sides[1], real[0], real[1], noise), possible)
        cut = self.threshold * self.mechanism.pair_error(max(1, round(self._at_pair)))
        edges = possible & (x >= cut)
        sizes = [len(look.shares) for look in looks]
        return {(a, b): edges[t, : sizes[a], : sizes[b]] for t, (a, b) in enumerate(self._pairs)}

    def _table(self, first: Look, second: Look, held: Floats, rng: np.random.Generator) -> Floats:
        """Return noisy shares of the pairs themselves."""
        shape = (len(first.shares), len(second.shares))
        chance = self._unheld(held) / self.letters ** (2.0 * self.mechanism.parameters.n)
        true = np.full(shape, chance)
        both = (first.holds >= 0) & (second.holds >= 0)
        np.add.at(true, (first.holds[both], second.holds[both]), held[both])
        noise = np.outer(first.noise, second.noise)
        return np.asarray(true + np.sqrt(noise / self._at_pair) * rng.standard_normal(shape))

    def _side(self, look: Look, rng: np.random.Generator) -> Floats:
        """Return noisy shares of the n-grams of one place, from the people of one pair.

        They are a part of those who report the place, whose error is known already.
        """
        # A sample of m of N people: its mean is off by V/m, of which V/N is the error of all N.
        fewer = max(0.0, 1 / self._at_pair - 1 / self._place.people)
        more = np.sqrt(look.noise * fewer)
        return np.asarray(look.shares + look.errors + more * rng.standard_normal(len(more)))

    def _possible(self, first: Look, second: Look, places: Pair) -> Mask:
        """Tell which n-grams agree where they overlap."""
        shape = self.mechanism.parameters
        overlap = max(0, shape.n - (places[1] - places[0]) * shape.step)
        ends, starts = first.grams[:, shape.n - overlap :], second.grams[:, :overlap]
        return np.asarray((ends[:, None, :] == starts[None, :, :]).all(axis=2))

    def _tested(
        self, shares: Floats, candidates: Mask, tested: int, rng: np.random.Generator
    ) -> Mask:
        """Return the candidates that pass the test of whole strings."""
        cells = self.mechanism.parameters.bits * self.mechanism.parameters.cohorts
        # A string outside the list adds f^2/(k m) (docs/mathematics.md, section 1).
        unlisted = float((shares[~candidates] ** 2).sum()) / cells
        variance = self.mechanism.variance(self.people, shares) + unlisted
        errors = np.sqrt(variance * widened(tested, cells))
        p_values = normal_sf(shares / errors + rng.standard_normal(len(shares)))
        found, count = candidates.copy(), int(candidates.sum())
        if count:
            every = np.append(p_values[candidates], np.ones(max(0, tested - count)))
            found[candidates] = holm(every, ALPHA)[:count]
        return found
