"""Many requests, one durable write: reports wait a moment for company and are synced together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, Self

from deniable.collector.problems import unavailable
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.errors import OutcomeUnknown, StoreError
from deniable.protocol import Report
from deniable.store.base import Appended, Counters, Store

COMPANY = 64
"""Reports that share a sync, and hide each other's order: no more of them are waited for."""
REFUSAL_SECONDS = 1.0
"""The delay after which refusals without reports are written; a kill may lose the last."""

PROBE_SECONDS = 5.0
"""The time for which the outcome of a write tells whether the store works."""
PROBE_PATIENCE = 1.5
"""The longest wait of those who ask for the outcome of a write."""
PROBE_BYTES = 512 * 2**10
"""Roughly the size of a full group: a small write may fit where no batch does."""
_LATER = "Nothing was accepted. Send the same batch again later."
_PERHAPS = "It is not known whether the batch was accepted. Send the same batch again later."
_ONE_NEW, _ONE_KNOWN = Appended(1, 0, (True,)), Appended(0, 1, (False,))
_LATE = StoreError("A write of the store does not end. Look at its disk, and at who else uses it.")


Tell = Callable[[Appended | Exception], object]
"""Takes the outcome of reports: their numbers, or why they were not written. Must not raise."""


class _Waiting(NamedTuple):
    reports: Sequence[Report]
    tell: Tell


Observe = Callable[[Sequence[Report], Sequence[bool], Counters, float, int], object]
"""Is told of every durable group: its reports, which of them were new, the refusals that were
written with it, the seconds that it took, and how many reports waited behind it."""


class GroupCommit:
    """A queue in front of the store, and the one thread that writes.

    Guarantees: `append` returns only after its reports are durable, with its own numbers of new
    and duplicate reports. At most `max_waiting` reports wait; beyond, senders are asked to come
    back. A failed write fails every request of its group, and nothing of it is stored (or, if a
    connection was lost in a commit, nobody knows, and is told so); until a write succeeds again,
    the collector is not ready.

    Edge cases: a sender that hangs up does not stop its reports; a retry finds them as duplicates.

    Use it as an asynchronous context: leaving it writes what is waiting.
    """

    def __init__(
        self,
        store: Store,
        refusals: Refusals,
        *,
        window_ms: int,
        max_group: int,
        max_waiting: int,
        observe: Observe = lambda *_: None,
    ) -> None:
        self._store = store
        self._observe = observe
        self._refusals = refusals
        self._window = window_ms / 1_000
        self._max_group = max_group
        self._enough = min(COMPANY, max_group)
        self._max_waiting = max_waiting
        self._waiting: list[_Waiting] = []
        self._size = 0
        self._wake = asyncio.Event()
        self._company = asyncio.Event()
        self._closing = False
        self._writing = False
        self._room = asyncio.Event()
        self._room.set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deniable-commit")
        self._failure: StoreError | None = None
        self._known_until = 0.0
        self._late = False
        self._probe: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._refusals.on_first(lambda: loop.call_later(REFUSAL_SECONDS, self._wake.set))
        self._task = loop.create_task(self._run(), name="deniable-commit")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self._wake.set()
        self._company.set()
        self._update_room()
        await self._task
        if self._probe is not None:
            await self._probe
        self._thread.shutdown()

    def look(self, reports: int = 1) -> None:
        """Refuse early, before any work on them, if `reports` more reports would not be taken now.

        Raises:
            Refused: if too many are waiting.
        """
        if self._closing or self._size + reports > self._max_waiting:
            raise unavailable(Reason.BUSY, _LATER)

    async def room(self) -> None:
        """Wait until the next group is not full, or nothing is being written.

        Parsing further ahead would only take the interpreter from the thread that writes, which
        needs it for every report.
        """
        await self._room.wait()

    async def append(self, reports: Sequence[Report]) -> Appended:
        """Write reports durably, together with others'.

        Raises:
            Refused: if too many are waiting, or the store cannot be written.
        """
        done: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()

        def tell(outcome: Appended | Exception) -> None:
            if done.done():
                return
            if isinstance(outcome, Exception):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)

        self.put(reports, tell)
        return await done

    def put(self, reports: Sequence[Report], tell: Tell) -> None:
        """Write reports durably, together with others', and tell their outcome when it is known.

        Raises:
            Refused: if too many are waiting.
        """
        if not reports:
            tell(Appended(0, 0))
            return
        self.look(len(reports))
        self._waiting.append(_Waiting(reports, tell))
        self._size += len(reports)
        self._wake.set()
        if self._size >= self._enough:
            self._company.set()
        if self._writing and self._size >= self._max_group:  # no report makes room
            self._update_room()

    async def probe(self) -> None:
        """Check that the store works: by the last write, or by a new one if that was long ago.

        Raises:
            Refused: if the last write failed, or does not end.
        """
        await self.outcome()
        if self.failure is not None:
            raise unavailable(Reason.STORE, str(self.failure))

    @property
    def known(self) -> bool:
        """True if the outcome of a write is fresh, or one does not end."""
        unending = self._late and self._probe is not None
        return unending or asyncio.get_running_loop().time() < self._known_until

    @property
    def failure(self) -> StoreError | None:
        """Why the last write failed; None if it succeeded."""
        return _LATE if self._late else self._failure

    async def outcome(self) -> None:
        """Wait until the outcome of a write is known; make one if the last was long ago.

        However many ask, one write in some seconds is all that they cause. A write that does not
        end in time counts as failed, until one ends.
        """
        if self.known:
            return
        if self._probe is None:
            self._probe = asyncio.create_task(self._write_probe(), name="deniable-probe")
        await asyncio.wait([self._probe], timeout=PROBE_PATIENCE)
        self._late = not self.known

    async def _write_probe(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._store.probe, PROBE_BYTES)
        except StoreError as error:
            self._learn(error)
        else:
            self._learn(None)
        finally:
            self._probe = None

    def _learn(self, failure: StoreError | None) -> None:
        """Remember the outcome of a write."""
        self._failure = failure
        self._late = False
        self._known_until = asyncio.get_running_loop().time() + PROBE_SECONDS

    def _update_room(self) -> None:
        if self._writing and self._size >= self._max_group and not self._closing:
            self._room.clear()
        else:
            self._room.set()

    async def _run(self) -> None:
        while not (self._closing and not self._waiting):
            await self._wake.wait()
            if self._waiting and not self._closing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._company.wait(), self._window)
            await self._commit(self._take())
        await self._commit([])

    def _take(self) -> list[_Waiting]:
        """Take the next group off the queue: at least one request, at most `max_group` reports."""
        count = total = 0
        for waiting in self._waiting:
            total += len(waiting.reports)
            if count and total > self._max_group:
                break
            count += 1
        group = list(islice(self._waiting, count))
        del self._waiting[:count]
        self._size -= sum(len(waiting.reports) for waiting in group)
        if self._size < self._enough:
            self._company.clear()
        if not self._waiting:
            self._wake.clear()
        self._update_room()
        return group

    async def _commit(self, group: list[_Waiting]) -> None:
        reports = [report for waiting in group for report in waiting.reports]
        refusals = self._refusals.take()
        if not (reports or refusals):
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        write = loop.run_in_executor(self._thread, self._store.append, reports, refusals)
        # Waiting, not awaiting: whatever the write raises belongs to the group's requests, and
        # this loop must outlive it.
        self._writing = True
        self._update_room()
        await asyncio.wait([write])
        self._writing = False
        self._update_room()
        error = write.exception()
        if error is None or isinstance(error, StoreError):
            self._learn(error)
        if error is not None:
            if not isinstance(error, OutcomeUnknown):  # rather lost than counted twice
                self._refusals.put_back(refusals)
            for waiting in group:
                waiting.tell(_told(error))
            return
        new = write.result().new
        _distribute(group, new)
        self._observe(reports, new, refusals, loop.time() - began, self._size)


def _distribute(group: list[_Waiting], new: Sequence[bool]) -> None:
    """Give each request of a group the outcome of its reports."""
    start = 0
    for waiting in group:
        count = len(waiting.reports)
        if count == 1:  # as most are
            waiting.tell(_ONE_NEW if new[start] else _ONE_KNOWN)
            start += 1
            continue
        mine = tuple(new[start : start + count])
        start += count
        waiting.tell(Appended(sum(mine), count - sum(mine), mine))


def _told(error: BaseException) -> Exception:
    """Return what the sender of reports is told about a write that failed."""
    if isinstance(error, OutcomeUnknown):
        return unavailable(Reason.STORE, _PERHAPS)
    if isinstance(error, StoreError):
        return unavailable(Reason.STORE, _LATER)
    return error if isinstance(error, Exception) else RuntimeError("The write was given up.")
