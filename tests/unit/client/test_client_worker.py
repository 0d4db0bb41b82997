"""The queue and its thread: bounded, never blocking, and nothing lost at the end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Limits, Response
from deniable.client.device import Device
from deniable.client.recorder import Entry
from deniable.errors import RecordRefused
from deniable.protocol import Report
from material.clients import Script, accept, question, status, survey

NAMES = [f"q{i}" for i in range(30)]
AT_ONCE = Limits(delay_seconds=0)
ASKED = survey(*(question(name, repeat="once") for name in NAMES))


def client_for(directory: Path, **more: object) -> Client:
    client = Client(ASKED, directory, consent=Consent.GRANTED, ceiling=1e6, **more)
    assert client.flush()
    return client


def test_a_full_queue_is_counted_and_never_blocks(tmp_path: Path) -> None:
    client = client_for(tmp_path, limits=Limits(queue=5))
    with client._device.database.transaction():  # the thread must wait
        started = time.monotonic()
        for name in NAMES:
            client.record(name, True)
        assert time.monotonic() - started < 1
    assert client.flush()
    full = sum(n for (_, why), n in client.counters().items() if why == "queue_full")
    assert full in (24, 25)  # one entry may be in the thread's hands
    assert len(client.pending()) == 30 - full
    client.close()


def test_record_is_quick(tmp_path: Path) -> None:
    client = client_for(tmp_path, limits=Limits(queue=10**6))
    times = []
    for name in NAMES * 20:
        started = time.perf_counter()
        client.record(name, True)
        times.append(time.perf_counter() - started)
    client.close()
    assert sorted(times)[len(times) // 2] < 0.001  # typically 4 microseconds


def test_many_threads_record_at_once(tmp_path: Path) -> None:
    client = client_for(tmp_path)
    threads = [
        threading.Thread(target=lambda: [client.record(name, True) for name in NAMES])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.flush()
    assert len(client.pending()) == 30
    assert sum(client.counters().values()) == 7 * 30
    client.close()


def test_a_collector_that_hangs_does_not_block_records_or_lose_them(tmp_path: Path) -> None:
    gate, entered = threading.Event(), threading.Event()

    def hang(reports: list[Report]) -> Response:
        entered.set()
        gate.wait(10)
        return accept(reports)

    client = client_for(tmp_path, transport=Script([hang]), limits=AT_ONCE)
    client.record("q0", True)
    assert entered.wait(10)
    for name in NAMES[1:]:
        client.record(name, True)
    assert not client.flush(timeout=0.01)
    client.close(timeout=0.05)  # what the thread cannot do in time is brought to disk here
    assert len(client.pending()) == 30
    gate.set()


def test_closing_waits_for_the_entry_that_is_being_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, begun = Device.commit, threading.Event()

    def slow(device: Device, entry: Entry) -> RecordRefused | None:
        begun.set()
        time.sleep(0.3)
        return right(device, entry)

    monkeypatch.setattr(Device, "commit", slow)
    client = client_for(tmp_path)
    client.record("q0", True)
    assert begun.wait(10)  # the thread has it in hand, the queue is empty
    client.close(timeout=0.01)
    assert len(client.pending()) == 1


def test_closing_twice_and_recording_after_it(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # clients that other tests left open have threads too
    client = client_for(tmp_path)
    client.record("q0", True)
    own = {thread for thread in threading.enumerate() if thread.name == "deniable"} - before
    assert len(own) == 1
    client.close()
    client.close()
    client.record("q1", True)
    assert not client.flush()
    assert client.counters() == {("q1", "closed"): 1}
    assert [report.question for report in client.pending()] == ["q0"]
    assert not own & set(threading.enumerate())
    assert not {thread for thread in threading.enumerate() if thread.name == "deniable"} - before


def test_flush_tells_whether_reports_are_left(tmp_path: Path) -> None:
    script = Script([status(503)])
    client = client_for(
        tmp_path, transport=script, limits=Limits(delay_seconds=0, retry_base_seconds=1e6)
    )
    client.record("q0", True)
    deadline = time.monotonic() + 10
    while not script.requests and time.monotonic() < deadline:
        time.sleep(0.005)
    assert len(client.pending()) == 1
    assert client.flush()  # skips our own back-off
    assert client.pending() == []
    client.close()


def test_a_thread_that_cannot_start_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        client = Client(ASKED, tmp_path, consent=Consent.GRANTED, ceiling=1e6)
        client.record("q0", True)
        assert not client.flush(timeout=0.01)
    client.record("q1", True)
    assert client.flush()
    assert len(client.pending()) == 2
    client.close()
