"""Strings from n-grams: the time of every step, and how it grows with the reports.

A hundred made-up web addresses of at most 20 characters with frequencies proportional to 0.963^i,
epsilon 4.39, bigrams. Printed for 100,000 and a million reports, and with `--full` ten million: the
processor's seconds of each step, the ratio to a tenth of the reports, and the largest memory of the
process so far, of which simulating takes a part. Several threads of one step are added up, so that
the sums do not depend on how many processors there are, or on what else they do.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np

from _measure import versions
from deniable.decode import decode
from deniable.discover.ngrams.discovery import Search, candidates_of
from deniable.discover.ngrams.marginals import common_grams
from deniable.discover.ngrams.pairs import all_pairs
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Reports
from deniable_papers.fpe16.discovery import geometric
from deniable_papers.fpe16.names import DOMAIN, LETTERS, NAMES, made_up

T = TypeVar("T")


class Watch:
    """Seconds of the processor by the name of a step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, step: str, run: Callable[[], T]) -> T:
        """Return what `run` returns."""
        start = time.process_time()
        found = run()
        self.seconds[step] = self.seconds.get(step, 0.0) + time.process_time() - start
        return found


def crowd(mechanism: NGrams, strings: list[str], people: int) -> Reports:
    """Return the reports of a number of people."""
    rng = np.random.default_rng(2)
    codes = rng.choice(len(strings), size=people, p=geometric(len(strings), 0.963))
    return mechanism.simulate(codes, rng, strings)


@dataclass(frozen=True)
class Measured:
    """Cost and findings at one number of reports.

    Attributes:
        reports: how many.
        seconds: of the processor, by step.
        common: the n-grams of every place that were paired.
        candidates: strings that were tested.
        found: those that somebody holds, by Holm.
        false: the others.
        gigabytes: the most memory so far.
    """

    reports: int
    seconds: dict[str, float]
    common: list[int]
    candidates: int
    found: int
    false: int
    gigabytes: float


def measured(mechanism: NGrams, strings: list[str], people: int) -> Measured:
    """Return the seconds of every step from the reports to the decisions, and what was found."""
    reports, watch, search = crowd(mechanism, strings, people), Watch(), Search()
    counts = watch("count", lambda: mechanism.accumulate(reports))
    common = watch("n-grams", lambda: common_grams(mechanism, counts, LETTERS))
    pairs = watch("pairs", lambda: all_pairs(mechanism, reports, common))
    graph = watch("cliques", lambda: pairs.graph(search.threshold))
    listed = watch("cliques", lambda: candidates_of(graph, mechanism.parameters, search)).strings
    whole, found = mechanism.whole_counts(counts), set[str]()
    if listed:
        decoded = watch("test", lambda: decode(mechanism.whole, whole, list(listed)))
        found = {listed[i] for i in np.flatnonzero(decoded.holm)}
    return Measured(
        people,
        {**watch.seconds, "all": sum(watch.seconds.values())},
        [len(one.grams) for one in common],
        len(listed),
        len(found & set(strings)),
        len(found - set(strings)),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )


def main() -> None:
    """Print a line per number of reports, and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=2, help="characters of an n-gram (2)")
    parser.add_argument("--full", action="store_true", help="ten million reports, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    mechanism = NGrams(alphabet=LETTERS, length=DOMAIN.length, epsilon=4.39, n=options.n)
    strings = made_up(NAMES, np.random.default_rng(1))
    measured(mechanism, strings, 2_000)  # compiles the kernels
    rows: list[Measured] = []
    for people in [10**5, 10**6, *([10**7] if options.full else [])]:
        rows.append(measured(mechanism, strings, people))
        if not options.json:
            show(rows)
    used = versions("numpy", "numba", "scipy")
    made = [asdict(row) for row in rows]
    print(json.dumps({"rows": made, "versions": used}) if options.json else f"  {used}")


def show(rows: list[Measured]) -> None:
    """Print the last row, and how many times as long as in the one before every step took."""
    row, before = rows[-1], rows[-2].seconds if len(rows) > 1 else {}
    print(f"{row.reports:,} reports, {row.gigabytes:.2f} GB")
    for step, seconds in row.seconds.items():
        times = f"{seconds / before[step]:8.1f} x" if step in before else ""
        print(f"  {step:8} {seconds:8.2f} s{times}")
    found = f"{row.found} found, {row.false} false, of {row.candidates} candidates"
    print(f"  {found}; common n-grams {row.common}", flush=True)


if __name__ == "__main__":
    main()
