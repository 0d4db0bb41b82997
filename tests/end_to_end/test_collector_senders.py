"""Nothing about the sender is kept: not in the data directory, not in what the process says."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

from material.collector_process import JSON, Running, batch

MARK = "Zx7Marked"
ADDRESS = "203.0.113.77"
HEADERS = {
    "user-agent": f"{MARK}-agent",
    "x-forwarded-for": ADDRESS,
    "forwarded": f"for={ADDRESS}",
    "x-real-ip": ADDRESS,
    "cookie": f"session={MARK}",
    "referer": f"https://{MARK}.example/page",
    "accept-language": f"{MARK}-language",
    "authorization": f"Bearer {MARK}",
    "x-request-id": MARK,
}
PAGE = {**HEADERS, "origin": f"https://{MARK}.example"}
"""What a page of another site sends: it is refused, and its origin is not kept either."""


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_trace_of_a_sender_remains(tmp_path: Path) -> None:
    with Running(tmp_path) as collector:
        assert collector.post(batch(range(5)), HEADERS)[0] == 200
        assert collector.post(batch(range(5)), HEADERS)[1]["duplicates"] == 5
        assert collector.post(batch(range(5)), PAGE)[0] == 403
        assert collector.post(f'{{"{MARK}": 1}}'.encode(), HEADERS)[0] == 400
        assert collector.post(b"{}", {**HEADERS, "host": f"{MARK}.example"})[0] == 421
        connection = collector.connect()
        connection.request("POST", f"/v1/{MARK}?{MARK}=1", b"x" * 3_000_000, HEADERS)
        assert connection.getresponse().status == 404
        connection.close()
        port = ask_badly(collector.port)
        open_files = everything(tmp_path)  # with the log, while the process runs
        said = collector.terminate()
    for found in (open_files, everything(tmp_path), said):
        for trace in (MARK, ADDRESS, f":{port}", "127.0.0.1"):
            assert trace.encode() not in found
    output = (tmp_path / "output").read_bytes()
    assert output.splitlines() == [b"WARNING:  Invalid HTTP request received."]


def ask_badly(port: int) -> int:
    """Send what is not HTTP, and return the port that it was sent from."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"{MARK} {ADDRESS}\r\n\r\n".encode())
        assert b" 400 " in connection.recv(1_000)
        own: int = connection.getsockname()[1]
        return own


def test_control_a_trace_would_be_found(tmp_path: Path) -> None:
    """The search itself finds what is really stored: the digest of the question."""
    with Running(tmp_path) as collector:
        collector.post(batch(range(5)), JSON)
        assert b"words" in everything(tmp_path / "data")


def test_a_request_for_nothing_leaves_nothing(tmp_path: Path) -> None:
    with Running(tmp_path) as collector:
        connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=10)
        connection.request("GET", f"/{MARK}", headers=HEADERS)
        answer = connection.getresponse()
        assert (answer.status, MARK.encode() in answer.read()) == (404, False)
        assert {name.lower() for name, _ in answer.getheaders()}.isdisjoint(
            {"server", "set-cookie"}
        )
        connection.close()
