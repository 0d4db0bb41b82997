"""How much nearer tables are to the truth if records of few cells are smoothed as a whole.

Each row is one population, d yes/no attributes, tables of k of them, an epsilon and a number of
people. Reports are drawn as counts of what "auto" chooses there. The same reports are smoothed
table by table and as one distribution of whole profiles; what is printed is the mean total
variation of all tables of the former, and the latter's over it, with the standard error of paired
runs.
"""

from __future__ import annotations

import argparse
import json
import math
from itertools import combinations, product
from pathlib import Path
from typing import cast

import numpy as np

from deniable.authoring.auto_profile import profile_choices
from deniable.marginals.smoothed import smooth
from deniable.mechanisms import ProfileMechanism, mechanism_for
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Moments, Subset
from deniable.mechanisms.profile_base import unnamed_profile
from marginals_auto import POPULATIONS, chances, drawn, name_of, table
from marginals_grid import population

ATTRIBUTES = (4, 8)
ORDERS = (2, 3)
PEOPLE = (2**12, 2**18)
SEED = 14


def error(moments: Moments, k: int, truth: dict[Subset, Floats], *, whole: bool) -> float:
    """Return the mean total variation of smoothed tables."""
    found, _ = smooth(moments, k, list(truth), whole=whole)
    return float(np.mean([np.abs(found[s].ravel() - true).sum() / 2 for s, true in truth.items()]))


def measured(
    name: str, d: int, k: int, n: int, epsilon: float, runs: int, data: Path | None
) -> dict[str, object]:
    """Return one row."""
    rows = population(name, data).widened(d).rows
    truth = {subset: table(rows, subset) for subset in combinations(range(d), k)}
    wanted = {"epsilon": epsilon, "order": k, "people": n}
    best = profile_choices(unnamed_profile((2,) * d), wanted)[0]
    mechanism = cast(ProfileMechanism, mechanism_for(best.parameters))
    chance, rng = chances(mechanism, rows), np.random.default_rng([SEED, d, k, n])
    found = []
    for _ in range(runs):
        moments = mechanism.moments(drawn(mechanism, chance, n, rng))
        found.append([error(moments, k, truth, whole=whole) for whole in (False, True)])
    apart, together = np.array(found).T
    spread = float(np.std(together - apart, ddof=1)) / math.sqrt(runs) / apart.mean()
    return {
        "population": name, "d": d, "k": k, "people": n, "mechanism": name_of(mechanism),
        "table_by_table": float(apart.mean()), "ratio": float(together.mean() / apart.mean()),
        "std_error": spread,
    }  # fmt: skip


def main() -> None:
    """Measure every row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a directory with taxi.csv and movielens.csv")
    parser.add_argument("--runs", type=int, default=50, help="of every row (50)")
    parser.add_argument("--epsilon", type=float, default=round(math.log(3), 6), help="(ln 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    found = []
    for d, k, n, name in product(ATTRIBUTES, ORDERS, PEOPLE, POPULATIONS):
        row = measured(name, d, k, n, wanted.epsilon, wanted.runs, wanted.data)
        found.append(row)
        if not wanted.json:
            print(f"{name:10} d = {d}, k = {k}, {n:9,} people, {row['mechanism']:12} "
                  f"table by table {row['table_by_table']:.4f}, as a whole {row['ratio']:.3f} ± "
                  f"{row['std_error']:.3f} of it", flush=True)  # fmt: skip
    if wanted.json:
        print(json.dumps({"epsilon": wanted.epsilon, "runs": wanted.runs, "rows": found}))


if __name__ == "__main__":
    main()
