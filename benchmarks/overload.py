"""A collector under more load than it can take: reports accepted, and how an honest sender fares.

    python benchmarks/overload.py [--seconds 8] [--only NAME] [--json]

A real `deniable serve` on 127.0.0.1 in a process of its own, anew for each row. The base load is 50
connections, each sending the next batch when the last is answered; 4 and 16 times as many follow,
then bad requests, then floods of other kinds beside 16 connections of single reports. Beside all of
them one sender, in a process of its own, posts single reports on new connections with a client's
time limit, and two supervisors look at `/healthz` and `/readyz`, ten times a second each. The
generator shares the machine with the collector, so that rates are good as ratios within one run
only: *of best* is a row's accepted reports per second over the best of its group.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import uvloop

from _collector_process import Serving
from _flood import Flood, Seen, Tally, askers, flood_for, holders, request, senders

BASE = 50
WARM_SECONDS = 2.0
_SLOW_HEAD = b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\n"
_UNFINISHED = request("POST", "/v1/reports", b" " * 2**20)[:-1]


@dataclass(frozen=True)
class Row:
    """One load."""

    group: str
    name: str
    floods: tuple[Flood, ...]


def rows() -> list[Row]:
    """Return every load, the base of each group first."""
    found = [
        Row(f"batches of {reports:,}", f"{times} x {BASE} connections", (senders(n, reports),))
        for reports in (1, 20, 1_000)
        for times, n in ((1, BASE), (4, 4 * BASE), (16, 16 * BASE))
    ]
    # More connections than there is room for.
    found.append(Row("batches of 1,000", f"{24} x {BASE} connections", (senders(1_200, 1_000),)))
    found += [
        Row("bad requests, 32 connections", f"{share:.0%} bad", (senders(32, 20, share),))
        for share in (0.0, 0.05, 0.5, 1.0)
    ]
    beside = senders(16, 1)
    found.append(Row("floods beside 16 senders", "none", (beside,)))
    found += [
        Row("floods beside 16 senders", f"{n} x GET {path}", (beside, askers(n, path)))
        for path in ("/healthz", "/readyz", "/nothing", "/v1/survey", "/")
        for n in (50, 400)
    ]
    found += [
        Row("floods beside 16 senders", name, (beside, flood))
        for name, flood in (
            ("1,200 x GET /healthz", askers(1_200, "/healthz")),
            ("1,000 idle connections", holders(1_000, b"")),
            ("1,000 slow heads", holders(1_000, _SLOW_HEAD, b"x: y\r\n")),
            ("1,000 unfinished bodies of 1 MiB", holders(1_000, _UNFINISHED)),
        )
    ]
    return found


def run(row: Row, seconds: float) -> tuple[Tally, Seen, int]:
    """Run one load against a new collector; return also its memory at the end."""
    with tempfile.TemporaryDirectory() as folder, Serving(Path(folder)) as serving:
        work = flood_for(serving.port, seconds, list(row.floods), WARM_SECONDS)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            tally, seen = runner.run(work)
        return tally, seen, serving.resident()


def main() -> None:
    """Run every load and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="for each row (8)")
    parser.add_argument("--only", default="", help="rows whose group or name has this in it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    shown: list[dict[str, object]] = []
    best: dict[str, float] = {}
    for row in rows():
        if chosen.only not in f"{row.group}: {row.name}":
            continue
        tally, seen, memory = run(row, chosen.seconds)
        sender, checks = seen.sender, (seen.health, seen.readiness)
        rate = tally.accepted / tally.seconds
        best[row.group] = max(best.get(row.group, 0.0), rate)
        shown.append(
            {
                "group": row.group,
                "load": row.name,
                "accepted_per_second": rate,
                "of_best": rate / best[row.group] if best[row.group] else 0.0,
                "answers": {str(status): n for status, n in sorted(tally.statuses.items())},
                "broken": tally.broken,
                "honest_answers": len(sender.seconds),
                "honest_refused": sender.refused,
                "honest_unanswered": sender.unanswered,
                "honest_p50_ms": 1e3 * sender.quantile(0.5),
                "honest_p99_ms": 1e3 * sender.quantile(0.99),
                "honest_longest_ms": 1e3 * sender.quantile(1.0),
                "health_answers": sum(check.accepted for check in checks),
                "health_not_answered": sum(check.refused + check.unanswered for check in checks),
                "health_longest_ms": 1e3 * max(check.quantile(1.0) for check in checks),
                "memory_mib": memory / 2**20,
            }
        )
        if not chosen.json:
            _print(shown[-1], first=len(shown) == 1)
    if chosen.json:
        print(json.dumps({"seconds": chosen.seconds, "rows": shown}))


def _print(row: dict[str, object], *, first: bool) -> None:
    if first:
        print(
            f"{'load':58} {'accepted/s':>10} {'of best':>7} | honest: {'answers':>7} "
            f"{'refused':>7} {'silent':>6} {'p50 ms':>7} {'p99 ms':>8} {'max ms':>8} "
            f"| health: {'true':>5} {'not':>4} {'max ms':>8} | {'MiB':>5}  answers"
        )
    print(
        f"{row['group']}: {row['load']}".ljust(58)
        + " {accepted_per_second:10,.0f} {of_best:7.2f} |         {honest_answers:7} "
        "{honest_refused:7} {honest_unanswered:6} {honest_p50_ms:7.1f} {honest_p99_ms:8.1f} "
        "{honest_longest_ms:8.1f} |         {health_answers:5} {health_not_answered:4} "
        "{health_longest_ms:8.1f} | {memory_mib:5.0f}  {answers}".format(**row),
        flush=True,
    )


if __name__ == "__main__":
    main()
