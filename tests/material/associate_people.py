"""Fields of simulated people, for every mechanism."""

from __future__ import annotations

import numpy as np

from deniable.associate import Variable
from deniable.mechanisms import HCMS, KRR, OLH, ORR, OUE, PGR, Hadamard, Mechanism, Rappor, Subset

STRINGS = ("alpha", "beta", "gamma")

CLOSED: dict[str, Mechanism] = {
    "krr": KRR(3, epsilon=2.0),
    "basic": Rappor.basic(3, epsilon=2.0),
    "permuted": Rappor.permuted(3, bits=8, cohorts=4, epsilon=2.0),
    "oue": OUE(3, epsilon=2.0),
    "subset": Subset(3, epsilon=1.0),
    "orr-closed": ORR(3, epsilon=2.0, cohorts=8),
    "pgr-closed": PGR(3, epsilon=2.0),
}
OPEN: dict[str, Mechanism] = {
    "bloom": Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0),
    "olh": OLH(epsilon=2.0),
    "orr": ORR(epsilon=2.0, cohorts=16),
    "hcms": HCMS(epsilon=2.0),
}
HADAMARD = Hadamard(4, epsilon=2.0)


def dependent(rng: np.random.Generator, n: int, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns of codes below k that agree more often than chance would make them."""
    x, y = rng.integers(0, k, n), rng.integers(0, k, n)
    return x, np.where(rng.random(n) < 0.4, x, y)


def closed(name: str, codes: np.ndarray, rng: np.random.Generator, kind: str = "krr") -> Variable:
    mechanism = CLOSED[kind]
    return Variable(name, mechanism, mechanism.simulate(codes, rng))


def opened(name: str, codes: np.ndarray, rng: np.random.Generator, kind: str) -> Variable:
    mechanism = OPEN[kind]
    reports = mechanism.simulate(codes, rng, STRINGS)
    return Variable(name, mechanism, reports, STRINGS)


def two_fields(rng: np.random.Generator, n: int = 4_000) -> list[Variable]:
    x, y = dependent(rng, n)
    return [closed("colour", x, rng), closed("size", y, rng, "basic")]
