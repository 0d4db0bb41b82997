"""From the reports of n-grams to the graph of those that belong together.

reports -> common n-grams per place -> joint distribution per pair of places -> edges
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.discover.ngrams.dictionary import fit_together
from deniable.discover.ngrams.graph import Edges, Graph, Pair
from deniable.discover.ngrams.joint import Joint, Mask, fit_pairs
from deniable.discover.ngrams.marginals import Common
from deniable.discover.prefixes.growth import Progress
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Reports

Single = NDArray[np.float32]
_BLOCK = 2**15


@dataclass(frozen=True)
class Pairs:
    """The joint distributions of all pairs of places.

    Attributes:
        common: of every place.
        joint: of every pair of places with reports, if all places have common n-grams.
        people: who reported each pair.
        errors: delta of each pair: the standard error of a frequency.
        step: from the start of one n-gram to that of the next.
    """

    common: tuple[Common, ...]
    joint: dict[Pair, Joint]
    people: dict[Pair, int]
    errors: dict[Pair, float]
    step: int

    def graph(self, threshold: float = 1.0) -> Graph:
        """Return the graph whose edges are the pairs of at least `threshold` times delta.

        Edge cases: with a threshold of 0 every two n-grams that fit together are joined.

        Raises:
            InvalidParameter: if the threshold is negative or no number.
        """
        times = _validate.between("threshold", "discover_ngrams", threshold, "0", "1e6")
        parts = tuple(common.grams for common in self.common)
        joined = {pair: self._edges(pair, times) for pair in combinations(range(len(parts)), 2)}
        return Graph(parts, joined)

    def _edges(self, pair: Pair, times: float) -> Edges:
        possible = _possible(self.common, pair, self.step)[:-1, :-1]
        if pair not in self.joint:
            return np.zeros_like(possible)
        return np.asarray(
            possible & (self.joint[pair].table[:-1, :-1] >= times * self.errors[pair])
        )


@dataclass(frozen=True)
class Groups:
    """Reports by the places that they are about: sorted once, not searched for every pair.

    Attributes:
        mechanism: of the reports.
        reports: in any order.
        order: their numbers, sorted by the choice of places.
        ends: where each choice ends in that order, after a 0.
    """

    mechanism: NGrams
    reports: Reports
    order: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, mechanism: NGrams, reports: Reports) -> Groups:
        """Return the groups; reports of the same choice keep their order."""
        places = np.ascontiguousarray(reports["places"])
        sizes = np.bincount(places, minlength=mechanism.parameters.choices)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        return cls(mechanism, reports, np.argsort(places, kind="stable"), ends)

    def people(self, pair: Pair) -> int:
        """Return how many people report these two places."""
        sizes = np.diff(self.ends)
        return sum(int(sizes[choice]) for choice, _, _ in self._choices(pair))

    def parts(self, pair: Pair) -> tuple[Reports, Reports]:
        """Return both parts of the reports of people who report these two places."""
        first, second = [], []
        for choice, one, other in self._choices(pair):
            mine = self.reports[self.order[self.ends[choice] : self.ends[choice + 1]]]
            first.append(self.mechanism.part(mine, one + 1))
            second.append(self.mechanism.part(mine, other + 1))
        return np.concatenate(first), np.concatenate(second)

    def _choices(self, pair: Pair) -> Iterator[tuple[int, int, int]]:
        """Yield the choices of places that have both, and which of its n-grams they are."""
        for one, other in combinations(range(self.mechanism.parameters.grams), 2):
            chosen = self.mechanism.chosen[:, [one, other]]
            for choice in np.flatnonzero((chosen == np.array(pair)).all(axis=1)).tolist():
                yield choice, one, other


@one_thread
def all_pairs(
    mechanism: NGrams,
    reports: Reports,
    common: Sequence[Common],
    progress: Progress | None = None,
) -> Pairs:
    """Return the joint distributions of every pair of places.

    Cost: `fit_pairs` for each of the P (P - 1) / 2 pairs.

    Edge cases: a pair of places without reports has none. Where any place has no common n-gram no
    string can be put together, and nothing is fitted.
    """
    step = mechanism.parameters.step
    found = Pairs(tuple(common), {}, {}, {}, step)
    pairs = list(combinations(range(len(common)), 2))
    groups = Groups.of(mechanism, reports)
    complete = all(one.grams for one in common)
    most = max((groups.people(pair) for pair in pairs), default=0)
    widest = 1 + max((len(one.grams) for one in common), default=0)
    rooms = np.empty((2, most * widest if complete else 0), np.float32)
    for done, pair in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        people = groups.people(pair)
        found.people[pair] = people
        found.errors[pair] = mechanism.pair_error(max(1, people))
        if people and complete:
            first, second = (
                _likelihoods(mechanism, part, common[place].grams, room)
                for part, place, room in zip(groups.parts(pair), pair, rooms, strict=True)
            )
            found.joint[pair] = fit_pairs(first, second, _possible(common, pair, step))
    return found


def _likelihoods(mechanism: NGrams, part: Reports, grams: tuple[str, ...], room: Single) -> Single:
    """Return P(part | n-gram) / its maximum, a line per n-gram, the last for any other one.

    In memory that all pairs share, in single precision, and some reports at a time: new arrays took
    a tenth of the time, and doubles half as much again.
    """
    lines = room[: (len(grams) + 1) * len(part)].reshape(-1, len(part))
    for start in range(0, len(part), _BLOCK):
        block = slice(start, start + _BLOCK)
        listed = mechanism.gram.likelihood(part[block], grams, log=True)
        logs = np.column_stack([listed, mechanism.unlisted(part[block])])
        logs -= logs.max(axis=1, keepdims=True)
        lines[:, block] = np.exp(logs, out=logs).T
    return lines


def _possible(common: Sequence[Common], pair: Pair, step: int) -> Mask:
    """Tell which n-grams of two places fit together; "any other" fits to all."""
    first, second = (common[place].grams for place in pair)
    distance = (pair[1] - pair[0]) * step
    found = np.ones((len(first) + 1, len(second) + 1), dtype=np.bool_)
    for i, one in enumerate(first):
        found[i, :-1] = [fit_together(one, other, distance) for other in second]
    return found
