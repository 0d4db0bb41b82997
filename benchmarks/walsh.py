"""The fast Walsh-Hadamard transform: ours, the same in NumPy, a matrix product, and memory.

Grows as k log2 k for k coefficients; the matrix product as k^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from _measure import Rate, arguments, rate, read_bandwidth, show, versions
from deniable.kernels.walsh import transform

Floats = NDArray[np.float64]
SMALL = 2**12


def with_numpy(values: Floats) -> Floats:
    """Run the butterflies one stage at a time."""
    half = 1
    while half < values.size:
        pairs = values.reshape(-1, 2, half)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return values


def main() -> None:
    """Print the rates of one run; stop if two contestants disagree."""
    options = arguments(__doc__, exponent=(22, "log2 of the coefficients, k"))
    rng = np.random.default_rng(1)
    values = rng.integers(-100, 100, 2**options.exponent).astype(np.float64)
    small, matrix = values[:SMALL].copy(), hadamard(SMALL).astype(np.float64)
    if not np.array_equal(transform(small.copy()), matrix @ small):
        raise SystemExit("The kernel and the matrix disagree.")
    if not np.array_equal(transform(values.copy()), with_numpy(values)):
        raise SystemExit("The kernel and NumPy disagree.")
    scratch = np.zeros_like(values)  # zeros stay zeros: no overflow, however often
    memory = read_bandwidth()
    show(
        f"Walsh-Hadamard transform of {values.size:,} coefficients, one core",
        "coefficients",
        [
            rate("ours", values.size, lambda: transform(scratch), 3),
            rate("NumPy, stage by stage", values.size, lambda: with_numpy(values), 3),
            rate(f"matrix product, {SMALL:,}", SMALL, lambda: matrix @ small),
            Rate("reading memory", memory.work / 8, memory.seconds),
        ],
        versions("numpy", "numba", "scipy"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
