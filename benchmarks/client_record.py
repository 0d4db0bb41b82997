"""Processor time of a device: a record of k-RR, durable, and the encoding of wide RAPPOR.

    python benchmarks/client_record.py [--records 300]

A record is measured in the caller's thread (`strict`): it checks consent, pins, epochs, budget and
outbox and commits the report. Beside it, a bare commit to a database with the same settings, which
touches as many tables, once with a journal whose head every commit overwrites, as a record's does,
and once with one that it empties. Both are synced. The same on a file system in memory, where
syncing costs nothing, shows what is ours. The ratio to the bare commit with the same journal is
what a faster or slower machine changes least.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from _measure import arguments
from deniable.authoring import resolve
from deniable.client import Client, Consent
from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.protocol import (
    Boolean,
    Field,
    KRRParameters,
    Question,
    RapporParameters,
    Strings,
    Survey,
)
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters

QUESTIONS, TABLES, PART = 8, 3, 30
MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it get random names
JOURNALS = {"PERSIST": "head overwritten", "TRUNCATE": "emptied"}
Rows = dict[str, float]


def question(name: str, domain: Domain, parameters: Parameters) -> Question:
    """Return a question of every day."""
    field = Field("value", domain, parameters)
    return Question(name, 1, "?", "us", date(2099, 1, 1), 1, "epoch", "recorded", (field,))


def best(runs: dict[str, Callable[[], object]], times: int) -> Rows:
    """Return the microseconds of processor of each run, in the best part of some.

    The parts take turns, so that a moment in which the machine is busy is one of all of them.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(max(1, times // PART)):
        for name, run in runs.items():
            run()  # after the others, its memory is cold
            began = time.process_time()
            for _ in range(PART):
                run()
            found[name].append(1e6 * (time.process_time() - began) / PART)
    return {name: min(each) for name, each in found.items()}


def record(folder: Path, opened: ExitStack) -> Callable[[], object]:
    """Return a record of k-RR, once a day."""
    krr = resolve(KRRParameters, {"epsilon": 0.01}, Boolean(), False)
    survey = Survey("x", "us", tuple(question(f"q{n}", Boolean(), krr) for n in range(QUESTIONS)))
    now = [datetime(2026, 1, 1, 12, tzinfo=UTC)]
    options = {"strict": True, "consent": Consent.GRANTED, "clock": lambda: now[0]}
    client = opened.enter_context(Client(survey, folder, **options))  # type: ignore[arg-type]

    def one() -> None:
        now[0] += timedelta(days=1)
        client.record("q0", True)

    return one


def bare(folder: Path, journal: str, opened: ExitStack) -> Callable[[], object]:
    """Return a bare commit to as many tables."""
    connection = sqlite3.connect(folder / journal, isolation_level=None)
    opened.enter_context(closing(connection))
    for setting in ("secure_delete = ON", "synchronous = FULL", f"journal_mode = {journal}"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    for table in range(TABLES):
        connection.execute(f"CREATE TABLE t{table} (id BLOB PRIMARY KEY) WITHOUT ROWID")

    def one() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table in range(TABLES):
            connection.execute(f"INSERT INTO t{table} VALUES (?)", (os.urandom(60),))  # noqa: S608
        connection.execute("COMMIT")

    return one


def encoding(bits: int) -> Callable[[], object]:
    """Return an encoding of a string by RAPPOR, with a permanent response."""
    wanted = {"f": 0.5, "p": 0.5, "q": 0.75, "bits": bits, "hashes": 2, "cohorts": 64}
    asked = question("s", Strings(), resolve(RapporParameters, wanted, Strings(), False))
    secret, draws = os.urandom(32), SystemDraws()
    return lambda: encode(asked, "https://example.org", secret, draws)


def measure(times: int) -> Rows:
    """Return the microseconds of each task."""
    rows = best({f"encode RAPPOR of {bits} bits": encoding(bits) for bits in (128, 1_024)}, times)
    for where, parent in {"disk": None, "memory": str(MEMORY)}.items():
        if parent is not None and not MEMORY.is_dir():
            continue
        with tempfile.TemporaryDirectory(dir=parent) as name, ExitStack() as opened:
            runs = {f"record of k-RR, {where}": record(Path(name) / "client", opened)}
            for journal, told in JOURNALS.items():
                runs[f"bare commit, {told}, {where}"] = bare(Path(name), journal, opened)
            rows |= best(runs, times)
    return rows


def ratios(rows: Rows) -> Rows:
    """Return how many bare commits a record takes, by where it is written."""
    found = {}
    for where in ("disk", "memory"):
        ours, bare = f"record of k-RR, {where}", f"bare commit, {JOURNALS['PERSIST']}, {where}"
        if ours in rows:
            found[f"record by bare commit, {where}"] = rows[ours] / rows[bare]
    return found


def main() -> None:
    """Measure and print a table, or one JSON object."""
    chosen = arguments(__doc__, records=(300, "records, of which the best 30 in a row count"))
    rows = measure(chosen.records)
    beside = ratios(rows)
    if chosen.json:
        print(json.dumps(rows | beside))
        return
    for name, found in rows.items():
        print(f"{name:40} {found:8.0f} us of processor")
    for name, ratio in beside.items():
        print(f"{name:40} {ratio:8.2f}")


if __name__ == "__main__":
    main()
