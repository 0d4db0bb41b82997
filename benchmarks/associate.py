"""Associations: from reports to table, errors and test, beside EM as a peer would write it.

Two cases with n reports of two fields and 36 cells: basic RAPPOR at epsilon 1.5 each, whose
reports are grouped into patterns, and Bloom filters (k=128, h=2, m=16, epsilon 3, five strings and
"other" each), whose reports are nearly all different. In each: ours from the reports in memory to
estimate, covariance and test; our solvers alone, SQUAREM and EM to a log-likelihood gap of 0.01,
SQP to its own, smaller one; and the peer, a dense EM in NumPy over a matrix of n x 36 that it is
given, to the same gap of 0.01. Then larger tables, ours alone, in seconds by the clock and of
processors: three fields of 5 answers with n reports; 100 x 2 with a million, by k-RR, whose reports
are grouped, and by basic RAPPOR and Bloom filters, whose reports are all different and kept as
bytes.

SQP takes rows x cells^2 a round and needs about five; EM rows x cells and needs thousands, more
the smaller epsilon is.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from _measure import Rate, arguments, show, versions
from deniable.associate import Variable, associate
from deniable.associate.fields import field_rows
from deniable.associate.patterns import patterns_of
from deniable.decode import fit_rows, run_em, run_squarem
from deniable.mechanisms import KRR, Mechanism, Rappor

GAP = 0.01
STRINGS = tuple(f"www.example-{number}.com" for number in range(101))


def people(n: int, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """Return codes of n people; every field agrees with the first a little more than by chance."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, sizes[0], n)
    rest = [rng.integers(0, size, n) for size in sizes[1:]]
    agree = [
        np.where(rng.random(n) < 0.2, first % s, c) for s, c in zip(sizes[1:], rest, strict=True)
    ]
    return [first, *agree]


def fields(
    n: int, mechanisms: list[Mechanism], sizes: tuple[int, ...], *, unlisted: int = 1
) -> list[Variable]:
    """Return the people's reports; all strings that they hold but the last ones are candidates."""
    rng, found = np.random.default_rng(2), []
    for number, (mechanism, codes) in enumerate(zip(mechanisms, people(n, sizes), strict=True)):
        held = STRINGS[: sizes[number]] if mechanism.hashed else None
        reports = mechanism.simulate(codes, rng, held)
        listed = held and held[: len(held) - unlisted]
        other = None if held is None else unlisted > 0
        found.append(Variable(f"field{number}", mechanism, reports, listed, other=other))
    return found


def dense_em(likelihood: np.ndarray, gap: float) -> int:
    """Return the iterations of a straightforward EM over a dense matrix of reports x cells."""
    n, cells = likelihood.shape
    x = np.full(cells, 1 / cells)
    for iteration in range(200_000):
        posterior = likelihood * x
        posterior /= posterior.sum(axis=1, keepdims=True)
        moved = posterior.mean(axis=0)
        if n * (np.max(moved / x) - 1) <= gap:
            return iteration
        x = moved
    return 200_000


def timed(name: str, run: Callable[[], object], repeat: int = 3) -> Rate:
    """Return the fastest of some runs; print its time, and that of processors."""
    best = busy = np.inf
    for _ in range(repeat):
        start, worked = time.perf_counter(), time.process_time()
        found = run()
        best = min(best, time.perf_counter() - start)
        busy = min(busy, time.process_time() - worked)
    print(f"{name}: {best:.3f} s, {busy:.3f} s of processors {_about(found)}", file=sys.stderr)
    return Rate(name, 1, best)


def _about(found: object) -> str:
    if isinstance(found, int):
        return f"({found:,} iterations)"
    if isinstance(found, tuple):
        joint = found[0]
        return f"({joint.patterns:,} patterns, gap {joint.gap:.1e}, n {joint.n:,})"
    return f"({getattr(found, 'rounds', 0):,} rounds, gap {getattr(found, 'gap', 0.0):.1e})"


def compare(title: str, variables: list[Variable], as_json: bool) -> None:
    """Print ours, the solvers and the peer for one case."""
    patterns = patterns_of(variables)
    factors = [_per_report(variable) for variable in variables]
    dense = np.einsum("ia,ib->iab", *factors).reshape(len(factors[0]), -1)
    rates = [
        timed("ours, reports to table, errors and test", lambda: associate(variables)),
        timed("SQP on patterns", lambda: fit_rows(patterns)),
        timed("SQUAREM on patterns", lambda: run_squarem(patterns, gap=GAP)),
        timed("EM on patterns", lambda: run_em(patterns, gap=GAP), 1),
        timed("the peer, dense EM", lambda: dense_em(dense, GAP), 1),
    ]
    show(title, "fits", rates, versions("numpy", "scipy", "numba"), as_json=as_json)


def _per_report(variable: Variable) -> np.ndarray:
    """Return one field's likelihoods, a row per report: what the peer starts from."""
    rows = field_rows(variable)
    lines = rows.lines if rows.codes is None else rows.lines[:, rows.codes]
    return np.ascontiguousarray(lines.T)


def sizes(n: int, larger: int, basic: list[Variable], bloom: list[Variable]) -> None:
    """Print how long ours takes from reports to table, errors and test, for tables of all sizes."""
    wide = (100, 2)
    krr = [KRR(100, epsilon=2.0), KRR(2, epsilon=1.5)]
    bits = [Rappor.basic(100, epsilon=2.0), Rappor.basic(epsilon=1.5)]
    filters = Rappor(bits=128, hashes=2, cohorts=16, epsilon=3.0)
    strings = [filters, KRR(2, epsilon=1.5)]
    tables = {
        "6 x 6, basic RAPPOR": basic,
        "6 x 6, Bloom filters": bloom,
        "5 x 5 x 5, basic RAPPOR": fields(n, [Rappor.basic(5, epsilon=1.5)] * 3, (5, 5, 5)),
        "100 x 2, k-RR": fields(larger, krr, wide),
        "100 x 2, basic RAPPOR": fields(larger, bits, wide),
        "101 x 2, Bloom filters of 100 strings and others": fields(larger, strings, (101, 2)),
        "100 x 2, Bloom filters": fields(larger, [filters] * 2, wide, unlisted=0),
    }
    for name, variables in tables.items():
        few = [replace(variable, reports=variable.reports[:60_000]) for variable in variables]
        associate(few)  # compile, and import what is imported late
        timed(f"ours, {name}", functools.partial(associate, variables))


def main() -> None:
    """Print the rates of one run."""
    options = arguments(
        __doc__,
        people=(100_000, "reports, n"),
        larger=(1_000_000, "reports of the larger tables"),
        peer=(1, "0 leaves out the slow solvers and the peer"),
    )
    n = options.people
    basic = fields(n, [Rappor.basic(6, epsilon=1.5)] * 2, (6, 6))
    bloom = fields(n, [Rappor(bits=128, hashes=2, cohorts=16, epsilon=3.0)] * 2, (6, 6))
    sizes(n, options.larger, basic, bloom)
    if options.peer:
        compare(f"Basic RAPPOR, 6 x 6, n={n:,}", basic, options.json)
        compare(f"Bloom filters, 6 x 6, n={n:,}", bloom, options.json)


if __name__ == "__main__":
    main()
