"""[KBR16] section 5: cohorts of hash functions or permutations, and what their people send.

Model: cohort c places answer s in h of its k cells (h = 1 except in Bloom filters): by hash
functions (open alphabets), or by permutations modulo k (closed ones): random ones, or linear ones
over F_k, in which all pairs of answers meet equally often. People are in uniform cohorts. O-RR
sends the cell through k-RR, O-RAPPOR all cells through k-RAPPOR. Given how many people of a cohort
hold each cell, its counts are drawn as a whole, which is exact.

The hash functions are drawn by the generator, anew for each design: this averages over hash
functions, and a test compares it with the shipped mechanism's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats
from deniable.mechanisms.projective import geometry_of
from deniable_papers.kbr16.decoders import Table, krappor_counts, krr_counts

Cells = NDArray[np.int32]
_PEOPLE = 2**21
"""People who are placed at once: a few arrays of 16 MB."""
_CROWDED = 30
"""Above this number of people per answer and cohort, a multinomial draw is the faster."""


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


def linear_count(answers: int, size: int) -> int:
    """Return how many cohorts `linear` has: (k^t - 1) / (k - 1), with k^t >= S."""
    dimension = _dimension(answers, size)
    return int((size**dimension - 1) // (size - 1))


def linear(answers: int, size: int, rng: np.random.Generator) -> Cohorts:
    """Return one cohort per linear form of F_k^t, up to its scale; k is a prime.

    Answers are different random points x of F_k^t, k^t >= S. The cohort of the form a is a
    permutation of these points whose last digit is <a, x>, so that the cell is <a, x>.

    Guarantees: two answers x and y share a cell where <a, x - y> = 0: in (k^(t-1) - 1) / (k - 1)
    cohorts, whichever they are. So H'H has equal entries beside its diagonal, and separating
    answers that met by chance costs nothing: random permutations have this for C >> S only.
    """
    dimension, count = _dimension(answers, size), linear_count(answers, size)
    powers = size ** np.arange(dimension)
    points = rng.choice(size**dimension, answers, replace=False)[:, None] // powers % size
    forms = geometry_of(size, dimension).vectors(np.arange(count))
    codes = (points @ forms.T % size).astype(np.int32)[:, :, None]
    return _placed(codes, count, size)


def _dimension(answers: int, size: int) -> int:
    dimension = 1
    while size**dimension < answers:
        dimension += 1
    return dimension


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
