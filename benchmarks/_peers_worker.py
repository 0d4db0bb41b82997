"""The program of `peers.py` in the peers' own environment: measures each task and prints JSON.

It imports nothing of ours. Each task runs for about two seconds, with as many reports as fit.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles.local_hashing import FastLHServer, LHServer
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

BITS, HASHES, COHORTS, SYMBOLS = 128, 2, 32, 4
EPSILON = float(np.log(SYMBOLS - 1))
PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
CANDIDATES = 1_000


def timed(name: str, work: int, run: Callable[[], object], seconds: float = 2.0) -> list[object]:
    """Return name, work and the seconds of the fastest run."""
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return [name, work, best]


def rappor() -> dict[str, list[object]]:
    """Simulate and count Bloom reports."""
    server = RAPPORServer(0.5, BITS, HASHES, CANDIDATES, num_of_cohorts=COHORTS)
    client = RAPPORClient(0.5, BITS, server.get_hash_funcs(), num_of_cohorts=COHORTS)
    reports = [client.privatise(i % CANDIDATES + 1) for i in range(2_000)]
    return {
        "rappor simulate": [
            timed(PURE, 2_000, lambda: [client.privatise(i % CANDIDATES + 1) for i in range(2_000)])
        ],
        "rappor count": [
            timed(PURE, 2_000, lambda: [server.aggregate(report) for report in reports])
        ],
    }


def unary() -> dict[str, list[object]]:
    """Simulate and count unary reports."""
    client, server = UEClient(EPSILON, BITS, use_oue=True), UEServer(EPSILON, BITS, use_oue=True)
    pure = [client.privatise(i % BITS + 1) for i in range(2_000)]
    multi = [UE_Client(i % BITS, BITS, EPSILON) for i in range(2_000)]
    return {
        "unary simulate": [
            timed(PURE, 2_000, lambda: [client.privatise(i % BITS + 1) for i in range(2_000)]),
            timed(MULTI, 2_000, lambda: [UE_Client(i % BITS, BITS, EPSILON) for i in range(2_000)]),
        ],
        "unary count": [
            timed(PURE, 2_000, lambda: [server.aggregate(report) for report in pure]),
            timed(MULTI, 2_000, lambda: UE_Aggregator_MI(multi, EPSILON)),
        ],
    }


def local_hashing() -> dict[str, list[object]]:
    """Count the support of candidates."""
    rng = np.random.default_rng(1)
    reports = [(int(rng.integers(SYMBOLS)), int(rng.integers(2**32))) for _ in range(100)]
    server = LHServer(EPSILON, CANDIDATES, use_olh=True)
    pool = FastLHServer(EPSILON, CANDIDATES, 100, use_olh=True)
    for i, report in enumerate(reports):
        pool.aggregate((report[0], i))
    pairs = len(reports) * CANDIDATES
    return {
        "local hashing": [
            timed(PURE, pairs, lambda: [server.aggregate(report) for report in reports]),
            timed(MULTI, pairs, lambda: LH_Aggregator_MI(reports, CANDIDATES, EPSILON)),
        ],
        "local hashing, pool": [
            timed(f"{PURE}, hashes computed before", pairs, pool._compute_aggregates)
        ],
    }


def main() -> None:
    """Print what was measured; the peers' own prints go to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        rates = rappor() | unary() | local_hashing()
    used = {name: metadata.version(name) for name in (PURE, MULTI)}
    print(json.dumps({"rates": rates, "versions": used}))


if __name__ == "__main__":
    main()
