"""A demo that is told to end takes its collector with it: a real process, a real signal."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 120.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(5)
        return asking.connect_ex(("127.0.0.1", port)) == 0


def children(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(word) for word in path.read_text().split()]


def runs(process: int) -> bool:
    """Tell whether a process is there; one that ended and waits for its parent is not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for(done: Callable[[], object], what: str) -> None:
    limit = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


@contextmanager
def demo(folder: Path, port: int, people: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a demo with a dashboard; whatever a test leaves behind is ended by its number."""
    command = [sys.executable, "-m", "deniable", "demo", "--output", str(folder / "out")]
    command += ["--clients", "1", "--people", str(people), "--port", str(port), "--seed", "3"]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log) as process:
        known: list[int] = []
        try:
            wait_for(lambda: children(process.pid) or process.poll() is not None, "no collector")
            known = children(process.pid)
            yield process
        finally:
            for number in (*known, process.pid):
                if runs(number):
                    os.kill(number, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["starting", "collecting", "showing"])
def test_a_signal_ends_demo_collector_and_port(
    tmp_path: Path, number: signal.Signals, moment: str
) -> None:
    port = free_port()
    people = 2_000 if moment == "showing" else 500_000
    with demo(tmp_path, port, people) as process:
        collectors = children(process.pid)
        assert collectors
        if moment != "starting":
            wait_for(lambda: answers(port), "the collector never answered")
        if moment == "showing":
            log = tmp_path / "log"
            wait_for(lambda: b"Dashboard:" in log.read_bytes(), "no dashboard")
        process.send_signal(number)
        process.wait(PATIENCE)
        assert not any(map(runs, collectors))
        assert not answers(port)
