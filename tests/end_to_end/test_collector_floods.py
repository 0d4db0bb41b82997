"""Real sockets against a real `deniable serve`: what one sender, or a thousand, can do."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from _collector_process import JSON, Serving, batch
from _flood import Flood, Seen, askers, flood_for, holders, request, senders
from deniable.store import STORE_FILE, SqliteStore

LONG = 60.0
PROTECTIVE = (
    b"content-security-policy: default-src 'none'",
    b"x-content-type-options: nosniff",
    b"x-frame-options: DENY",
    b"referrer-policy: no-referrer",
)
CHUNKED = b"{} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n"
ROUTES = (b"GET /healthz", b"HEAD /readyz", b"POST /v1/reports", b"GET /v1/counters", b"PUT /no")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("floods")) as found:
        yield found


def connect(serving: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", serving.port), timeout=LONG)


def rest(connection: socket.socket) -> bytes:
    """Return everything until the collector closes."""
    received = b""
    with suppress(ConnectionResetError, BrokenPipeError):
        while data := connection.recv(65_536):
            received += data
    return received


def check_health(seen: Seen) -> None:
    """Every look at health and readiness beside a flood had its true answer, and soon."""
    for checks in (seen.health, seen.readiness):
        assert checks.accepted > 0
        assert (checks.refused, checks.unanswered) == (0, 0)
        assert max(checks.seconds) < 5  # on a quiet machine it is well below one


def wait_for(condition: object) -> None:
    end = time.monotonic() + LONG
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "It did not happen in time."
        time.sleep(0.05)


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_may_follow_the_last_chunk(serving: Serving, route: bytes) -> None:
    head = route + CHUNKED[2:] + b"content-type: application/json\r\n\r\n"
    for tail in (
        b"0\r\nx: y\r\n\r\n",
        b"0\r\nhost: evil\r\nx: y\r\n\r\n",
        b"1\r\n \r\n0\r\nx: y\r\n\r\n",
    ):
        with connect(serving) as connection:
            connection.sendall(head + tail)
            received = rest(connection)
        assert received.startswith(b"HTTP/1.1 400 ")
        assert b'"reason":"http"' in received
        assert all(line in received for line in PROTECTIVE)


def test_a_token_behind_the_body_opens_nothing(tmp_path: Path) -> None:
    token = json.loads(
        subprocess.run(
            [sys.executable, "-m", "deniable", "serve", "--new-token", "--json"],
            check=True,
            capture_output=True,
        ).stdout
    )
    with Serving(tmp_path, "--analyst-token-hash", token["hash"]) as serving:
        bearer = b"authorization: Bearer " + token["token"].encode() + b"\r\n"
        head = b"GET /v1/counters" + CHUNKED[2:]
        for cut in (False, True):
            with connect(serving) as connection:
                connection.sendall(head + b"\r\n0\r\n")
                if cut:  # the answer may be there before the trailer is
                    time.sleep(0.2)
                connection.sendall(bearer + b"\r\n")
                received = rest(connection)
            assert b" 200 " not in received
            assert b'"totals"' not in received
        with connect(serving) as connection:
            connection.sendall(head + bearer + b"connection: close\r\n\r\n0\r\n\r\n")
            assert rest(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("route", [b"GET /healthz", b"POST /v1/reports"])
@pytest.mark.parametrize("line", [b"X: " + b"a" * 1_000 + b"\r\n", b"a" * 1_005])
def test_endless_trailers_are_cut_off(serving: Serving, route: bytes, line: bytes) -> None:
    before = serving.resident()
    sent = 0
    with connect(serving) as connection:
        connection.sendall(route + CHUNKED[2:] + b"\r\n0\r\n")
        with suppress(OSError):
            for _ in range(64):
                connection.sendall(line * 1_000)
                sent += 1
    assert sent < 64  # 64 MB would have been taken
    assert serving.resident() - before < 40 * 2**20
    assert serving.ask("GET", "/healthz")[0] == 200


def test_a_chunked_body_without_trailers_is_taken(serving: Serving) -> None:
    data = batch(3)
    chunks = b"".join(
        b"%x\r\n%b\r\n" % (len(data[i : i + 50]), data[i : i + 50]) for i in range(0, len(data), 50)
    )
    message = (
        b"POST /v1/reports"
        + CHUNKED[2:]
        + b"content-type: application/json\r\nconnection: close\r\n\r\n"
    )
    with connect(serving) as connection:
        for piece in (message, chunks[:70], chunks[70:], b"0\r\n", b"\r", b"\n"):
            connection.sendall(piece)
            time.sleep(0.02)
        received = rest(connection)
    assert b'"accepted":3' in received


def test_too_many_requests_at_once_on_a_connection_are_refused(serving: Serving) -> None:
    with connect(serving) as connection:
        connection.sendall(request("GET", "/v1/survey") * 5_000)
        received = rest(connection)
    assert received.count(b"HTTP/1.1 200") < 100
    assert serving.ask("GET", "/healthz")[0] == 200


@contextmanager
def crowd(serving: Serving, count: int, first: bytes) -> Iterator[list[socket.socket]]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        members = []
        for _ in range(count):
            connection = stack.enter_context(connect(serving))
            with suppress(OSError):
                connection.sendall(first)
            members.append(connection)
        yield members


@pytest.mark.parametrize(
    "first",
    [b"", b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\n", request("GET", "/healthz")],
    ids=["silent", "half a head", "kept alive"],
)
def test_idle_connections_yield_to_live_ones(serving: Serving, first: bytes) -> None:
    with crowd(serving, 1_000, first) as members:
        assert serving.ask("GET", "/healthz", timeout=10)[0] == 200
        assert serving.ask("GET", "/readyz", timeout=10)[0] == 200
        status, _, body = serving.ask("POST", "/v1/reports", batch(1), JSON, timeout=10)
        assert (status, json.loads(body)["accepted"]) == (200, 1)
        wait_for(lambda: closed(members[0]))  # the oldest went first
        assert not closed(members[-1])


def closed(connection: socket.socket) -> bool:
    connection.settimeout(0)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(LONG)
    return True


def test_a_connection_that_yields_is_told(serving: Serving) -> None:
    before = serving.counters().get(("", "busy"), 0)
    with crowd(serving, 1_000, b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\n") as members:
        wait_for(lambda: serving.counters().get(("", "busy"), 0) > before)
        received = rest(members[0])
    assert received.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in received
    assert b"content-type: application/problem+json" in received
    assert b'"reason":"busy"' in received
    assert all(line in received for line in PROTECTIVE)


def test_unfinished_bodies_take_bounded_memory_and_give_it_back(tmp_path: Path) -> None:
    unfinished = request("POST", "/v1/reports", b" " * 2**20)[:-1]
    with Serving(tmp_path) as serving:
        serving.ask("POST", "/v1/reports", batch(1_000), JSON)
        before = serving.resident()
        work = flood_for(serving.port, 4, [holders(1_000, unfinished)], 1)
        peak = [before]
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.1):
                peak.append(serving.resident())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            with crowd(serving, 0, b""):  # for its number of descriptors
                _, seen = asyncio.run(work)
        finally:
            done.set()
            watcher.join()
        assert seen.sender.accepted > 0
        assert seen.sender.unanswered == 0
        check_health(seen)
        assert max(peak) - before < 400 * 2**20  # unbounded, it would be 1,000 MiB
        wait_for(lambda: serving.resident() - before < 150 * 2**20)


@pytest.mark.parametrize(
    "flood",
    [
        senders(240, 1_000),
        senders(100, 20, bad=0.5),
        askers(400, "/healthz"),
        askers(400, "/readyz"),
        askers(400, "/nothing"),
        askers(1_100, "/healthz"),
        holders(300, b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\n", b"x: y\r\n"),
        holders(1_000, b""),
    ],
    ids=[
        "large batches",
        "half bad",
        "health",
        "readiness",
        "404",
        "more than there is room for",
        "slow heads",
        "idle",
    ],
)
def test_an_honest_sender_gets_every_answer_beside_a_flood(serving: Serving, flood: object) -> None:
    before = serving.counters().get(("words", "accepted"), 0)
    with crowd(serving, 0, b""):  # for its number of descriptors
        tally, seen = asyncio.run(flood_for(serving.port, 2, [flood], 0))  # type: ignore[list-item]
    honest = seen.sender
    assert honest.unanswered == 0
    assert honest.accepted >= 1
    check_health(seen)
    accepted = serving.counters()["words", "accepted"] - before
    assert accepted >= tally.accepted + honest.accepted
    assert set(tally.statuses) <= {200, 400, 404, 503}
    assert "Traceback" not in serving.said()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_flood_of_cheap_requests_does_not_push_reports_out(serving: Serving, path: str) -> None:
    def accepted(*floods: Flood) -> int:
        with crowd(serving, 0, b""):  # for its number of descriptors
            tally, _ = asyncio.run(flood_for(serving.port, 2, [senders(16, 1), *floods], 1))
        return tally.accepted

    alone = accepted()
    # It was a sixteenth; now it is a third and more, most of which the flood itself costs.
    assert accepted(askers(400, path)) > alone / 10


@contextmanager
def held(serving: Serving) -> Iterator[None]:
    """Keep the store's lock, so that no write ends."""
    holder = sqlite3.connect(serving.data / STORE_FILE, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        yield
        holder.execute("ROLLBACK")
    finally:
        holder.close()


def test_health_answers_while_more_than_there_is_room_for_wait_for_the_disk(
    tmp_path: Path,
) -> None:
    whole = request("POST", "/v1/reports", batch(1))
    with Serving(tmp_path) as serving:
        assert serving.ask("POST", "/v1/reports", batch(1), JSON)[0] == 200
        with held(serving), crowd(serving, 1_000, whole):
            for _ in range(3):
                start = time.monotonic()
                assert serving.ask("GET", "/healthz")[::2] == (200, b'{"status":"ok"}')
                assert time.monotonic() - start < 5
        wait_for(lambda: serving.ask("GET", "/readyz")[0] == 200)


def test_readiness_is_told_in_time_while_no_write_ends(tmp_path: Path) -> None:
    with Serving(tmp_path) as serving:
        with held(serving):
            for _ in range(2):
                start = time.monotonic()
                status, headers, body = serving.ask("GET", "/readyz")
                assert time.monotonic() - start < 10  # a write waits for 30 seconds
                assert (status, json.loads(body)["reason"]) == (503, "store")
                assert headers["retry-after"] == "10"
                assert serving.ask("GET", "/healthz")[0] == 200
        wait_for(lambda: serving.ask("GET", "/readyz")[0] == 200)


def test_health_is_answered_as_the_application_would(serving: Serving) -> None:
    status, headers, body = serving.ask("GET", "/healthz?from=here")
    assert (status, body) == (200, b'{"status":"ok"}')
    assert headers["content-type"] == "application/json"
    written = "".join(f"{name}: {value}\n" for name, value in headers.items()).encode()
    assert all(line in written for line in PROTECTIVE)
    assert serving.ask("HEAD", "/readyz")[::2] == (200, b"")
    assert serving.ask("GET", "/healthz", headers={"host": "evil.example"})[0] == 421
    status, headers, _ = serving.ask("POST", "/readyz", b"{}", JSON)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    with connect(serving) as connection:
        connection.sendall(request("GET", "/healthz") * 3 + b"GET /readyz HTTP/1.0\r\n")
        connection.sendall(b"host: localhost\r\n\r\n")
        received = rest(connection)
    assert received.count(b'{"status":"ok"}HTTP/1.1 200') == 3
    assert received.endswith(b'{"status":"ready"}')


def test_a_thousand_descriptors_are_enough_to_begin_with(tmp_path: Path) -> None:
    """An ordinary process may have 1,024; the collector asks for more, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, hard))
    try:
        serving = Serving(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with serving:
        allowed, _ = resource.prlimit(serving.process.pid, resource.RLIMIT_NOFILE)
        assert allowed == min(4_096, hard)
        with crowd(serving, 1_500, b""):
            assert serving.ask("GET", "/healthz")[0] == 200
            assert serving.ask("POST", "/v1/reports", batch(1), JSON)[0] == 200


def test_a_stop_does_not_wait_for_a_slow_sender(tmp_path: Path) -> None:
    serving = Serving(tmp_path)
    accepted: list[int] = []
    try:
        slow = [connect(serving) for _ in range(4)]
        for connection in slow[:2]:
            connection.sendall(request("POST", "/v1/reports", b" " * 1_000)[:-10])
        slow[2].sendall(b"GET /healthz HT")

        def send() -> None:
            with suppress(OSError):
                while True:
                    answer = serving.ask("POST", "/v1/reports", batch(20), JSON)
                    accepted.append(json.loads(answer[2])["accepted"])

        sender = threading.Thread(target=send)
        sender.start()
        wait_for(lambda: len(accepted) > 5)
        start = time.monotonic()
        serving.stop()
        took = time.monotonic() - start
        sender.join(LONG)
        for connection in slow:
            connection.close()
    finally:
        serving.stop()
    assert took < 15  # it was 20 seconds and more; on a quiet machine it is about one
    with SqliteStore(tmp_path / "data" / STORE_FILE) as store:
        assert sum(tally.reports for tally in store.tallies()) >= sum(accepted)
    assert "Traceback" not in serving.said()


def test_invalid_requests_write_few_lines_and_none_of_their_content(tmp_path: Path) -> None:
    with Serving(tmp_path) as serving:
        for number in range(50):
            with connect(serving) as connection:
                connection.sendall(b"Zx7Marked %d\r\n\r\n" % number)
                assert rest(connection).startswith(b"HTTP/1.1 400 ")
            with connect(serving) as connection:
                more = "connection: upgrade, close\r\nupgrade: websocket\r\n"
                connection.sendall(request("GET", "/healthz", more=more))
                rest(connection)
        assert serving.counters()["", "http"] == 50
        said = serving.said()
    assert len(said.splitlines()) <= 2
    assert "Zx7Marked" not in said


@contextmanager
def limited(folder: Path, serving: Serving) -> Iterator[None]:
    """Let the process write no file beyond the size of its log."""
    size = (serving.data / f"{STORE_FILE}-wal").stat().st_size
    _, hard = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (size, hard))
    yield
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def full(folder: Path, serving: Serving) -> Iterator[None]:
    """Fill the disk of the data directory."""
    filler = serving.data / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4_096)):
            pass
    yield
    filler.unlink()


def can_mount(folder: Path) -> bool:
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True
    )
    return made.returncode == 0


@pytest.mark.parametrize("way", ["limit", "disk"])
def test_readiness_follows_real_writes(tmp_path: Path, way: str) -> None:
    """On a full disk a small write may still fit into the log; a batch does not.

    Where no small disk can be mounted, both ways are the limit on the size of files.
    """
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    mounted = way == "disk" and can_mount(data)
    try:
        with Serving(tmp_path) as serving:
            assert serving.ask("POST", "/v1/reports", batch(1), JSON)[0] == 200
            assert serving.ask("GET", "/readyz")[0] == 200
            with (full if mounted else limited)(tmp_path, serving):
                wait_for(lambda: serving.ask("GET", "/readyz")[0] == 503)  # idle: by its own probe
                refused = [serving.ask("POST", "/v1/reports", batch(1_000), JSON) for _ in range(3)]
                assert [status for status, _, _ in refused] == [503] * 3
                status, headers, body = serving.ask("GET", "/readyz")
                assert (status, json.loads(body)["reason"]) == (503, "store")
                assert int(headers["retry-after"]) > 0
                assert serving.ask("GET", "/healthz")[0] == 200
            status, _, body = serving.ask("POST", "/v1/reports", batch(1_000), JSON)
            assert (status, json.loads(body)["accepted"]) == (200, 1_000)
            assert serving.ask("GET", "/readyz")[0] == 200
    finally:
        if mounted:
            subprocess.run(["umount", str(data)], check=True)


def test_write_keys_come_from_a_file_and_two_are_valid(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("the old one\nthe new one\n")
    with Serving(tmp_path, "--write-key-file", str(keys)) as serving:
        listed = Path(f"/proc/{serving.process.pid}/cmdline").read_bytes()
        assert b"the new one" not in listed
        for key, status in (
            ("the old one", 200),
            ("the new one", 200),
            ("another", 401),
            ("", 401),
        ):
            headers = {**JSON, "authorization": f"Bearer {key}"}
            assert serving.ask("POST", "/v1/reports", batch(1), headers)[0] == status
    with Serving(tmp_path, environ={"DENIABLE_WRITE_KEY": "one,two"}) as serving:
        for key, status in (("two", 200), ("one", 200), ("one,two", 401)):
            headers = {**JSON, "authorization": f"Bearer {key}"}
            assert serving.ask("POST", "/v1/reports", batch(1), headers)[0] == status
