"""The program of `peers.py` in the peers' own environment: measures each task and prints JSON.

It imports nothing of ours. Each task runs for about two seconds, with as many reports as fit.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata

import numpy as np
import opendp.prelude as dp
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles.local_hashing import FastLHServer, LHClient, LHServer
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

BITS, HASHES, COHORTS, SYMBOLS = 128, 2, 32, 4
EPSILON = float(np.log(SYMBOLS - 1))
PURE, MULTI, OPENDP = "pure-ldp", "multi-freq-ldpy", "opendp"
ANSWERS, CLOSED_EPSILON, PEOPLE, ROUNDS = 64, 1.0, 5_000, 3
"""Whole collections: the same numbers stand in `peers.py`."""
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


Frequencies = np.ndarray[tuple[int], np.dtype[np.float64]]


def whole(
    package: str,
    mechanism: str,
    encode: Callable[[int], object],
    estimate: Callable[[list[object]], Frequencies],
) -> dict[str, object]:
    """Return the time per report of encoding and of reading, and the mean of the squared error."""
    errors, nearest, encoding, reading = [], [], float("inf"), float("inf")
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, ANSWERS + 1)
    for _ in range(ROUNDS):
        codes = rng.choice(ANSWERS, PEOPLE, p=share / share.sum())
        truth = np.bincount(codes, minlength=ANSWERS) / PEOPLE
        start = time.perf_counter()
        reports = [encode(int(code)) for code in codes]
        middle = time.perf_counter()
        found = estimate(reports)
        encoding = min(encoding, middle - start)
        reading = min(reading, time.perf_counter() - middle)
        errors.append(float(((np.asarray(found) - truth) ** 2).sum()))
        nearest.append(float(((projected(np.asarray(found)) - truth) ** 2).sum()))
    return {
        "package": package,
        "mechanism": mechanism,
        "encode": PEOPLE / encoding,
        "read": PEOPLE / reading,
        "error": float(np.mean(errors)),
        "projected": float(np.mean(nearest)),
    }


def projected(found: Frequencies) -> Frequencies:
    """Return the nearest distribution, so that all are compared as distributions, too."""
    falling = np.sort(found)[::-1]
    steps = (np.cumsum(falling) - 1) / np.arange(1, len(found) + 1)
    return np.asarray(np.maximum(found - steps[np.flatnonzero(falling > steps)[-1]], 0.0))


def wholes() -> list[dict[str, object]]:
    """Run whole collections: every person's answer encoded, all reports counted and estimated."""
    e = float(np.exp(CLOSED_EPSILON))
    found = []
    for name, use in (("SUE", False), ("OUE", True)):
        client = UEClient(CLOSED_EPSILON, ANSWERS, use_oue=use)

        def pure_ue(reports: list[object], use: bool = use) -> Frequencies:
            server = UEServer(CLOSED_EPSILON, ANSWERS, use_oue=use)
            for report in reports:
                server.aggregate(report)
            return np.array([server.estimate(i + 1) for i in range(ANSWERS)]) / PEOPLE

        found.append(whole(PURE, name, lambda code, c=client: c.privatise(code + 1), pure_ue))
        found.append(
            whole(
                MULTI,
                name,
                lambda code, use=use: UE_Client(code, ANSWERS, CLOSED_EPSILON, use),
                lambda reports, use=use: UE_Aggregator_MI(reports, CLOSED_EPSILON, use),
            )
        )
    hashed = LHClient(CLOSED_EPSILON, ANSWERS, use_olh=True)

    def pure_lh(reports: list[object]) -> Frequencies:
        server = LHServer(CLOSED_EPSILON, ANSWERS, use_olh=True)
        for report in reports:
            server.aggregate(report)
        return np.array([server.estimate(i + 1) for i in range(ANSWERS)]) / PEOPLE

    found.append(whole(PURE, "OLH", lambda code: hashed.privatise(code + 1), pure_lh))
    found.append(
        whole(
            MULTI,
            "OLH",
            lambda code: LH_Client(code, ANSWERS, CLOSED_EPSILON, True),
            lambda reports: LH_Aggregator_MI(reports, ANSWERS, CLOSED_EPSILON, True),
        )
    )
    found.append(
        whole(
            MULTI,
            "k-RR",
            lambda code: GRR_Client(code, ANSWERS, CLOSED_EPSILON),
            lambda reports: GRR_Aggregator_MI(reports, ANSWERS, CLOSED_EPSILON),
        )
    )
    dp.enable_features("contrib")
    keep = e / (e + ANSWERS - 1)
    randomized = dp.m.make_randomized_response(categories=list(range(ANSWERS)), prob=keep)
    other = (1 - keep) / (ANSWERS - 1)

    def by_hand(reports: list[object]) -> Frequencies:
        counts = np.bincount(np.array(reports), minlength=ANSWERS)
        return np.asarray((counts / PEOPLE - other) / (keep - other))

    found.append(whole(OPENDP, "k-RR", randomized, by_hand))
    half = float(np.exp(CLOSED_EPSILON / 2))
    f = 2 / (1 + half)
    bits = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f
    )
    hot = [np.packbits(one, bitorder="little").tobytes() for one in np.eye(ANSWERS, dtype=np.uint8)]

    def debiased(reports: list[object]) -> Frequencies:
        # debias_randomized_response_bitvec takes bytes, and gives an unbiased count of each bit.
        return np.array(dp.m.debias_randomized_response_bitvec(reports, f)) / PEOPLE

    found.append(whole(OPENDP, "SUE", lambda code: bits(hot[code]), debiased))
    return found


def main() -> None:
    """Print what was measured; the peers' own prints go to standard error."""
    warnings.simplefilter("ignore")  # of few reports
    with contextlib.redirect_stdout(sys.stderr):
        rows = wholes()
        rates = rappor() | unary() | local_hashing() if "--parts" in sys.argv else {}
    used = {name: metadata.version(name) for name in (PURE, MULTI, OPENDP)}
    print(json.dumps({"rates": rates, "versions": used, "wholes": rows}))


if __name__ == "__main__":
    main()
