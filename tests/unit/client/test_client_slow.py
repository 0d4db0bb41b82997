"""A slow collector: recording does not notice it, and nothing that the client opens stays open."""

from __future__ import annotations

import gc
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from deniable.client import Client, Consent, Limits
from deniable.client import database as database_module
from material.clients import Script, question, strict, survey

NAMES = [f"q{i}" for i in range(200)]
ASKED = survey(*(question(name, repeat="once") for name in NAMES))


@contextmanager
def dripping_server() -> Iterator[tuple[str, threading.Event]]:
    """Answer every connection with a head of which a byte comes each 0.4 seconds."""
    listener = socket.create_server(("127.0.0.1", 0))
    over, reached = threading.Event(), threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            reached.set()
            for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 2_000:
                connection.sendall(bytes([byte]))
                if over.wait(0.4):
                    return

    def accept() -> None:
        with suppress(OSError):
            while not over.is_set():
                connection, _ = listener.accept()
                threading.Thread(target=drip, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", reached
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def test_a_slow_collector_does_not_fill_the_queue(tmp_path: Path) -> None:
    limits = Limits(queue=50, timeout_seconds=3, delay_seconds=0)
    with dripping_server() as (url, reached):
        client = Client(ASKED, tmp_path, url, consent=Consent.GRANTED, ceiling=1e6, limits=limits)
        assert client.record("q0", True, wait=True)
        assert reached.wait(60)
        for i in range(1, 200):  # never more at once than the queue holds
            client.record(f"q{i}", True, wait=i % 40 == 39)
        assert {why for _, why in client.counters()} <= {"unreachable"}
        assert len(client.pending()) == 200
        # The head would take a quarter of an hour. The limit ends it, and is counted.
        deadline = time.monotonic() + 120
        while ("", "unreachable") not in client.counters() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert client.counters()["", "unreachable"] >= 1
        client.close(timeout=0.1)
    assert len(client.pending()) == 200


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[sqlite3.Connection]:
    """Every connection that a client of this test opens."""
    opened: list[sqlite3.Connection] = []
    real = sqlite3.connect

    def connect(path: Path, **options: Any) -> sqlite3.Connection:
        made = real(path, **options)
        if path.is_relative_to(tmp_path):
            opened.append(made)
        return made

    monkeypatch.setattr(database_module.sqlite3, "connect", connect)
    return opened


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


@pytest.mark.parametrize("strictly", [True, False])
def test_what_is_asked_after_the_end_leaves_nothing_open(
    tmp_path: Path, connections: list[sqlite3.Connection], strictly: bool
) -> None:
    client = Client(ASKED, tmp_path, consent=Consent.GRANTED, ceiling=1e6, strict=strictly)
    client.record("q0", True, wait=True)
    client.close()
    assert len(connections) == 1
    for ask in (client.disclosed, client.pending, client.counters, lambda: client.consent):
        ask()
        client.close()
        assert len(client.pending()) == 1
    assert len(connections) > 4  # they were opened,
    assert not any(is_open(connection) for connection in connections)  # and closed


def test_an_upload_that_ends_after_the_end_leaves_nothing_open(
    tmp_path: Path, connections: list[sqlite3.Connection]
) -> None:
    gate, entered, left = threading.Event(), threading.Event(), threading.Event()

    class Slow(Script):
        def send(self, request):  # type: ignore[no-untyped-def]
            entered.set()
            gate.wait(60)
            answer = super().send(request)
            left.set()
            return answer

    client = Client(
        ASKED,
        tmp_path,
        transport=Slow(),
        consent=Consent.GRANTED,
        ceiling=1e6,
        limits=Limits(delay_seconds=0),
    )
    client.record("q0", True, wait=True)
    assert entered.wait(60)
    thread = client._worker._sender._daemon._thread
    assert thread is not None
    client.close(timeout=0.01)
    assert not any(is_open(connection) for connection in connections)
    gate.set()
    assert left.wait(60)
    thread.join(60)
    assert not thread.is_alive()
    assert not any(is_open(connection) for connection in connections)
    assert client.pending() == []  # it was settled all the same


WARNED = """
import gc, sqlite3, sys
from deniable.client import Client, Consent

def is_open(connection):
    try:
        return bool(connection.execute("SELECT 1"))
    except sqlite3.ProgrammingError:
        return False

client = Client(sys.argv[1], sys.argv[2], consent=Consent.GRANTED, ceiling=1e6)
client.record("q0", True, wait=True)
client.close()
print(client.disclosed().epsilon, len(client.pending()), client.counters())
print(any(isinstance(o, sqlite3.Connection) and is_open(o) for o in gc.get_objects()))
del client
gc.collect()
"""


def test_no_warning_of_an_unclosed_database(tmp_path: Path) -> None:
    """Python 3.13 warns of a connection that is collected open; earlier ones are asked for it."""
    (tmp_path / "survey.json").write_bytes(ASKED.published())
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", WARNED]
    done = subprocess.run(
        [*command, str(tmp_path / "survey.json"), str(tmp_path / "state")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1.0 1 {}\nFalse\n", "")


def test_sockets_are_closed_after_a_slow_answer(tmp_path: Path) -> None:
    with warnings.catch_warnings(), dripping_server() as (url, _):
        warnings.simplefilter("error", ResourceWarning)
        client = strict(ASKED, tmp_path, endpoint=url, limits=Limits(timeout_seconds=0.5))
        client.record("q0", True)
        assert not client.flush()
        client.close()
        del client
        gc.collect()


LIGHT = """
import sys
from deniable import Client
from deniable.client import Consent
heavy = {"ssl", "urllib.request", "http.client", "email.parser", "socket"} & set(sys.modules)
assert not heavy, heavy
client = Client(sys.argv[1], sys.argv[2], "http://127.0.0.1:9", consent=Consent.UNKNOWN)
heavy = {"ssl", "urllib.request", "http.client"} & set(sys.modules)
assert not heavy, heavy
"""


def test_an_app_that_starts_does_not_load_what_only_uploads_need(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(ASKED.published())
    command = [sys.executable, "-c", LIGHT, str(tmp_path / "survey.json"), str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
