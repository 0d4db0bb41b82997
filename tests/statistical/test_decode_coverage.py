"""Intervals cover, estimates are unbiased: with a list of candidates that is not complete.

Every run has strings of its own, so that what unlisted strings do to a candidate differs from run
to run: that is the randomness over which the dispersion widens the errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from deniable.decode import Decoded, decode
from deniable.mechanisms import Counts, Rappor
from deniable.mechanisms.hashing import bloom_bits, fingerprints
from deniable.protocol.domain import string_key
from deniable.testing.power import miss_mean
from deniable.testing.statistics import accept, mean, proportion, reject, spread

ALPHA = 1e-9
RAPPOR = Rappor(bits=32, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75)
PEOPLE = np.array([30, 20, 15, 10, 8, 7, 5, 3, 1, 1]) * 1_000
UNLISTED = 3
"""The place of a string that people hold and nobody listed."""


class Runs(NamedTuple):
    """What became of one string that people hold and of one that nobody holds, in every run."""

    held: np.ndarray
    absent: np.ndarray
    tables: list[Decoded]


def counts_of(strings: list[str], rng: np.random.Generator) -> Counts:
    shape = RAPPOR.parameters
    per = rng.multinomial(PEOPLE, np.full(shape.cohorts, 1 / shape.cohorts))
    words = fingerprints(map(string_key, strings))
    held = np.zeros((len(strings), shape.cohorts, shape.bits), dtype=np.int64)
    bits = bloom_bits(words[:, None], np.arange(shape.cohorts)[None], shape.hashes, shape.bits)
    np.put_along_axis(held, bits, 1, axis=2)
    ones, reports = np.einsum("vj,vjb->jb", per, held), per.sum(axis=0)
    table = rng.binomial(ones, float(shape.q_star))
    table += rng.binomial(reports[:, None] - ones, float(shape.p_star))
    return Counts(reports.astype(np.int64), table.astype(np.int64))


def run_many(runs: int, absent: int, rng: np.random.Generator) -> Runs:
    truth = PEOPLE[1] / PEOPLE.sum()
    held, nobody, tables = [], [], []
    for run in range(runs):
        strings = [f"{run}/{i}" for i in range(10)]
        listed = [s for i, s in enumerate(strings) if i != UNLISTED]
        candidates = listed + [f"{run}/absent{i}" for i in range(absent)]
        table = decode(RAPPOR, counts_of(strings, rng), candidates, seed=run)
        held.append((table.frequency[1] - truth) / table.std_error[1])
        nobody.append(table.z[9])
        tables.append(table)
    return Runs(np.array(held), np.array(nobody), tables)


@pytest.fixture
def few_decoys(monkeypatch) -> None:
    # Intervals do not depend on decoys; twenty per candidate are kept in any case.
    monkeypatch.setattr("deniable.decode.decoys._FEWEST", 1_000)


def check_covers(errors: np.ndarray) -> None:
    """Accept intervals of 95% +- 3%, and reject intervals a third as wide, which cover 49%."""
    runs = errors.size
    covered = int(np.sum(np.abs(errors) < stats.norm.ppf(0.975)))
    accept(proportion(covered, runs, 0.95, tolerance=0.03), ALPHA)
    narrow = int(np.sum(np.abs(errors) < stats.norm.ppf(0.975) / 3))
    # Accepted only above the lower alpha / 2 quantile of the band's lower end, 92%; the narrow ones
    # cover at most 57% if the ordinary ones cover at most 98%.
    cut = stats.binom.ppf(ALPHA / 2, runs, 0.92) - 1
    miss = float(stats.binom.sf(cut, runs, 0.57))
    reject(proportion(narrow, runs, 0.95, tolerance=0.03), ALPHA, miss=miss)


def check_unbiased(errors: np.ndarray) -> None:
    """Accept a mean error of 0, and reject one of one standard error."""
    error = float(errors.std(ddof=1) / np.sqrt(errors.size))
    accept(mean(float(errors.mean()), 0.0, error), ALPHA)
    miss = miss_mean(np.sqrt(errors.size) / 1.2, ALPHA)
    reject(mean(float(errors.mean()), 1.0, error), ALPHA, miss=miss)


@pytest.mark.usefixtures("few_decoys")
def test_all_candidates_at_once(rng):
    runs = run_many(600, 20, rng)
    assert {table.method for table in runs.tables} == {"all candidates"}
    for errors in (runs.held, runs.absent):
        check_covers(errors)
        check_unbiased(errors)


@pytest.mark.usefixtures("few_decoys")
def test_split_cohorts(rng):
    runs = run_many(300, 300, rng)
    assert {table.method for table in runs.tables} == {"split cohorts"}
    for errors in (runs.held, runs.absent):
        check_covers(errors)
        check_unbiased(errors)
    # The variance of an absent candidate's score is 1, within 15% for the heavier tails.
    accept(spread(runs.absent, 1.0, tolerance=0.15), ALPHA)
    reject(spread(2 * runs.absent, 1.0, tolerance=0.15), ALPHA, miss=1e-12)
