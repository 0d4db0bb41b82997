"""A store in PostgreSQL as it is: its tables against a list, and what the server keeps besides."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deniable.audit.findings import Finding
from deniable.audit.store.files import TABLES
from deniable.store.place import open_database
from deniable.store.tables import Tables

_PLACE = "the database"
_CHUNKS = TABLES["chunks"]
_SHAPES = {
    "store": {"name", "version"},
    "batches": TABLES["batches"],
    "parts": {"batch", "slot", "reports"},
    "closed": _CHUNKS,
    "counters": TABLES["counters"] | {"slot"},
    "simulations": TABLES["simulations"],
    "counted": TABLES["counted"],
    "expiring": TABLES["expiring"],
}
_OF_EPOCH = re.compile(r"(ids|chunks)_([0-9]+)")
_SILENT = {
    "track_commit_timestamp": ("off",),
    "log_statement": ("none", "ddl"),
    "log_min_duration_statement": ("-1",),
    "log_min_duration_sample": ("-1",),
    "log_transaction_sample_rate": ("0",),
    "log_parameter_max_length_on_error": ("0",),
    "log_connections": ("off",),
    "log_disconnections": ("off",),
}
"""The settings with which a server's log holds no parameters, which are ids and records, and no
times at which collectors came."""


def database_findings(place: str) -> Iterator[Finding]:
    """Yield the findings about the tables of a store in PostgreSQL, and about its server.

    Raises:
        StoreError: if there is no store, or it cannot be read.
    """
    with open_database(place, create=False) as store, store.reading() as tables:
        yield _columns(tables)
        yield _ids(tables)
        yield _settings(tables)
        yield _copies(tables)


def _columns(tables: Tables) -> Finding:
    found = tables.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() ORDER BY 1, 2"
    )
    problems = []
    for table, column in found:
        match = _OF_EPOCH.fullmatch(table)
        kind = match[1] if match else table
        allowed = {"ids": {"id"}, "chunks": _CHUNKS}.get(kind, _SHAPES.get(kind, set()))
        if column not in allowed:
            problems.append(f"a column {column!r:.60} of {table!r:.60}")
    words = (
        f"more than a store needs: {', '.join(problems)}"
        if problems
        else f"{len({table for table, _ in found})} tables, none with room for a sender or a time"
    )
    return Finding(_PLACE, "no column for a sender", not problems, words)


def _ids(tables: Tables) -> Finding:
    names = tables.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    )
    epochs = {int(m[2]) for (name,) in names if (m := _OF_EPOCH.fullmatch(name))}
    still_open = {epoch for (epoch,) in tables.execute("SELECT epoch FROM batches WHERE open")}
    left = sorted(epochs - still_open)
    words = (
        f"tables of closed epochs are left: {', '.join(map(str, left))}"
        if left
        else f"tables of {len(epochs)} epochs, all of them open"
    )
    return Finding(_PLACE, "no ids of closed epochs", not left, words)


def _settings(tables: Tables) -> Finding:
    loud = _unlike(tables, _SILENT)
    loaded = _shown(tables, ["shared_preload_libraries"]).get("shared_preload_libraries")
    if loaded is None:  # PostgreSQL shows it to few
        words = (
            "this user may not see which libraries are loaded, and so whether auto_explain is. "
            "Run: GRANT pg_read_all_settings TO the user"
        )
        return Finding(_PLACE, "a silent log", False, words)
    loud += [name for name in ("auto_explain",) if name in loaded]
    words = (
        f"the server's log may keep ids, records or times: {', '.join(loud)}"
        if loud
        else "the server's log keeps no statement's parameters and no connection's time"
    )
    return Finding(_PLACE, "a silent log", not loud, words)


def _copies(tables: Tables) -> Finding:
    """Say whether the server's log is copied elsewhere: advice, since an operator may want it."""
    found = _unlike(tables, {"archive_mode": ("off",)})
    (standbys,) = tables.execute("SELECT count(*) FROM pg_stat_replication")[0]
    kept = [*found, *([f"{standbys} replicas"] if standbys else [])]
    words = "PostgreSQL overwrites nothing: its log keeps deleted ids until it is used again" + (
        f"; and elsewhere for as long as you keep them: {', '.join(kept)}" if kept else ""
    )
    return Finding(_PLACE, "copies of deleted ids", True, words)


def _unlike(tables: Tables, wanted: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the settings that are another than they should be."""
    found = _shown(tables, list(wanted))
    return [f"{name} = {found[name]}" for name in wanted if found.get(name) not in wanted[name]]


def _shown(tables: Tables, names: list[str]) -> dict[str, str]:
    """Return those settings that the user may see."""
    return dict(
        tables.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(?)", [names])
    )
