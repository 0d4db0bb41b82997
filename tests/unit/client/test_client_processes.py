"""Several processes in one directory, forks, and the end of a process: all real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deniable.client import Client, Consent
from material.clients import Clock, Script, question, strict, strings, survey

ASKED = survey(*(strings(f"q{i}") for i in range(20)))

RACE = """
import sys, time
from datetime import UTC, datetime
from deniable.client import Client, Consent
from deniable.errors import RecordRefused
client = Client(sys.argv[1], sys.argv[2], consent=Consent.GRANTED, strict=True, ceiling=1e6,
                clock=lambda: datetime(2026, 3, 2, tzinfo=UTC))
while time.time() < float(sys.argv[3]):
    pass
made = 0
for i in range(20):
    try:
        client.record(f"q{i}", "value")
        made += 1
    except RecordRefused as refusal:
        assert refusal.reason == "answered", refusal.reason
print(made)
"""


def published(directory: Path) -> str:
    path = directory / "survey.json"
    path.write_bytes(ASKED.published())
    return str(path)


def test_processes_that_race_make_one_report_per_epoch(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACE, published(tmp_path), str(tmp_path / "state")]
    command.append(str(time.time() + 0.7))
    racers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [racer.communicate(timeout=60) for racer in racers]
    assert [error for _, error in answers] == ["", "", ""]
    assert sum(int(made) for made, _ in answers) == 20
    client = strict(ASKED, tmp_path / "state")
    assert sorted(report.question for report in client.pending()) == sorted(
        asked.id for asked in ASKED.questions
    )
    assert all(line.reports == line.answers == 1 for line in client.disclosed().questions)


AT_EXIT = """
import sys
from deniable.client import Client, Consent
client = Client(sys.argv[1], sys.argv[2], consent=Consent.GRANTED, ceiling=1e6)
for i in range(20):
    client.record(f"q{i}", "value")
client.record("q0", 7)
"""


def test_what_waits_is_on_disk_when_the_process_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_EXIT, published(tmp_path), str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    client = strict(ASKED, tmp_path / "state")
    assert len(client.pending()) == 20
    assert ("q0", "type") in client.counters()


def in_child(work: object) -> str:
    """Run a function in a forked child and return what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs must end
        try:
            said = str(work())  # type: ignore[operator]
        except BaseException as error:
            said = f"raised {error!r}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("strictly", [True, False])
def test_a_fork_gives_the_child_its_own_thread_and_connection(
    tmp_path: Path, strictly: bool
) -> None:
    asked = survey(*(question(f"q{i}", repeat="once") for i in range(4)))
    client = Client(asked, tmp_path, consent=Consent.GRANTED, strict=strictly)
    client.record("q0", True)
    assert client.flush()

    def child() -> object:
        client.record("q0", True) if not strictly else None
        client.record("q1", True)
        flushed = client.flush()
        return flushed, sorted(r.question for r in client.pending()), client.counters()

    counted = {} if strictly else {("q0", "answered"): 1}
    assert in_child(child) == str((True, ["q0", "q1"], counted))
    client.record("q2", True)
    assert client.flush()
    assert sorted(report.question for report in client.pending()) == ["q0", "q1", "q2"]
    client.close()


def test_a_fork_leaves_the_queue_to_the_parent(tmp_path: Path) -> None:
    asked = survey(question("a", repeat="once"), question("b", repeat="once"))
    client = Client(asked, tmp_path, consent=Consent.GRANTED)
    assert client.flush()
    with client._device.database.transaction():  # the thread must wait, the entry stays queued
        client.record("a", True)

        assert in_child(lambda: client._worker._queue.qsize()) == "0"
    assert client.flush()
    assert [report.question for report in client.pending()] == ["a"]

    def child() -> object:
        client.record("b", True)
        return client.flush()

    assert in_child(child) == "True"
    assert sorted(report.question for report in client.pending()) == ["a", "b"]
    client.close()


def test_parent_and_child_draw_different_coins(tmp_path: Path) -> None:
    client = strict(survey(strings("a"), strings("b")), tmp_path)
    client.record("a", "value")  # bytes are read ahead now

    def child() -> object:
        draws = client._device._recorder._entropy
        return [draws.below(2**32) for _ in range(8)]

    theirs = in_child(child)
    ours = [client._device._recorder._entropy.below(2**32) for _ in range(8)]
    assert theirs.startswith("[")
    assert theirs != str(ours)


def test_forks_while_the_thread_is_busy_do_not_hang(tmp_path: Path) -> None:
    clock = Clock()
    with Client(
        survey(question()), tmp_path, consent=Consent.GRANTED, clock=clock, transport=Script()
    ) as client:
        for _ in range(15):
            for _ in range(5):
                client.record("q", True)
                clock.forward(days=1)
            assert in_child(lambda: len(client.pending()) >= 0) == "True"
