"""Processor time of a device: a record of k-RR, durable, and the encoding of wide RAPPOR.

    python benchmarks/client_record.py [--records 300]

A record is measured in the caller's thread (`strict`): it checks consent, pins, epochs, budget and
outbox and commits the report. Beside it, a bare commit to a database with the same settings, which
touches as many tables: the journal is synced, emptied and synced again, so that nothing deleted
stays in it. The same on a file system in memory, where syncing costs nothing, shows what is ours.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
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

QUESTIONS, TABLES, PART = 8, 5, 30
MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it get random names
Rows = dict[str, float]


def question(name: str, domain: Domain, parameters: Parameters) -> Question:
    """Return a question of every day."""
    field = Field("value", domain, parameters)
    return Question(name, 1, "?", "us", date(2099, 1, 1), 1, "epoch", "recorded", (field,))


def best(run: Callable[[], object], times: int) -> float:
    """Return the microseconds of processor that the best part of some runs took each."""
    found = []
    for _ in range(max(1, times // PART)):
        began = time.process_time()
        for _ in range(PART):
            run()
        found.append((time.process_time() - began) / PART)
    return 1e6 * min(found)


def record(folder: Path, times: int) -> float:
    """Return the microseconds of a record of k-RR, once a day."""
    krr = resolve(KRRParameters, {"epsilon": 0.01}, Boolean(), False)
    survey = Survey("x", "us", tuple(question(f"q{n}", Boolean(), krr) for n in range(QUESTIONS)))
    now = [datetime(2026, 1, 1, 12, tzinfo=UTC)]
    options = {"strict": True, "consent": Consent.GRANTED, "clock": lambda: now[0]}
    with Client(survey, folder, **options) as client:  # type: ignore[arg-type]

        def one() -> None:
            now[0] += timedelta(days=1)
            client.record("q0", True)

        one()
        return best(one, times)


def bare(folder: Path, times: int) -> float:
    """Return the microseconds of a bare commit to as many tables."""
    connection = sqlite3.connect(folder / "bare", isolation_level=None)
    for setting in ("secure_delete = ON", "synchronous = FULL", "journal_mode = TRUNCATE"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    for table in range(TABLES):
        connection.execute(f"CREATE TABLE t{table} (id BLOB PRIMARY KEY) WITHOUT ROWID")

    def one() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table in range(TABLES):
            connection.execute(f"INSERT INTO t{table} VALUES (?)", (os.urandom(60),))  # noqa: S608
        connection.execute("COMMIT")

    try:
        return best(one, times)
    finally:
        connection.close()


def encoding(bits: int, times: int) -> float:
    """Return the microseconds of encoding a string by RAPPOR, with a permanent response."""
    wanted = {"f": 0.5, "p": 0.5, "q": 0.75, "bits": bits, "hashes": 2, "cohorts": 64}
    asked = question("s", Strings(), resolve(RapporParameters, wanted, Strings(), False))
    secret, draws = os.urandom(32), SystemDraws()
    return best(lambda: encode(asked, "https://example.org", secret, draws), times)


def measure(times: int) -> Rows:
    """Return the microseconds of each task."""
    rows = {}
    for where, parent in {"disk": None, "memory": str(MEMORY)}.items():
        if parent is None or MEMORY.is_dir():
            with tempfile.TemporaryDirectory(dir=parent) as name:
                rows[f"record of k-RR, {where}"] = record(Path(name) / "client", times)
                rows[f"bare commit of {TABLES} tables, {where}"] = bare(Path(name), times)
    for bits in (128, 1_024):
        rows[f"encode RAPPOR of {bits} bits"] = encoding(bits, times)
    return rows


def main() -> None:
    """Measure and print a table, or one JSON object."""
    chosen = arguments(__doc__, records=(300, "records, of which the best 30 in a row count"))
    rows = measure(chosen.records)
    if chosen.json:
        print(json.dumps(rows))
        return
    for name, found in rows.items():
        print(f"{name:32} {found:8.0f} us of processor")


if __name__ == "__main__":
    main()
