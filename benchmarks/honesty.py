"""Coverage and errors of what we print: every mechanism, few people and many, five populations.

A cell is a kind of answer, a mechanism, a number of people, an epsilon, a population, and one epoch
or twelve of the same people. Coverage of shares whose counts are binomial is computed; everything
else is simulated, each cell with a seed of its own. Finished cells are kept in a table, so that a
run that was stopped goes on where it ended. Ends with 1 if a promise is broken.

    python benchmarks/honesty.py --keep honesty.csv --minutes 60
    python benchmarks/honesty.py --keep honesty.csv --minutes 0 --summary docs/honesty.csv
    python benchmarks/honesty.py --draw docs/honesty.csv --picture docs/honesty.png
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import track

from _honesty import found, numbers, profiles, shares, tables
from _honesty.grid import EPOCHS, EPSILONS, PEOPLE, POPULATIONS, Cell, Measured
from _honesty.kept import Line, append, read, summary, write
from _honesty.verdict import ALPHA, Verdict, verdicts
from deniable.errors import InvalidParameter

MANY = 2_000
"""The fewest people among whom strings are discovered."""
KINDS: dict[str, tuple[Sequence[str], Callable[[Cell, int], list[Measured]]]] = {
    "exact": (tuple(shares.BINOMIAL), lambda cell, _: shares.exact(cell)),
    "shares": (tuple(shares.MECHANISMS), shares.simulated),
    "profiles": (profiles.NAMES, profiles.simulated),
    "found": (found.NAMES, found.simulated),
    "numbers": (numbers.MECHANISMS, numbers.simulated),
    "tables": (tuple(tables.MECHANISMS), tables.simulated),
}


def cells(
    kinds: Sequence[str],
    people: Sequence[int],
    epsilons: Sequence[float],
    epochs: Sequence[int],
    seed: int = 0,
) -> Iterator[Cell]:
    """Yield the cells of the grid."""
    for n in people:
        for kind in kinds:
            if kind == "found" and n < MANY:
                continue
            for mechanism in KINDS[kind][0]:
                for epsilon in epsilons:
                    for again in epochs if kind != "exact" else (1,):
                        for population in POPULATIONS:
                            yield Cell(kind, mechanism, n, epsilon, population, again, seed)


def measured(cell: Cell, runs: int) -> list[Measured]:
    """Return the numbers of a cell; none where its mechanism has no form at that epsilon."""
    try:
        return KINDS[cell.kind][1](cell, runs)
    except InvalidParameter:
        return []


def main() -> int:
    """Run what is not kept yet, as far as time allows, and print what the table shows."""
    given = _arguments()
    if given.draw:
        from _honesty.picture import draw

        draw(read(given.draw), given.picture)
        return 0
    lines = read(given.keep)
    done = {line.cell for line in lines}
    wanted = [
        cell
        for cell in cells(given.kinds, given.people, given.epsilons, given.epochs, given.seed)
        if cell not in done and cell.mechanism.startswith(given.only)
    ]
    # In an order by chance, so that an unfinished table is a fair sample of the whole one.
    wanted.sort(key=lambda cell: zlib.crc32(repr(cell).encode()[::-1]))
    end, console = time.monotonic() + 60 * given.minutes, Console(stderr=True)
    for cell in track(wanted, "cells", console=console, disable=not wanted):
        if time.monotonic() > end:
            break
        lines += append(given.keep, cell, measured(cell, given.runs))
    if given.summary:
        write(given.summary, summary(lines))
    if given.picture:
        from _honesty.picture import draw

        draw(summary(lines), given.picture)
    found_ones = verdicts(lines)
    _printed(found_ones, lines, given.json)
    return 0 if all(one.kept for one in found_ones) else 1


def _printed(found_ones: Sequence[Verdict], lines: Sequence[Line], as_json: bool) -> None:
    if as_json:
        rows = [{**asdict(one), "kept": one.kept} for one in found_ones]
        print(json.dumps({"alpha": ALPHA, "lines": len(lines), "verdicts": rows}, indent=1))
        return
    print(f"{len({line.cell for line in lines}):,} cells; alpha of the counts beyond 2: {ALPHA}")
    for one in found_ones:
        name = f"{one.kind}: {one.measure}"
        sign = "kept" if one.kept else "BROKEN"
        where = one.worst
        print(
            f"{name:44s} {one.cells:5d} cells, mean {100 * one.mean:5.1f}%, beyond 2: {one.far:3d} "
            f"of {one.allowed:3d} allowed, beyond 4.5: {len(one.broken):3d}  {sign}; worst "
            f"{100 * where.value:.1f}% {where.mechanism}, n={where.people}, "
            f"eps={where.epsilon:g}, {where.population}, {where.epochs} epochs"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="of each cell (100)")
    parser.add_argument("--minutes", type=float, default=60.0, help="then stop (60)")
    parser.add_argument("--keep", type=Path, default=Path("honesty.csv"), help="finished cells")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--people", type=int, nargs="*", default=PEOPLE)
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--epochs", type=int, nargs="*", default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0, help="of all cells (0)")
    parser.add_argument("--only", default="", help="mechanisms whose names begin like this")
    parser.add_argument("--summary", type=Path, help="write the numbers over all populations")
    parser.add_argument("--picture", type=Path, help="write the table as a picture")
    parser.add_argument("--draw", type=Path, help="draw the picture from this summary, and end")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
