"""Joint tables beside unlisted strings that many people hold: coverage, and the test's level.

Three strings are listed; a share of the people holds one of a few strings that nobody listed. The
fewer cohorts, the more depends on which places those fall. Printed for every mechanism with
"(other)" and cohorts of hash functions: the coverage of cells of the table beside a yes/no that
depends on the strings, of shares of yes given a string, and, where it does not depend on them, how
often independence is rejected at 5%; in how many of the runs there was a table. Strings, and with
them hash functions, are other ones in every run.

    python benchmarks/associate_unlisted.py --only rappor --people 20000 --runs 40
"""

from __future__ import annotations

import argparse
import json
import zlib

import numpy as np

from _honesty.grid import Measured, over_runs
from _honesty.tables import OPEN, YES, covered, drawn_names, independent_p, people_of
from deniable.associate import associate as fit_two
from deniable.decode.reading import Reading
from deniable.errors import InvalidParameter
from deniable.mechanisms import Mechanism, Rappor

MECHANISMS = {
    **{name: make for name, make in OPEN.items() if name not in ("olh",)},
    "rappor of 2 hashes": lambda e, _: Rappor(bits=128, hashes=2, cohorts=16, epsilon=e),
}
LISTED = np.array([0.4, 0.3, 0.3])


def measured(
    mechanism: Mechanism, people: int, epsilon: float, share: float, strings: int, runs: int
) -> list[Measured]:
    """Return what was measured in one setting."""
    name = repr((mechanism.digest, people, epsilon, share, strings))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    shares = np.append((1 - share) * LISTED, share)
    cells, given, levels = [], [], []
    for _ in range(runs):
        names = drawn_names(strings, rng)
        both = people_of(mechanism, (people, epsilon), shares, YES, names, rng)
        alike = people_of(mechanism, (people, epsilon), shares, np.full(4, 0.3), names, rng)
        try:
            joint, _ = fit_two(both)
            levels.append(float(independent_p(alike, Reading()) <= 0.05))
        except InvalidParameter:  # reports that cannot tell the answers apart: it says so
            continue
        of_cells, of_shares = covered(joint, shares)
        cells.append(of_cells)
        given.append(of_shares)
    return [
        *over_runs("cells", cells, 2 * shares.size),
        *over_runs("shares given a string", given, 2),
        *over_runs("type I error", levels),
    ]


def main() -> None:
    """Print a row per setting, and their means."""
    given = _arguments()
    rows = []
    for name, make in MECHANISMS.items():
        if not name.startswith(given.only):
            continue
        for n, epsilon, share, strings in (
            (n, e, s, k)
            for n in given.people
            for e in given.epsilons
            for s in given.unlisted
            for k in given.strings
        ):
            found = measured(make(epsilon, n), n, epsilon, share, strings, given.runs)
            row = {"mechanism": name, "people": n, "epsilon": epsilon, "unlisted": share}
            row |= {"strings": strings, "runs": max((one.runs for one in found), default=0)}
            rows.append(row | {one.measure: one.value for one in found})
            if not given.json:
                print(_said(rows[-1]), flush=True)
    if given.json:
        print(json.dumps(rows))
    elif rows:
        for measure in ("cells", "shares given a string", "type I error"):
            values = [row[measure] for row in rows if measure in row]
            print(f"mean, {measure}: {100 * np.mean(values):.1f}% of {len(values)} settings")


def _said(row: dict[str, float | str]) -> str:
    return "  ".join(
        f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in row.items()
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="of each setting (40)")
    parser.add_argument("--people", type=int, nargs="*", default=[200, 2_000, 20_000])
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1.0, 3.0, 8.0])
    parser.add_argument("--unlisted", type=float, nargs="*", default=[0.2, 0.4, 0.8])
    parser.add_argument("--strings", type=int, nargs="*", default=[1, 3, 60])
    parser.add_argument("--only", default="", help="mechanisms whose names begin like this")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    return parser.parse_args()


if __name__ == "__main__":
    main()
