"""Counting the bits of RAPPOR reports per cohort: ours, NumPy, a Python loop, and memory itself.

Grows linearly with n and with ceil(k / 64); per cohort 2 microseconds a call, so that m matters
only below about a thousand reports per cohort. Above a few thousand cohorts the counters leave
the second-level cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from _measure import Rate, arguments, rate, read_bandwidth, show, versions
from deniable.kernels.bit_counts import count_bits
from deniable.kernels.simulate_bits import simulate_basic

BITS, COHORTS = 128, 32


def population(count: int) -> NDArray[Any]:
    """Return reports of 128 bits in 32 cohorts, in no order."""
    rng = np.random.default_rng(1)
    reports = simulate_basic(np.full(count, -1), BITS, (2**62, 2**63), rng)
    reports["cohort"] = rng.integers(0, COHORTS, count)
    return reports


def with_numpy(reports: NDArray[Any]) -> NDArray[np.int64]:
    """Unpack every bit, cohort by cohort."""
    return np.stack(
        [
            np.unpackbits(reports["bits"][reports["cohort"] == c], axis=1, bitorder="little").sum(
                axis=0, dtype=np.int64
            )
            for c in range(COHORTS)
        ]
    )


def with_numpy_without_cohorts(reports: NDArray[Any]) -> NDArray[np.int64]:
    """Unpack every bit as if all were one cohort: less than the task, for scale."""
    unpacked = np.unpackbits(reports["bits"], axis=1, bitorder="little")
    return np.asarray(unpacked.sum(axis=0, dtype=np.int64))


def with_a_loop(reports: NDArray[Any]) -> list[list[int]]:
    """Count as a RAPPOR analyst would write it: report by report, bit by bit."""
    sums = [[0] * BITS for _ in range(COHORTS)]
    for cohort, packed in zip(reports["cohort"].tolist(), reports["bits"].tolist(), strict=True):
        row = sums[cohort]
        for i in range(BITS):
            if packed[i >> 3] >> (i & 7) & 1:
                row[i] += 1
    return sums


def main() -> None:
    """Print the rates of one run; stop if two contestants disagree."""
    options = arguments(__doc__, n=(8_000_000, "reports"))
    reports = population(options.n)
    some, few = reports[:1_000_000], reports[:20_000]
    if not (count_bits(few, COHORTS, BITS)[1] == with_numpy(few)).all():
        raise SystemExit("The kernel and NumPy disagree.")
    if count_bits(few, COHORTS, BITS)[1].tolist() != with_a_loop(few):
        raise SystemExit("The kernel and the loop disagree.")
    memory = read_bandwidth()
    show(
        f"Counting {BITS}-bit reports in {COHORTS} cohorts, one core",
        "reports",
        [
            rate("ours", len(reports), lambda: count_bits(reports, COHORTS, BITS), 3),
            rate("NumPy unpackbits", len(some), lambda: with_numpy(some), 3),
            rate(
                "NumPy unpackbits, one cohort",
                len(some),
                lambda: with_numpy_without_cohorts(some),
                3,
            ),
            rate("Python loop", len(few), lambda: with_a_loop(few)),
            Rate("reading memory", memory.work / reports.itemsize, memory.seconds),
        ],
        versions("numpy", "numba"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
