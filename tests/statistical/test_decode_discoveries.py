"""Holm reports a string that nobody holds in at most about 5% of tables, whatever people hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode import decode
from deniable.mechanisms import Counts, Rappor
from deniable.mechanisms.hashing import bloom_bits, fingerprints
from deniable.protocol.domain import string_key
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
RUNS = 400
RAPPOR = Rappor(bits=32, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75)


def counts_of(strings: list[str], people: np.ndarray, rng: np.random.Generator) -> Counts:
    shape = RAPPOR.parameters
    per = rng.multinomial(people, np.full(shape.cohorts, 1 / shape.cohorts))
    words = fingerprints(map(string_key, strings))
    held = np.zeros((len(strings), shape.cohorts, shape.bits), dtype=np.int64)
    bits = bloom_bits(words[:, None], np.arange(shape.cohorts)[None], shape.hashes, shape.bits)
    np.put_along_axis(held, bits, 1, axis=2)
    ones, reports = np.einsum("vj,vjb->jb", per, held), per.sum(axis=0)
    table = rng.binomial(ones, float(shape.q_star))
    table += rng.binomial(reports[:, None] - ones, float(shape.p_star))
    return Counts(reports.astype(np.int64), table.astype(np.int64))


@pytest.mark.parametrize(
    "candidates", [40, 200, 500], ids=["all at once", "competition", "split cohorts"]
)
def test_pure_noise_is_rarely_reported(rng, monkeypatch, candidates):
    monkeypatch.setattr("deniable.decode.decoys._FEWEST", 2_000)
    people = np.array([40, 30, 20, 10]) * 2_000
    holm = plain = 0
    for run in range(RUNS):
        counts = counts_of([f"{run}/{i}" for i in range(4)], people, rng)
        absent = [f"{run}/absent{i}" for i in range(candidates)]
        table = decode(RAPPOR, counts, absent, seed=run)
        holm += bool(table.holm.any())
        plain += bool((table.p_value < 0.05).any())
    accept(proportion(holm, RUNS, 0.035, tolerance=0.035), ALPHA)
    # Without a correction at least half of the tables would report something.
    cut = stats.binom.isf(ALPHA / 2, RUNS, 0.07) + 1
    miss = float(stats.binom.cdf(cut, RUNS, 0.5))
    reject(proportion(plain, RUNS, 0.035, tolerance=0.035), ALPHA, miss=miss)
