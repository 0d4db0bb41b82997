"""Mutated requests over all routes of a real collector: nothing fails, hangs, grows or is lost.

    python benchmarks/hostile.py [--requests 1000000] [--seed 1] [--json]

Methods, paths, queries, heads, bodies in both forms about plain questions, segments and levels,
chunks, trailers, repeated members and encodings, over connections of their own, 16 at a time, to a
`deniable serve --cors` on 127.0.0.1. Prints the answers by status and the curve of the memory; ends
with an error if anything is wrong. An unfinished request is given up by the collector after its 20
or 30 seconds; few of them are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import uvloop

from _collector_process import Serving
from _hostile import attack, judge


def main() -> int:
    """Attack, judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=10**6, help="how many (1,000,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations (1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Serving(Path(folder), "--cors") as serving:
        start = time.perf_counter()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            outcome = runner.run(attack(serving, chosen.requests, chosen.seed))
        seconds = time.perf_counter() - start
        wrong = judge(serving, outcome)
    if chosen.json:
        print(json.dumps({**asdict(outcome), "wrong": wrong, "seconds": seconds}))
    else:
        answers = ", ".join(f"{status}: {n:,}" for status, n in sorted(outcome.statuses.items()))
        print(f"{outcome.sent:,} requests in {seconds:,.0f} s; answers {answers}")
        print(f"closed without an answer {outcome.unanswered:,}, hung {outcome.hung:,}")
        print(f"accepted {outcome.accepted:,} reports")
        print("memory in MiB " + " ".join(f"{size / 2**20:.0f}" for size in outcome.memory))
        print("wrong: " + ("nothing" if not wrong else "\n  " + "\n  ".join(wrong[:20])))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
