"""Coverage and errors of what we print: every mechanism, few people and many, five populations.

A cell is a mechanism, a number of people, an epsilon and a population. Each cell is simulated in
runs of its own seed: coverage of the population's shares by 95% intervals, the family-wise error of
Holm, the false share of Storey's discoveries. Finished cells are kept in a file, so that a run that
was stopped goes on where it ended.

    python benchmarks/honesty.py --runs 200 --keep honesty.json
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.decode import decode
from deniable.errors import InvalidParameter
from deniable.mechanisms import (
    HCMS,
    KRR,
    OLH,
    ORR,
    OUE,
    PGR,
    Hadamard,
    Mechanism,
    Rappor,
    Subset,
)

ANSWERS = 20
UNLISTED = 0.4
PEOPLE = (1, 20, 200, 2_000, 20_000)
EPSILONS = (0.1, 1.0, 3.0, 8.0)
Make = Callable[[float], Mechanism]
CLOSED: dict[str, Make] = {
    "krr": lambda e: KRR(ANSWERS, epsilon=e),
    "oue": lambda e: OUE(ANSWERS, epsilon=e),
    "subset": lambda e: Subset(ANSWERS, epsilon=e),
    "hadamard": lambda e: Hadamard(ANSWERS, epsilon=e),
    "rappor basic": lambda e: Rappor.basic(ANSWERS, epsilon=e),
    "pgr closed": lambda e: PGR.closed(ANSWERS, epsilon=e),
    "orr closed": lambda e: ORR.closed(ANSWERS, epsilon=e),
    "hcms closed": lambda e: HCMS.closed(ANSWERS, epsilon=e),
}
OPEN: dict[str, Make] = {
    "rappor": lambda e: Rappor(bits=64, cohorts=16, epsilon=e),
    "olh": lambda e: OLH(epsilon=e),
    "olh with a pool": lambda e: OLH(epsilon=e, seeds=65_536),
    "orr": lambda e: ORR(epsilon=e),
    "hcms": lambda e: HCMS(epsilon=e),
    "pgr": lambda e: PGR(epsilon=e),
}


def populations() -> dict[str, np.ndarray]:
    """Return the shares of the answers; a share that is left is that of unlisted strings."""
    rank = np.arange(1, ANSWERS + 1)
    zipf, geometric = 1 / rank, 0.7**rank
    return {
        "one": (rank == 1).astype(float),
        "two": np.where(rank <= 2, 0.5, 0.0),
        "geometric": geometric / geometric.sum(),
        "uniform": np.full(ANSWERS, 1 / ANSWERS),
        "zipf": (1 - UNLISTED) * zipf / zipf.sum(),
    }


@dataclass(frozen=True)
class Cell:
    """One setting of the table."""

    mechanism: str
    people: int
    epsilon: float
    population: str

    @property
    def name(self) -> str:
        """Its key in the file of finished cells."""
        return f"{self.mechanism}, n={self.people}, eps={self.epsilon:g}, {self.population}"

    def run(self, runs: int) -> dict[str, float] | None:
        """Simulate it; None where the mechanism has no form at this epsilon."""
        shares = populations()[self.population]
        try:
            mechanism = {**CLOSED, **OPEN}[self.mechanism](self.epsilon)
        except InvalidParameter:
            return None
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        rows = [_one(mechanism, shares, self.people, run, rng) for run in range(runs)]
        names = ("coverage", "held", "family_wise", "false_share", "informed")
        found = {name: _mean([row[name] for row in rows]) for name in names}
        spread = float(np.std([row["coverage"] for row in rows])) / math.sqrt(runs)
        return {**found, "std_error": spread, "runs": runs}


def _one(
    mechanism: Mechanism, shares: np.ndarray, people: int, run: int, rng: np.random.Generator
) -> dict[str, float]:
    """Draw people from the population, have them report, and compare what is said with it."""
    left = max(0.0, 1 - float(shares.sum()))
    codes = rng.choice(len(shares) + 1, size=people, p=[*shares, left])
    listed = None
    if mechanism.hashed:
        # Strings of its own in every run, so that hash functions are drawn anew; many unlisted.
        names = [f"{run} {i}" for i in range(len(shares) + 200)]
        other = len(shares) + rng.integers(0, 200, people)
        reports = mechanism.simulate(np.where(codes < len(shares), codes, other), rng, names)
        listed = names[: len(shares)]
    else:
        reports = mechanism.simulate(codes, rng)
    answers = [str(i) for i in range(len(shares))] if isinstance(mechanism, Hadamard) else listed
    found = decode(mechanism, mechanism.accumulate(reports), answers)
    known = np.isfinite(found.low)
    inside = (found.low <= shares + 1e-12) & (shares <= found.high + 1e-12)
    absent, marked = shares == 0, max(1, int(found.storey.sum()))
    informed = known & ((found.low > 0) | (found.high < 1))
    return {
        "coverage": _mean(inside[known]),
        "held": _mean(inside[known & ~absent]),
        "family_wise": float(found.holm[absent].any()),
        "false_share": float(found.storey[absent].sum()) / marked,
        "informed": _mean(informed),
    }


def _mean(values: Sequence[float] | np.ndarray) -> float:
    known = [float(value) for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def cells(people: Sequence[int], epsilons: Sequence[float]) -> Iterator[Cell]:
    """Yield every cell; only strings can be unlisted."""
    for name in (*CLOSED, *OPEN):
        for n in people:
            for epsilon in epsilons:
                for population in populations():
                    if population != "zipf" or name in OPEN:
                        yield Cell(name, n, epsilon, population)


def main() -> None:
    """Run what is not in the file yet, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="of each cell (200)")
    parser.add_argument("--keep", type=Path, default=Path("honesty.json"), help="finished cells")
    parser.add_argument("--people", type=int, nargs="*", default=PEOPLE)
    parser.add_argument("--only", default="", help="mechanisms whose names begin like this")
    given = parser.parse_args()
    done = json.loads(given.keep.read_text()) if given.keep.exists() else {}
    for cell in cells(given.people, EPSILONS):
        if cell.mechanism.startswith(given.only) and cell.name not in done:
            done[cell.name] = cell.run(given.runs)
            given.keep.write_text(json.dumps(done, indent=1))
        found = done.get(cell.name)
        if found is not None:
            numbers = "  ".join(f"{100 * found[k]:5.1f}%" for k in list(found)[:5])
            print(f"{cell.name:48s} {numbers}")


if __name__ == "__main__":
    main()
