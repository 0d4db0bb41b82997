"""A data directory as it is: its tables against a list, its bytes against traces of senders."""

from __future__ import annotations

import ipaddress
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from deniable.audit.findings import Finding
from deniable.errors import StoreError
from deniable.store import STORE_FILE
from deniable.store.sqlite.connection import plain_errors

TABLES = {
    "batches": {
        "batch",
        "question",
        "version",
        "digest",
        "epoch",
        "size",
        "simulated",
        "segments",
        "reports",
        "open",
        "ran",
        "sum",
    },
    "chunks": {"batch", "key", "sum", "records"},
    "counters": {"question", "reason", "count"},
    "simulations": {"question", "version", "digest", "seed", "epoch", "people"},
    "runs": {"epoch", "run", "ids", "parts"},
    "ids": {"epoch", "run", "first", "ids"},
    "commits": {"name", "number"},
    "lease": {"work", "holder", "beats"},
    "counted": {"key", "batch", "data"},
    "expiring": {"question", "version", "epoch", "ran"},
}
"""The only tables and columns that a store may hold; the last two are made when they are needed."""

_INDICES = re.compile(r"open_batches|sqlite_autoindex_.*")
_BLOCK = 2**20
_OVERLAP = 256
_ADDRESS = re.compile(rb"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")
_ADDRESS_6 = re.compile(rb"(?<![0-9A-Fa-f:.])[0-9A-Fa-f:]{7,39}(?![0-9A-Fa-f:])")
_LONG_6 = 11
"""The fewest characters of an IPv6 address in text; a shorter one counts only between marks."""
_MARKS = rb" \t\r\n\"'[](){}<>,;=/%|"
_SENDER = re.compile(
    rb"mozilla/|applewebkit|okhttp|dalvik/|curl/|python-urllib|deniable-client|user-agent|"
    rb"x-forwarded-for|x-real-ip|cf-connecting-ip|forwarded:|set-cookie|cookie:|referer:|"
    rb"authorization:|accept-language|sec-ch-ua",
    re.IGNORECASE,
)
_QUERY = re.compile(rb"(?:get|post|put|head) /[!-~]*\?[!-~]|/v1/[a-z]+\?[!-~]", re.IGNORECASE)


def files_findings(data: Path) -> Iterator[Finding]:
    """Yield the findings about the tables and the bytes of a data directory.

    Raises:
        StoreError: if there is no store, or it cannot be read.
    """
    path = data / STORE_FILE
    if not path.is_file():
        raise StoreError(f"There is no store at {path}. Start a collector, or simulate.")
    with plain_errors("be read"), closing(_read_only(path)) as connection:
        yield _tables(connection)
        yield _ids(connection)
    yield _bytes(data)


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _tables(connection: sqlite3.Connection) -> Finding:
    problems = []
    found = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
    for kind, name in found:
        if kind == "index" and _INDICES.fullmatch(name):
            continue
        if kind != "table" or name not in TABLES:
            problems.append(f"a {kind} named {name!r:.60}")
            continue
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        more = columns - TABLES[name]
        problems += [f"a column {column!r:.60} of {name}" for column in sorted(more)]
    words = (
        f"more than a store needs: {', '.join(problems)}"
        if problems
        else (f"{len(found)} tables and indices, none with room for a sender or a time")
    )
    return Finding("the data directory", "no column for a sender", not problems, words)


def _ids(connection: sqlite3.Connection) -> Finding:
    """Return the finding that closed epochs have no ids.

    If ids leak, they tell who sent which report.
    """
    kept = {
        row[0] for row in connection.execute("SELECT epoch FROM runs UNION SELECT epoch FROM ids")
    }
    open_epochs = {row[0] for row in connection.execute("SELECT epoch FROM batches WHERE open")}
    left = sorted(kept - open_epochs)
    words = (
        f"ids of closed epochs are left: {', '.join(map(str, left))}"
        if left
        else (f"ids of {len(kept)} epochs, all of them open")
    )
    return Finding("the data directory", "no ids of closed epochs", not left, words)


def _bytes(data: Path) -> Finding:
    files = sorted(path for path in data.rglob("*") if path.is_file())
    problems = []
    for path in files:
        seen = sender_traces(path)
        if seen:
            problems.append(f"{path.name}: {', '.join(sorted(seen))}")
    size = sum(path.stat().st_size for path in files)
    words = "; ".join(problems) or f"{len(files)} files of {size:,} bytes name no sender"
    numbers = {"files": [path.name for path in files], "bytes": size}
    return Finding("the data directory", "no sender in any byte", not problems, words, numbers)


def sender_traces(path: Path) -> set[str]:
    """Return the kinds of traces of senders in a file's bytes, without showing them.

    The search covers addresses in text (IPv4; IPv6 in every form), names of headers and of user
    agents, and query strings. An address that is packed into 4 or 16 bytes looks like any other
    bytes: only those who know it can look for it, as the probe does.

    Accuracy: random bytes look like an address in text about once in 10^12 of them.

    Cost: one pass, a block at a time.
    """
    found: set[str] = set()
    tail = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            data = tail + block
            if any(_is_address(match.group()) for match in _ADDRESS.finditer(data)):
                found.add("an address")
            if any(_is_address_6(match, data) for match in _ADDRESS_6.finditer(data)):
                found.add("an address")
            if _SENDER.search(data):
                found.add("the name of a header or of a user agent")
            if _QUERY.search(data):
                found.add("a query string")
            tail = data[-_OVERLAP:]
    return found


def _is_address(text: bytes) -> bool:
    return all(int(part) < 256 for part in text.split(b"."))


def _is_address_6(match: re.Match[bytes], data: bytes) -> bool:
    """Tell whether a match is an address, long enough or between marks: chance makes short ones."""
    text = match.group()
    around = data[match.start() - 1 : match.start()] + data[match.end() : match.end() + 1]
    if text.count(b":") < 2 or (len(text) < _LONG_6 and around.strip(_MARKS)):
        return False
    try:
        ipaddress.IPv6Address(text.decode("ascii"))
    except ValueError:
        return False
    return True
