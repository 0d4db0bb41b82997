"""Simulating RAPPOR reports from integer codes: ours, NumPy, and a Python loop.

Grows linearly with n and with ceil(k / 64), plus two mixings and a coin for each of the h hash
functions; m and the number of strings do not matter. Thresholds of few binary digits, such as
9/16, need fewer random words than others; the slowest case is measured.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from _measure import arguments, rate, show, versions
from deniable.kernels.hash_candidates import bloom_positions, fingerprints
from deniable.kernels.simulate_bits import simulate_bloom

BITS, HASHES, COHORTS = 128, 2, 32
ZERO, ONE = 0.3, 0.7
SHAPE = (COHORTS, HASHES, BITS)
THRESHOLDS = (int(ZERO * 2**64), int(ONE * 2**64))


def with_numpy(positions: NDArray[np.integer], codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Draw a floating-point number per bit."""
    rng = np.random.default_rng(2)
    rows = np.arange(codes.size)[:, None]
    cohort = rng.integers(0, COHORTS, codes.size)
    chance = np.full((codes.size, BITS), ZERO)
    chance[rows, positions[codes, cohort]] = ONE
    return np.packbits(rng.random((codes.size, BITS)) < chance, axis=1, bitorder="little")


def with_a_loop(positions: NDArray[np.integer], codes: NDArray[np.int64]) -> list[int]:
    """Draw a number per bit, report by report."""
    rng = random.Random(3)  # noqa: S311 - a simulation
    reports = []
    for code in codes.tolist():
        held = set(positions[code, rng.randrange(COHORTS)].tolist())
        bits = 0
        for i in range(BITS):
            if rng.random() < (ONE if i in held else ZERO):
                bits |= 1 << i
        reports.append(bits)
    return reports


def main() -> None:
    """Print the rates of one run."""
    options = arguments(__doc__, n=(4_000_000, "reports"))
    rng = np.random.default_rng(1)
    words = fingerprints(b"s%d" % i for i in range(1_000))
    codes = rng.integers(0, len(words), options.n)
    some, few = codes[:100_000], codes[:2_000]
    positions = bloom_positions(words, COHORTS, HASHES, BITS)
    simulate_bloom(words, few, SHAPE, THRESHOLDS, rng)
    show(
        f"Simulating {BITS}-bit reports with {HASHES} hashes in {COHORTS} cohorts, one core",
        "reports",
        [
            rate(
                "ours", len(codes), lambda: simulate_bloom(words, codes, SHAPE, THRESHOLDS, rng), 3
            ),
            rate("NumPy", len(some), lambda: with_numpy(positions, some), 3),
            rate("Python loop", len(few), lambda: with_a_loop(positions, few)),
        ],
        versions("numpy", "numba"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
