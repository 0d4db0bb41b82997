"""`record(wait=True)`: committed when it returns, whatever happens to the process afterwards."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Limits, Response
from deniable.errors import RecordRefused
from deniable.protocol import Report
from material.clients import Clock, Script, accept, question, strict, survey

NAMES = [f"q{i}" for i in range(30)]
ASKED = survey(*(question(name, repeat="once") for name in NAMES))


def client_for(directory: Path, **more: object) -> Client:
    settings = {"consent": Consent.GRANTED, "ceiling": 1e6, "clock": Clock(), **more}
    return Client(ASKED, directory, **settings)  # type: ignore[arg-type]


TERMINATED = """
import os, signal, sys
from contextlib import nullcontext
from deniable.client import Client, Consent

if sys.argv[4] != "SIGKILL":  # a parent under nohup would have had it ignored
    signal.signal(getattr(signal, sys.argv[4]), signal.SIG_DFL)
client = Client(sys.argv[1], sys.argv[2], consent=Consent.GRANTED, ceiling=1e6)
assert client.flush()
held = sys.argv[3] == "held"  # the thread cannot commit, as on a slow disk
with client._device.database.transaction() if held else nullcontext():
    said = client.record("q0", True, wait=sys.argv[3] == "wait")
    print(said, flush=True)
    os.kill(os.getpid(), getattr(signal, sys.argv[4]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGHUP"])
@pytest.mark.parametrize("how", ["wait", "held"])
def test_a_signal_right_after_record(tmp_path: Path, name: str, how: str) -> None:
    (tmp_path / "survey.json").write_bytes(ASKED.published())
    command = [sys.executable, "-c", TERMINATED, str(tmp_path / "survey.json")]
    done = subprocess.run(
        [*command, str(tmp_path / "state"), how, name],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # Ended by the signal's default action: the library has installed no handler.
    assert (done.returncode, done.stderr) == (-getattr(signal, name), "")
    assert done.stdout == ("True\n" if how == "wait" else "None\n")
    with strict(ASKED, tmp_path / "state") as client:
        kept = [report.question for report in client.pending()]
        # Without wait it may be lost, as the docs say; here it must be, or the test shows nothing.
        assert kept == (["q0"] if how == "wait" else [])
        assert len(client.disclosed().questions) == len(kept)


def test_no_signal_handler_is_installed(tmp_path: Path) -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    with client_for(tmp_path) as client:
        client.record("q0", True, wait=True)
        after = {number: signal.getsignal(number) for number in signal.valid_signals()}
    assert after == before


def test_what_it_returns(tmp_path: Path) -> None:
    with client_for(tmp_path) as client:
        assert client.record("q0", True) is None
        assert client.record("q1", True, wait=False) is None
        assert client.record("q1", True, wait=True) is False  # the first value was before it
        assert client.record("q2", True, wait=True) is True
        assert client.record("q2", True, wait=True) is False
        assert client.record("q3", "not a boolean", wait=True) is False
        assert client.record("no such question", True, wait=True) is False
        assert {report.question for report in client.pending()} == {"q0", "q1", "q2"}
    assert client.record("q4", True, wait=True) is False
    assert client.counters() == {
        ("q1", "answered"): 1,
        ("q2", "answered"): 1,
        ("q3", "type"): 1,
        ("", "unknown_question"): 1,
        ("q4", "closed"): 1,
    }


def test_a_strict_client_waits_anyhow(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path)
    assert client.record("q0", True, wait=True) is True
    assert client.record("q1", True) is None
    with pytest.raises(RecordRefused):
        client.record("q0", True, wait=True)


def test_there_is_room_for_those_who_wait(tmp_path: Path) -> None:
    client = client_for(tmp_path, limits=Limits(queue=1))
    results: list[bool | None] = []
    with client._device.database.transaction():
        threads = [
            threading.Thread(
                target=lambda n=name: results.append(client.record(n, True, wait=True))
            )
            for name in NAMES
        ]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [True] * 30
    client.close()


def test_it_never_waits_for_the_network(tmp_path: Path) -> None:
    gate, entered = threading.Event(), threading.Event()

    def hang(reports: list[Report]) -> Response:
        entered.set()
        gate.wait(120)
        return accept(reports)

    client = client_for(tmp_path, transport=Script([hang]), limits=Limits(delay_seconds=0))
    client.record("q0", True)
    assert entered.wait(60)
    for name in NAMES[1:]:
        assert client.record(name, True, wait=True)
    assert not gate.is_set()
    assert len(client.pending()) == 30
    gate.set()
    assert client.flush(60)
    client.close()


def test_it_does_not_wait_for_itself(tmp_path: Path) -> None:
    """In a signal handler, in the middle of the client's own work in the same thread."""
    client = client_for(tmp_path)
    with client._device.database.reading():
        assert client.record("q0", True, wait=True) is False
    assert client.flush()
    assert len(client.pending()) == 1
    client.close()


def test_a_log_handler_that_records_does_not_hang(tmp_path: Path) -> None:
    logger = logging.getLogger("deniable.client")
    said: list[object] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not said:
                said.append("once")
                said.append(client.record("q1", True, wait=True))

    handler, level = Handler(), logger.level
    client = client_for(tmp_path)
    assert client.record("q0", True, wait=True)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        client._device._answered.clear()  # so that the thread finds out, and logs it
        assert client.record("q0", True, wait=True) is False
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert said == ["once", True]
    client.close()


def test_without_a_thread_the_caller_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        client = client_for(tmp_path)
        client.record("q0", False)
        assert client.record("q0", True, wait=True) is False  # the order is kept
        assert client.record("q1", True, wait=True) is True
    assert len(client.pending()) == 2
    client.close()
