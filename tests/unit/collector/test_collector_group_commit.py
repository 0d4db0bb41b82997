from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from deniable.collector import group_commit
from deniable.collector.group_commit import GroupCommit
from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.errors import OutcomeUnknown, StoreError
from deniable.protocol import Report
from deniable.store import Appended, SqliteStore
from deniable.store.base import Counters
from material.collector import report


class WatchedStore(SqliteStore):
    """A real store that notes its groups, and can be made to wait or fail."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.groups: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.failure: Exception | None = None
        self.probes: list[int] = []

    def probe(self, size: int) -> None:
        self.probes.append(size)
        super().probe(size)

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        self.gate.wait(10)
        if self.failure is not None:
            raise self.failure
        self.groups.append(len(reports))
        return super().append(reports, refusals)


@pytest.fixture
def store(tmp_path: Path) -> WatchedStore:
    return WatchedStore(tmp_path / "s")


def queue(
    store: SqliteStore, refusals: Refusals | None = None, group: int = 100, waiting: int = 1_000
) -> GroupCommit:
    return GroupCommit(
        store, refusals or Refusals(), window_ms=20, max_group=group, max_waiting=waiting
    )


def some(start: int, count: int) -> list[Report]:
    return [report(number) for number in range(start, start + count)]


def test_requests_that_meet_are_written_together(store: WatchedStore) -> None:
    async def scenario() -> list[Appended]:
        async with queue(store) as commits:
            return await asyncio.gather(*(commits.append(some(5 * i, 5)) for i in range(10)))

    assert [done.accepted for done in asyncio.run(scenario())] == [5] * 10
    assert store.groups == [50]


def test_a_full_group_does_not_wait_and_is_not_exceeded(store: WatchedStore) -> None:
    async def scenario() -> None:
        async with queue(store, group=30) as commits:
            await asyncio.gather(*(commits.append(some(20 * i, 20)) for i in range(4)))

    asyncio.run(scenario())
    assert store.groups == [20] * 4
    assert store.counters() == {("colour", "accepted"): 80}


def test_reports_that_are_company_enough_wait_for_no_more(store: WatchedStore) -> None:
    async def written(count: int, patience: float) -> bool:
        hour = 3_600_000
        commits = GroupCommit(
            store, Refusals(), window_ms=hour, max_group=10_000, max_waiting=10_000
        )
        async with commits:  # leaving it writes what waits
            calls = (commits.append([report(1_000 * count + i)]) for i in range(count))
            everything = asyncio.gather(*calls)
            done, _ = await asyncio.wait([everything], timeout=patience)
        await everything
        return bool(done)

    assert asyncio.run(written(group_commit.COMPANY, patience=60))
    # One fewer would wait for the whole window.
    assert not asyncio.run(written(group_commit.COMPANY - 1, patience=0.3))
    assert store.groups == [group_commit.COMPANY, group_commit.COMPANY - 1]


def test_a_batch_larger_than_a_group_is_a_group(store: WatchedStore) -> None:
    async def scenario() -> Appended:
        async with queue(store, group=3) as commits:
            return await commits.append(some(0, 50))

    assert asyncio.run(scenario()).accepted == 50


def test_too_many_waiting_reports_are_asked_to_come_back(store: WatchedStore) -> None:
    async def scenario() -> None:
        store.gate.clear()
        async with queue(store, waiting=10) as commits:
            first = asyncio.create_task(commits.append(some(0, 8)))
            await asyncio.sleep(0.1)  # it is being written now, and waits no longer
            second = asyncio.create_task(commits.append(some(8, 8)))
            await asyncio.sleep(0)
            with pytest.raises(Refused) as caught:
                await commits.append(some(16, 3))
            assert caught.value.problem.reason is Reason.BUSY
            assert caught.value.headers == {"retry-after": "1"}
            store.gate.set()
            assert (await first).accepted + (await second).accepted == 16
            assert (await commits.append(some(16, 3))).accepted == 3

    asyncio.run(scenario())


def test_a_failed_write_fails_its_group_and_only_that(store: WatchedStore) -> None:
    refusals = Refusals()

    async def scenario() -> None:
        async with queue(store, refusals) as commits:
            store.failure = StoreError("full")
            refusals.add("colour", Reason.DIGEST)
            calls = (commits.append(some(5 * i, 5)) for i in range(3))
            for outcome in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(outcome, Refused)
                assert outcome.problem.reason is Reason.STORE
                assert "retry-after" in (outcome.headers or {})
            store.failure = None
            assert (await commits.append(some(0, 15))).accepted == 15

    asyncio.run(scenario())
    assert store.counters() == {("colour", "accepted"): 15, ("colour", "digest"): 1}


def test_a_mistake_of_ours_does_not_stop_the_queue(store: WatchedStore) -> None:
    async def scenario() -> None:
        async with queue(store) as commits:
            store.failure = ZeroDivisionError()
            with pytest.raises(ZeroDivisionError):
                await commits.append(some(0, 1))
            store.failure = None
            assert (await commits.append(some(0, 1))).accepted == 1

    asyncio.run(scenario())


def test_a_sender_that_hangs_up_disturbs_nobody(store: WatchedStore) -> None:
    async def scenario() -> Appended:
        async with queue(store) as commits:
            gone = asyncio.create_task(commits.append(some(0, 5)))
            stays = asyncio.create_task(commits.append(some(5, 5)))
            await asyncio.sleep(0)
            gone.cancel()
            return await stays

    assert asyncio.run(scenario()).accepted == 5
    assert store.counters() == {("colour", "accepted"): 10}


def test_leaving_writes_what_waits_and_then_refuses(store: WatchedStore) -> None:
    refusals = Refusals()

    async def scenario() -> None:
        async with queue(store, refusals) as commits:
            waiting = asyncio.create_task(commits.append(some(0, 5)))
            await asyncio.sleep(0)
            refusals.add("", Reason.BODY)
        assert (await waiting).accepted == 5
        with pytest.raises(Refused):
            await commits.append(some(5, 5))

    asyncio.run(scenario())
    assert store.counters() == {("colour", "accepted"): 5, ("", "body"): 1}


def test_refusals_alone_are_written_soon(
    store: WatchedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "REFUSAL_SECONDS", 0.02)
    refusals = Refusals()

    async def scenario() -> None:
        async with queue(store, refusals):
            for _ in range(3):
                refusals.add("", Reason.BODY)
            while not store.counters():
                await asyncio.sleep(0.01)
            assert store.groups == [0]
            assert refusals.waiting() == {}
            refusals.add("", Reason.BODY)

    asyncio.run(scenario())
    assert store.counters() == {("", "body"): 4}


def test_however_many_probe_at_most_one_write_follows(store: WatchedStore) -> None:
    async def scenario() -> None:
        async with queue(store) as commits:
            await asyncio.gather(*(commits.probe() for _ in range(50)))
            await commits.probe()
            assert store.probes == [group_commit.PROBE_BYTES]
            store.close()
            await commits.probe()  # the last answer still holds
            commits._known_until = 0
            with pytest.raises(Refused, match="store is closed"):
                await commits.probe()

    asyncio.run(scenario())


def test_readiness_follows_the_last_write_and_not_the_probe(store: WatchedStore) -> None:
    async def scenario() -> None:
        async with queue(store) as commits:
            await commits.append(some(0, 1))
            await commits.probe()  # a real write has shown it already
            store.failure = StoreError("full")
            with pytest.raises(Refused):
                await commits.append(some(1, 1))
            for _ in range(3):
                with pytest.raises(Refused, match="full"):
                    await commits.probe()
            assert store.probes == []
            store.failure = None
            await commits.append(some(1, 1))
            await commits.probe()
            store.failure = StoreError("full again")
            with pytest.raises(Refused):
                await commits.append(some(2, 1))
            commits._known_until = 0  # idle for long: a write of a real size decides
            await commits.probe()
            assert store.probes == [group_commit.PROBE_BYTES]

    asyncio.run(scenario())


def test_the_queue_can_be_looked_at_before_any_work(store: WatchedStore) -> None:
    async def scenario() -> None:
        store.gate.clear()
        async with queue(store, group=4, waiting=10) as commits:
            commits.look(10)
            with pytest.raises(Refused) as caught:
                commits.look(11)
            assert caught.value.problem.reason is Reason.BUSY
            first = asyncio.create_task(commits.append(some(0, 4)))
            while not commits._writing:
                await asyncio.sleep(0.01)
            await asyncio.wait_for(commits.room(), 10)
            second = asyncio.create_task(commits.append(some(4, 4)))
            await asyncio.sleep(0)
            waiting = asyncio.create_task(commits.room())  # a group is full, another is written
            await asyncio.sleep(0.05)
            assert not waiting.done()
            store.gate.set()
            await asyncio.wait_for(waiting, 10)
            assert (await first).accepted + (await second).accepted == 8

    asyncio.run(scenario())


def test_a_lost_connection_is_told_as_unknown_and_refusals_are_not_counted_twice(
    store: WatchedStore,
) -> None:
    refusals = Refusals()
    refusals.add("", Reason.SCHEMA)

    async def scenario() -> str:
        async with queue(store, refusals) as commits:
            store.failure = OutcomeUnknown("lost")
            with pytest.raises(Refused) as raised:
                await commits.append(some(0, 5))
            store.failure = None
            assert (await commits.append(some(0, 5))).accepted == 5
            return str(vars(raised.value))

    told = asyncio.run(scenario())
    assert "not known whether the batch was accepted" in told
    assert "Nothing was accepted" not in told
    assert store.counters() == {("colour", "accepted"): 5}
