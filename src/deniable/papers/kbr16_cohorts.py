"""[KBR16] section 5: cohorts of hash functions or permutations, and what their people send.

Model: cohort c places answer s in h of its k cells (h = 1 except in Bloom filters): by hash
functions (open alphabets), or by permutations of 0..S-1 modulo k (closed ones). People are in
uniform cohorts. O-RR sends the cell through k-RR, O-RAPPOR all cells through k-RAPPOR. Given how
many people of a cohort hold each cell, its counts are drawn as a whole, which is exact.

The hash functions are drawn by the generator, anew for each design: this averages over hash
functions, and a test compares it with the shipped mechanism's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats
from deniable.papers.kbr16_decoders import Table, krappor_counts, krr_counts

Cells = NDArray[np.int32]
_PEOPLE = 2**21
"""People who are placed at once: a few arrays of 16 MB."""
_CROWDED = 30
"""Above so many people per answer and cohort, a multinomial draw is faster than one by one."""


@dataclass(frozen=True)
class Cohorts:
    """Where every cohort places every answer.

    Attributes:
        cells: the places, a row per answer, h columns per cohort: cohort * k + cell, or C * k, one
            past the end, where two hash functions of a Bloom filter met.
        count: C.
        size: k.
        hashes: h.
    """

    cells: Cells
    count: int
    size: int
    hashes: int = 1

    @property
    def answers(self) -> int:
        """The number of answers, S."""
        return len(self.cells)

    def held(self, totals: Table, rng: np.random.Generator) -> tuple[Table, Table]:
        """Return how many people of each cohort hold each cell, and the people of each cohort.

        Cost: linear in the smaller of people and 30 S C; 64 MB and the two tables.
        """
        if totals.sum() > _CROWDED * self.answers * self.count:
            return self._held_by_answer(totals, rng)
        held = np.zeros(self.count * self.size + 1, dtype=np.int64)
        people = np.zeros(self.count, dtype=np.int64)
        ends = np.cumsum(totals)
        for start in range(0, int(ends[-1]), _PEOPLE):
            inside = np.clip(ends, start, start + _PEOPLE)
            codes = np.repeat(np.arange(self.answers), np.diff(inside, prepend=start))
            cohort = rng.integers(0, self.count, size=codes.size)
            people += np.bincount(cohort, minlength=self.count)
            for i in range(self.hashes):
                places = self.cells[codes, cohort * self.hashes + i]
                held += np.bincount(places, minlength=held.size)
        return held[:-1].reshape(self.count, self.size), people

    def _held_by_answer(self, totals: Table, rng: np.random.Generator) -> tuple[Table, Table]:
        held = np.zeros(self.count * self.size + 1, dtype=np.int64)
        people = np.zeros(self.count, dtype=np.int64)
        even = np.full(self.count, 1 / self.count)
        for row, total in zip(self.cells, totals, strict=True):
            drawn = rng.multinomial(total, even)
            people += drawn
            np.add.at(held, row, np.repeat(drawn, self.hashes))
        return held[:-1].reshape(self.count, self.size), people


def hashed(
    answers: int, count: int, size: int, rng: np.random.Generator, hashes: int = 1
) -> Cohorts:
    """Return cohorts of independent random hash functions.

    Cost: 4 bytes per answer, cohort and hash function.
    """
    codes = rng.integers(0, size, size=(answers, count, hashes), dtype=np.int32)
    return _placed(codes, count, size)


def permuted(
    answers: int, count: int, size: int, rng: np.random.Generator, hashes: int = 1
) -> Cohorts:
    """Return cohorts of independent random permutations of the answers, modulo k."""
    codes = np.empty((answers, count, hashes), dtype=np.int32)
    for cohort in range(count):
        for i in range(hashes):
            codes[:, cohort, i] = rng.permutation(answers) % size
    return _placed(codes, count, size)


def _placed(codes: NDArray[np.int32], count: int, size: int) -> Cohorts:
    """Return cohorts whose answers have these cells; a cell that occurs twice counts once."""
    answers, _, hashes = codes.shape
    codes += (np.arange(count, dtype=np.int32) * size)[:, None]
    if hashes > 1:
        codes.sort(axis=2)
        codes[:, :, 1:][codes[:, :, 1:] == codes[:, :, :-1]] = count * size
    return Cohorts(codes.reshape(answers, count * hashes), count, size, hashes)


def orr_shares(held: Table, epsilon: float, rng: np.random.Generator) -> Floats:
    """Return the right-hand side of [KBR16] equation 18: unbiased shares of each cell by O-RR."""
    count, size = held.shape
    reports = krr_counts(held, epsilon, rng)
    scaled = count * (np.exp(epsilon) + size - 1) * reports / held.sum()
    return np.asarray((scaled - 1) / np.expm1(epsilon))


def orappor_shares(
    held: Table, people: Table, epsilon: float, rng: np.random.Generator, hashes: int = 1
) -> Floats:
    """Return unbiased shares of each cell by O-RAPPOR, cohorts weighted by their people."""
    s = np.exp(epsilon / (2 * hashes))
    bits = krappor_counts(held, people[:, None], epsilon, rng, hashes)
    weight = len(people) / people.sum()
    return np.asarray(weight * ((s + 1) * bits - people[:, None]) / (s - 1))
