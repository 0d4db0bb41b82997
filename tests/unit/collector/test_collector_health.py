"""Questions about health: nobody is refused, all answers are true, and a flood has its pace."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector import group_commit
from deniable.collector.connections import MAX_CONNECTIONS, Connections, spare_connections
from deniable.collector.descriptors import allow_descriptors, descriptors
from deniable.collector.group_commit import GroupCommit
from deniable.collector.health import AT_ONCE, HEALTH, PER_SECOND, READINESS, Health
from deniable.collector.own_answers import HEALTHY, READY, OwnAnswer
from deniable.collector.refusals import Refusals
from deniable.store import SqliteStore


class StuckStore(SqliteStore):
    """A real store whose probe can be made to wait."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.gate = threading.Event()
        self.gate.set()
        self.probes = 0

    def probe(self, size: int) -> None:
        self.probes += 1
        self.gate.wait(30)
        super().probe(size)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StuckStore]:
    with StuckStore(tmp_path / "s") as store:
        yield store


class Asking:
    """A connection that notes what it is told, and when."""

    def __init__(self) -> None:
        self.told: list[OwnAnswer] = []
        self.at = 0.0

    def tell(self, answer: OwnAnswer) -> None:
        self.told.append(answer)
        self.at = asyncio.get_running_loop().time()


def watched(store: SqliteStore, refusals: Refusals) -> tuple[GroupCommit, Health]:
    commits = GroupCommit(store, refusals, window_ms=5, max_group=100, max_waiting=1_000)
    return commits, Health(commits, refusals, local_only=True)


async def all_told(askers: list[Asking]) -> None:
    async with asyncio.timeout(30):
        while not all(asker.told for asker in askers):
            await asyncio.sleep(0.01)


def test_a_few_are_told_in_the_next_step_and_not_in_this_one(store: StuckStore) -> None:
    async def scenario() -> None:
        commits, desk = watched(store, Refusals())
        async with commits:
            askers = [Asking() for _ in range(AT_ONCE)]
            for asker in askers:
                desk.ask(asker, HEALTH)
            assert not any(asker.told for asker in askers)
            await asyncio.sleep(0)
            assert all(asker.told == [HEALTHY] for asker in askers)

    asyncio.run(scenario())


def test_a_flood_is_told_in_order_at_its_pace_and_nobody_is_refused(store: StuckStore) -> None:
    async def scenario() -> None:
        commits, desk = watched(store, Refusals())
        async with commits:
            await commits.outcome()
            many = AT_ONCE + PER_SECOND // 2
            askers = [Asking() for _ in range(many)]
            start = asyncio.get_running_loop().time()
            for number, asker in enumerate(askers):
                desk.ask(asker, (HEALTH, READINESS)[number % 2])
            await all_told(askers)
            # Half a second's worth cannot come sooner; a clock that is late only adds to it.
            assert askers[-1].at - start >= 0.45
            times = [asker.at for asker in askers]
            assert times == sorted(times)
            assert [asker.told for asker in askers] == [[HEALTHY], [READY]] * (many // 2)

    asyncio.run(scenario())


def test_one_write_tells_everybody_who_asks_whether_the_store_works(store: StuckStore) -> None:
    refusals = Refusals()

    async def scenario() -> None:
        commits, desk = watched(store, refusals)
        async with commits:
            askers = [Asking() for _ in range(50)]
            for asker in askers:
                desk.ask(asker, READINESS)
            await all_told(askers)
            assert all(asker.told == [READY] for asker in askers)
            assert store.probes == 1
            store.close()
            commits._known_until = 0
            late = Asking()
            desk.ask(late, READINESS)
            await all_told([late])
            assert late.told[0].status == 503
            assert b'"store"' in late.told[0].body
            assert refusals.waiting()["", "store"] == 1

    asyncio.run(scenario())


def test_a_write_that_does_not_end_is_told_in_time_and_until_it_ends(
    store: StuckStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "PROBE_PATIENCE", 0.05)

    async def scenario() -> None:
        commits, desk = watched(store, Refusals())
        async with commits:
            store.gate.clear()
            for _ in range(3):
                asker, other = Asking(), Asking()
                desk.ask(asker, READINESS)
                desk.ask(other, HEALTH)
                await all_told([asker, other])
                assert asker.told[0].status == 503
                assert b"does not end" in asker.told[0].body
                assert other.told == [HEALTHY]
            assert store.probes == 1
            store.gate.set()
            async with asyncio.timeout(30):
                while commits.failure is not None:
                    await asyncio.sleep(0.01)
            asker = Asking()
            desk.ask(asker, READINESS)
            await all_told([asker])
            assert asker.told == [READY]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("method", "path", "host", "taken"),
    [
        ("GET", "/healthz", b"localhost", True),
        ("HEAD", "/readyz", b"127.0.0.1:8000", True),
        ("POST", "/healthz", b"localhost", False),
        ("GET", "/healthz", b"evil.example", False),
        ("GET", "/healthz/", b"localhost", False),
        ("GET", "/v1/survey", b"localhost", False),
    ],
)
def test_only_plain_questions_are_answered_without_the_application(
    store: StuckStore, method: str, path: str, host: bytes, taken: bool
) -> None:
    commits, desk = watched(store, Refusals())
    scope = {"method": method, "path": path, "headers": [(b"host", host)]}
    assert desk.takes(scope) is taken
    anywhere = Health(commits, Refusals(), local_only=False)
    assert anywhere.takes({**scope, "headers": []}) is (taken or host == b"evil.example")


class Member:
    def __init__(self) -> None:
        self.gone = False

    def give_way(self) -> None:
        self.gone = True


def test_those_who_ask_about_health_take_no_room_and_find_some() -> None:
    connections = Connections(most=2, spare=3)
    workers, askers = [Member(), Member()], [Member(), Member(), Member()]
    for worker in workers:
        assert connections.arrive(worker)
        connections.busy(worker)
    for asker in askers:
        assert connections.arrive(asker)
        assert connections.crowded  # a request of another kind would be refused
        connections.asking(asker)
        connections.busy(asker)
        assert not connections.crowded
    assert not connections.arrive(Member())  # no descriptor is left for it
    connections.leave(workers[0])
    silent = Member()
    assert connections.arrive(silent)
    for asker in askers:
        connections.told(asker)
        connections.idle(asker)  # it stays connected, and yields like everybody who waits
    gone = [member.gone for member in (silent, *askers, workers[1])]
    assert gone == [True, True, True, False, False]


def test_spare_connections_follow_the_descriptors_that_there_are() -> None:
    before = descriptors()
    allow_descriptors(before)
    assert descriptors() == before
    assert 0 <= spare_connections() <= max(0, before - MAX_CONNECTIONS)
    assert MAX_CONNECTIONS + spare_connections() <= 2 * PER_SECOND  # within two seconds
