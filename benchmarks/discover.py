"""Testing a million beginnings of strings: hashed points beside a pool of OLH seeds.

Both find the support of candidates from tables whose size does not depend on the reports: 32
cohorts of points, or a histogram of K seeds. Per report both have nearly the same noise; a pool
adds sum f^2 / ((g - 1) K) to the variance, so that it needs K of 10,000 or more at large epsilon.
Printed too: the noise of both, and how a whole discovery grows with the number of reports.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from _measure import arguments, rate, show, versions
from deniable.discover import discover, simulated_counts
from deniable.discover.group_estimates import Table
from deniable.kernels.local_hash import pooled_support, seed_histogram
from deniable.kernels.prefix_support import extended
from deniable.mechanisms import OLH, Prefixes
from deniable.mechanisms.projective import geometry_of
from deniable.protocol import Strings

LETTERS = "-.0123456789abcdefghijklmnopqrstuvwxyz"
DOMAIN = Strings(LETTERS, 20)
EPSILON, POOL = 2.07, 10_000


def made_up(count: int) -> tuple[list[str], NDArray[np.float64]]:
    """Return strings of 20 characters with geometric frequencies."""
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list(LETTERS), size=20)) for _ in range(count)]
    shares = 0.963 ** np.arange(count)
    return strings, shares / shares.sum()


def points_by_numpy(table: Table, words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Do as the kernel does, with arrays."""
    from deniable.mechanisms.hashing import hash_words

    sums = np.zeros(len(words))
    for cohort in range(len(table.worth)):
        index = np.full(len(words), table.first + cohort, dtype=np.uint64)
        hashed = hash_words(words, index) >> np.uint64(32)
        places = (hashed * np.uint64(table.worth.shape[1])) >> np.uint64(32)
        sums += table.worth[cohort, places.astype(np.int64)]
    return sums


def seconds(people: int) -> float:
    """Return how long a discovery takes from the counts on, and how long counting takes."""
    mechanism = Prefixes(epsilon=EPSILON, alphabet=LETTERS, length=20)
    strings, shares = made_up(100)
    counts, _ = simulated_counts(mechanism, strings, shares, people, np.random.default_rng(2))
    start = time.perf_counter()
    found = discover(mechanism, counts, DOMAIN)
    passed = time.perf_counter() - start
    print(f"  {people:>9,} reports: {passed:.1f} s, {len(found.found)} strings found")
    return passed


def main() -> None:
    """Print the rates of one run; stop if ours and NumPy disagree."""
    options = arguments(__doc__, candidates=(1_000_000, "beginnings"), people=(1_000_000, "people"))
    mechanism = Prefixes(epsilon=EPSILON, alphabet=LETTERS, length=20)
    strings, shares = made_up(100)
    counts, _ = simulated_counts(mechanism, strings, shares, 100_000, np.random.default_rng(1))
    table = Table.of(mechanism, counts, 0)
    symbols = np.arange(options.candidates, dtype=np.uint64)
    words = extended(np.zeros((1, 2), dtype=np.uint64), symbols)[0]
    few = words[:50_000]
    if not np.allclose(table.estimate(few), points_by_numpy(table, few), atol=1e-5):
        raise SystemExit("The kernel and NumPy disagree.")
    olh = OLH(epsilon=EPSILON, seeds=POOL)
    reports = olh.simulate(np.zeros(100_000, dtype=np.int64), np.random.default_rng(3), ["x"])
    histogram = seed_histogram(reports["seed"], reports["symbol"], POOL, olh.parameters.symbols)
    shape = mechanism.parameters
    rows = shape.cohorts
    geometry = geometry_of(shape.prime, shape.dimension)
    one = counts.table[0]
    show(
        f"Support of beginnings, {rows} cohorts of {geometry.points:,} points, one core",
        "beginnings",
        [
            rate("ours", len(words), lambda: table.estimate(words), 3),
            rate("NumPy", len(few), lambda: points_by_numpy(table, few), 2),
            rate(f"OLH, {POOL:,} seeds", len(few), lambda: pooled_support(histogram, few), 2),
        ],
        versions("numpy", "numba"),
        as_json=options.json,
    )
    if options.json:
        return
    made = rate("a table", 1, lambda: [geometry.hyperplane_sums(one) for _ in range(rows)], 1)
    print(f"  the table of a level is made {made.per_second:.3g} times per second")
    noise = float(mechanism.pure.variance(1, 0.0)), float(olh.variance(1, 0.0))
    print(f"  n Var of a rare string: points {noise[0]:.3f}, OLH {noise[1]:.3f}")
    small, large = seconds(options.people // 10), seconds(options.people)
    print(f"  ten times the reports: {large / small:.2f} times the time")


if __name__ == "__main__":
    main()
