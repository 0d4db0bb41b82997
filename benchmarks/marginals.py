"""Tables of many attributes: counting reports, and decoding all tables after counting.

Counting is linear in n; decoding does not depend on n, and grows with the number of tables.
"""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from _measure import Rate, arguments, rate, read_bandwidth, show, versions
from deniable.authoring import resolve
from deniable.marginals import smoothed_tables
from deniable.mechanisms import PROFILE_MECHANISMS, Counts, ProfileMechanism
from deniable.mechanisms.profile_base import unnamed_profile

METHODS = (
    *("views", "coefficients", "inp_ps", "inp_ht", "marg_ps", "marg_ht", "inp_em", "inp_ht_cms"),
    *("inp_olh", "marg_rr", "inp_rr"),
)
COUNTED = 8
"""Attributes for the rates of counting: every method can do that many."""


def made(name: str, attributes: int, order: int) -> ProfileMechanism:
    """Return a method for a number of yes/no attributes, epsilon ln 3."""
    kind, record = PROFILE_MECHANISMS[name], unnamed_profile((2,) * attributes)
    wanted: dict[str, object] = {"epsilon": math.log(3), "order": order}
    return kind.of(resolve(kind.parameters_type, wanted, record, False), record)


def people(n: int, attributes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return people with one liking behind all attributes."""
    score = 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, attributes))
    return (score > 0.3).astype(np.int64)


def counted(name: str, codes: NDArray[np.int64], order: int, rng: np.random.Generator) -> Counts:
    """Return the counts of people's reports."""
    mechanism = made(name, codes.shape[1], order)
    return mechanism.accumulate(mechanism.simulate(codes, rng))


def counting(n: int, rng: np.random.Generator) -> list[Rate]:
    """Return how many reports each method counts per second."""
    codes, rates = people(n, COUNTED, rng), []
    for name in METHODS:
        mechanism = made(name, COUNTED, 2)
        reports = mechanism.simulate(codes, rng)
        mechanism.accumulate(reports[:10])
        label = f"{name}, {reports.itemsize} bytes"
        rates.append(rate(label, n, partial(mechanism.accumulate, reports)))
    symbols = made("views", COUNTED, 2).simulate(codes, rng)["symbol"]
    rates.append(rate("views by numpy.unique", n, lambda: np.unique(symbols, return_counts=True)))
    return [*rates, *largest(n, rng), *limits(made("inp_rr", COUNTED, 2), made("inp_rr", 16, 2))]


def largest(n: int, rng: np.random.Generator) -> list[Rate]:
    """Return the rate for the largest reports there are: inp_rr of 16 attributes, 8,192 bytes."""
    mechanism = made("inp_rr", 16, 2)
    count = max(1, n // 256)
    reports = rng.bytes(count * mechanism.dtype.itemsize)
    mechanism.accumulate(reports)
    label = f"inp_rr of 16 attributes, {mechanism.dtype.itemsize:,} bytes"
    return [rate(label, count, partial(mechanism.accumulate, reports))]


def limits(*wide: ProfileMechanism) -> list[Rate]:
    """Return how many reports one core could read, of a byte and of other mechanisms' sizes."""
    memory = read_bandwidth()
    sizes = [1, *(mechanism.dtype.itemsize for mechanism in wide)]
    return [
        Rate(f"reading memory, {size:,} bytes each", memory.work / size, memory.seconds)
        for size in sizes
    ]


def decoding(n: int, rng: np.random.Generator) -> list[Rate]:
    """Return how many tables are decoded per second; `work` is the number of tables."""
    rates = []
    for attributes, order in ((16, 2), (32, 2), (32, 3)):
        codes = people(n, attributes, rng)
        for name in ("views", "coefficients"):
            mechanism = made(name, attributes, order)
            counts = mechanism.accumulate(mechanism.simulate(codes, rng))
            start = time.perf_counter()
            tables = smoothed_tables(mechanism, counts)
            seconds = time.perf_counter() - start
            rates.append(Rate(f"{name}, d={attributes}, k={order}", len(tables), seconds))
    mechanism = made("views", 16, 2)
    counts = counted("views", people(n, 16, rng), 2, rng)
    start = time.perf_counter()
    pairs = [(i, j) for i in range(16) for j in range(i)]
    for pair in pairs:
        mechanism.marginal(counts, pair)
    rates.append(Rate("views, d=16, k=2, raw", len(pairs), time.perf_counter() - start))
    return rates


def main() -> None:
    """Print the rates of one run."""
    options = arguments(__doc__, reports=(2**22, "reports to count"), people=(10**6, "to decode"))
    rng = np.random.default_rng(1)
    used = versions("numpy", "numba", "scipy")
    counts = counting(options.reports, rng)
    show(
        f"Counting {options.reports:,} reports of {COUNTED} attributes, one core",
        "reports",
        counts,
        used,
        as_json=options.json,
    )
    show(
        f"Smoothed tables after counting {options.people:,} reports, one core",
        "tables",
        decoding(options.people, rng),
        used,
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
