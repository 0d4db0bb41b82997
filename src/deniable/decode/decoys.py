"""Decoys: strings that nobody holds, whose scores are the null distribution.

Hashing places an absent candidate like a random column, so that the score of a decoy (a random
Bloom column that goes through the same computation) is exchangeable with that of any absent
candidate. This holds whatever people hold that is not listed: unlike a formula it needs no normal
distribution, and no model of the strings outside the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.decode.design import BLOCK_ENTRIES, Design, Shape
from deniable.decode.regression import Evidence, Regression
from deniable.mechanisms.base import Floats

PER_CANDIDATE = 20
"""Decoys per candidate: 1 / 20 is the level at which the largest of them still decides."""
_FEWEST = 20_000
"""Decoys at least, so that few candidates have a smooth tail; a tenth with very many cohorts."""
_CELLS = 2**28

TAIL = 0.05
"""The share of largest decoys that is kept, at most `LONGEST`: smaller scores decide nothing."""
_LONGEST = 50_000
_ROUGH = 2
"""This multiple of the tail gets exact scores, where exact scores of all would be dear."""
_EXACT_WORK = 2e9
_EXTRAPOLATE = (10, 200)
"""Beyond the largest 1% (10 to 200 of them) the tail is extended."""


@dataclass(frozen=True)
class Tail:
    """The upper tail of the scores of decoys.

    Attributes:
        total: how many decoys were drawn.
        largest: the z of the largest, ascending.
    """

    total: int
    largest: Floats

    @property
    def _top(self) -> int:
        low, high = _EXTRAPOLATE
        return min(self.largest.size, max(low, min(high, self.total // 100)))

    def p_values(self, z: Floats) -> Floats:
        """Return P(a decoy scores z or more), 0 below the tail that was kept.

        Inside the sample it is (1 + number of decoys that reach z) / (1 + total), the exact
        p-value of an exchangeable score. Beyond the largest 1% the excess over them is taken as
        exponential with their mean excess. The tail of normal scores falls faster, so that this
        errs on the safe side; heavier tails, from the collisions of unlisted strings, raise the
        mean excess itself.
        """
        reach = self.largest.size - np.searchsorted(self.largest, z, side="left")
        # Exchangeable: the rank of an absent candidate among the decoys is uniform.
        inside = (1 + reach) / (1 + self.total)
        top = self.largest[self.largest.size - self._top :]
        edge, excess = top[0], max(float(np.mean(top - top[0])), 1e-12)
        # P(decoy > edge) times the exponential tail of the excess over the edge.
        beyond = (1 + top.size) / (1 + self.total) * np.exp(-np.maximum(z - edge, 0) / excess)
        result = np.where(z > edge, beyond, inside)
        return np.where(z < self.largest[0], 0.0, result)


def decoy_tail(
    parts: Sequence[Regression], shape: Shape, candidates: int, rng: np.random.Generator
) -> Tail | None:
    """Return the tail of at least 20 decoys per candidate; None if the design has no room.

    Args:
        parts: the fits, of disjoint data, whose evidence is added up.
        shape: how hashing places strings.
        candidates: the number of candidates.
        rng: where decoys come from.

    Cost: a look-up per cell of every decoy. Where exact scores of all would be dear, only twice
    as many as are kept get one, those with the largest numerators; denominators differ by a few
    per cent, so that hardly any of the largest scores is missed.
    """
    width = shape.cohorts * shape.hashes
    total = max(PER_CANDIDATE * candidates, min(_FEWEST, max(_FEWEST // 10, _CELLS // width)))
    work = total * sum((1 + len(part.design)) ** 2 for part in parts)
    tail = min(TAIL, _LONGEST / total)
    share = 1.0 if work <= _EXACT_WORK else _ROUGH * tail
    pull = np.sum([part.pull for part in parts], axis=0)
    step = max(1, BLOCK_ENTRIES // width)
    kept, known = [], 0
    for start in range(0, total, step):
        block = shape.random(min(step, total - start), rng)
        z = added_evidence(parts, _largest(block, pull, share)).z
        kept.append(z[np.isfinite(z)])
        known += len(block) if share < 1 else kept[-1].size
    largest = np.sort(np.concatenate(kept))[-max(1, int(tail * known)) :]
    return Tail(known, largest) if known >= _FEWEST // 20 else None


def _largest(block: Design, pull: Floats, share: float) -> Design:
    if share == 1.0:
        return block
    (score,) = block.sums(pull)
    count = max(1, int(share * len(block)))
    return block.take(np.argpartition(score, -count)[-count:])


def added_evidence(parts: Sequence[Regression], design: Design) -> Evidence:
    """Return the evidence of all parts together about each column, one at a time."""
    total = Evidence(np.zeros(len(design)), np.zeros(len(design)))
    for part in parts:
        total = total + part.evidence(design)
    return total
