"""Counts of populations without simulating every report: binomials, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.mechanisms import Counts, Rappor
from deniable.protocol.domain import string_key
from deniable.protocol.hashing import bloom_bits, fingerprint

CountsOf = Callable[[Rappor, Sequence[str], Sequence[int], np.random.Generator], Counts]


def held_cells(mechanism: Rappor, strings: Sequence[str]) -> NDArray[np.float64]:
    """Return a row of 0 and 1 per string over all cells, by the protocol's slow hashing."""
    shape = mechanism.parameters
    held = np.zeros((len(strings), shape.cohorts, shape.bits))
    for row, string in enumerate(strings):
        words = fingerprint(string_key(string))
        for cohort in range(shape.cohorts):
            held[row, cohort, bloom_bits(words, cohort, shape.hashes, shape.bits)] = 1
    return held.reshape(len(strings), -1)


@pytest.fixture
def cells_of() -> Callable[[Rappor, Sequence[str]], NDArray[np.float64]]:
    return held_cells


@pytest.fixture
def counts_of() -> CountsOf:
    """The counts of people[i] people who hold strings[i]; with cohorts of any size."""

    def counts(
        mechanism: Rappor, strings: Sequence[str], people: Sequence[int], rng: np.random.Generator
    ) -> Counts:
        shape = mechanism.parameters
        held = held_cells(mechanism, strings).reshape(-1, shape.cohorts, shape.bits)
        per = rng.multinomial(np.asarray(people), np.full(shape.cohorts, 1 / shape.cohorts))
        ones = np.einsum("vj,vjb->jb", per, held).astype(np.int64)
        reports = per.sum(axis=0)
        table = rng.binomial(ones, float(shape.q_star))
        table += rng.binomial(reports[:, None] - ones, float(shape.p_star))
        return Counts(reports.astype(np.int64), table.astype(np.int64))

    return counts
