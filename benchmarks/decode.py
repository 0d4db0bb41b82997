"""Decoding k=128, h=2, m=32: ours at growing M, beside scikit-learn's Lasso at M=1,000.

The Lasso path alone selects strings and nothing more; the paper's decoder adds least squares,
errors and tests to it; ours fits every candidate, tests them against decoys, and gives
intervals.

Grows as M^3 up to k m / 2 = 2,048 candidates, where all are fitted at once, and linearly in M from
there; with k m at fixed M; not at all with n, since only counts are decoded.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from sklearn.linear_model import lasso_path

from _measure import Rate, arguments, show, versions
from deniable.decode import decode, decode_lasso
from deniable.kernels.bit_counts import count_bits
from deniable.kernels.hash_candidates import bloom_positions, fingerprints
from deniable.kernels.simulate_bits import simulate_bloom
from deniable.mechanisms import Counts, Rappor
from deniable.protocol.domain import string_key

BITS, HASHES, COHORTS, HELD = 128, 2, 32, 100
MECHANISM = Rappor(bits=BITS, hashes=HASHES, cohorts=COHORTS, f=0.5, p=0.5, q=0.75)
STEPS = (1_000, 10_000, 100_000, 1_000_000)


def population(people: int) -> Counts:
    """Return the counts of people who hold 100 strings with exponentially falling frequencies."""
    rng = np.random.default_rng(1)
    weights = np.exp(-5 * np.arange(HELD) / (HELD - 1))
    codes = rng.choice(HELD, people, p=weights / weights.sum())
    words = fingerprints(string_key(text) for text in names(HELD))
    shape = (COHORTS, HASHES, BITS)
    stages = (MECHANISM.parameters.p_star, MECHANISM.parameters.q_star)
    zero, one = (round(stage * 2**64) for stage in stages)
    reports = simulate_bloom(words, codes, shape, (zero, one), rng)
    return Counts(*count_bits(reports, COHORTS, BITS))


def names(count: int) -> list[str]:
    """Return candidates, the true ones first."""
    return [f"www.example-{i}.com" for i in range(count)]


def timed(counts: Counts, candidates: int) -> Rate:
    """Return the time of one decoding."""
    listed = names(candidates)
    start = time.perf_counter()
    found = decode(MECHANISM, counts, listed)
    seconds = time.perf_counter() - start
    detected, wrong = int(found.storey[:HELD].sum()), int(found.storey[HELD:].sum())
    print(
        f"M={candidates:,}: {seconds:.2f} s, {detected} detected and {wrong} false, at most "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB so far",
        file=sys.stderr,
    )
    return Rate(f"ours, M={candidates:,}", candidates, seconds)


def lasso(counts: Counts, candidates: int) -> Rate:
    """Return the time of scikit-learn's non-negative Lasso path, 100 penalties, dense."""
    words = fingerprints(string_key(text) for text in names(candidates))
    positions = bloom_positions(words, COHORTS, HASHES, BITS)
    design = np.zeros((candidates, COHORTS, BITS))
    rows, cohorts = np.arange(candidates)[:, None, None], np.arange(COHORTS)[None, :, None]
    design[rows, cohorts, positions] = 1
    x = np.asfortranarray(design.reshape(candidates, -1).T)
    share = counts.table / counts.reports[:, None]
    p, q = float(MECHANISM.parameters.p_star), float(MECHANISM.parameters.q_star)
    y = ((share - p) / (q - p)).ravel()
    start = time.perf_counter()
    lasso_path(x, y, positive=True)
    return Rate(f"Lasso path alone, M={candidates:,}", candidates, time.perf_counter() - start)


def paper(counts: Counts, candidates: int) -> Rate:
    """Return the time of the paper's decoder, which rests on that path."""
    listed = names(candidates)
    start = time.perf_counter()
    decode_lasso(MECHANISM, counts, listed)
    return Rate(f"the paper's decoder, M={candidates:,}", candidates, time.perf_counter() - start)


def main() -> None:
    """Print the rates of one run."""
    options = arguments(
        __doc__,
        people=(1_000_000, "people, n"),
        largest=(100_000, "most candidates, M; 1,000,000 takes minutes"),
    )
    counts = population(options.people)
    decode(MECHANISM, counts, names(200))  # compile, and import what is imported late
    rates = [timed(counts, size) for size in STEPS if size <= options.largest]
    show(
        f"Decoding n={options.people:,}, k={BITS}, h={HASHES}, m={COHORTS}",
        "candidates",
        [rates[0], lasso(counts, STEPS[0]), paper(counts, STEPS[0]), *rates[1:]],
        versions("numpy", "scipy", "numba", "scikit-learn"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
