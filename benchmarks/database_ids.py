"""The price of an open epoch's ids in PostgreSQL: bytes of its log and time for a report.

    python benchmarks/database_ids.py [--ids 2000000] [--reports 60000] [--group 1000]

A server of its own, in memory, is given an epoch of `--ids` ids; reports are then appended in
groups, to an empty epoch, to the large one just after a checkpoint, and to it once more. After a
checkpoint the first change of a page writes the whole page into the log (`full_page_writes`), and
new ids fall on all pages of the index.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from _measure import arguments
from deniable.store import Store
from deniable.store.place import open_database
from epochs import EPOCH, group
from material.cluster import Cluster

_STEP = 500_000
_POSITION = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"


def append(
    store: Store, epoch: int, reports: int, size: int, position: Callable[[], int]
) -> dict[str, float]:
    """Append reports in groups; return what one of them cost."""
    before, seconds = position(), 0.0
    for _ in range(reports // size):
        made = group(size, epoch)
        began = time.perf_counter()
        store.append(made)
        seconds += time.perf_counter() - began
    return {"per_second": reports / seconds, "log_bytes": (position() - before) / reports}


def measure(ids: int, reports: int, size: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what was measured, by name."""
    server = Cluster.made("\nmax_wal_size = 8GB\ncheckpoint_timeout = 1h\n")
    try:
        with server.connect() as direct, open_database(server.place(), create=True) as store:

            def position() -> int:
                return int(str(direct.execute(_POSITION).fetchall()[0][0]))

            for epoch in (EPOCH, EPOCH + 1):
                store.append(group(size, epoch))  # makes the tables
            yield "an empty epoch", append(store, EPOCH, reports, size, position)
            direct.execute("SET synchronous_commit = off")
            for _ in range(ids // _STEP):
                direct.execute(
                    f"INSERT INTO deniable.ids_{EPOCH + 1}"  # noqa: S608
                    f" SELECT gen_random_uuid() FROM generate_series(1, {_STEP})"
                )
            direct.execute("CHECKPOINT")
            name = f"{ids:,} ids, just after a checkpoint"
            yield name, append(store, EPOCH + 1, reports, size, position)
            later = append(store, EPOCH + 1, reports, size, position)
            index = f"SELECT pg_indexes_size('deniable.ids_{EPOCH + 1}')"
            taken = int(str(direct.execute(index.encode()).fetchall()[0][0]))
            yield "the same, later", {**later, "index_bytes": taken / (ids + 2 * reports)}
    finally:
        server.remove()


def main() -> None:
    """Measure and print a table, or one JSON object."""
    chosen = arguments(
        __doc__,
        ids=(2_000_000, "ids of the large epoch"),
        reports=(60_000, "reports of each measurement"),
        group=(1_000, "reports of a group"),
    )
    rows = {}
    for name, row in measure(chosen.ids, chosen.reports, chosen.group):
        rows[name] = row
        if not chosen.json:
            told = f"{name:40} {row['per_second']:10,.0f}/s {row['log_bytes']:8,.0f} bytes of log"
            index = f", index {row['index_bytes']:.0f} an id" if "index_bytes" in row else ""
            print(told + index, flush=True)
    if chosen.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
