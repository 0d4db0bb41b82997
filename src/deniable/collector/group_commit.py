"""Many requests, one durable write: reports wait a moment for company and are synced together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Self

from deniable.collector.problems import unavailable
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store.base import ACCEPTED, Appended, Store

REFUSAL_SECONDS = 1.0
"""Refusals without reports are written after so long; a kill may lose the last of them."""

PROBE_SECONDS = 1.0


@dataclass(frozen=True)
class _Waiting:
    reports: Sequence[Report]
    done: asyncio.Future[Appended]


class GroupCommit:
    """A queue in front of the store, and the one thread that writes.

    Guarantees: `append` returns only after its reports are durable, with its own numbers of new
    and duplicate reports. At most `max_waiting` reports wait; beyond, senders are asked to come
    back. A failed write fails every request of its group, and nothing of it is stored.

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
    ) -> None:
        self._store = store
        self._refusals = refusals
        self._window = window_ms / 1_000
        self._max_group = max_group
        self._max_waiting = max_waiting
        self._waiting: list[_Waiting] = []
        self._size = 0
        self._wake = asyncio.Event()
        self._full = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deniable-commit")
        self._probed_until = 0.0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._refusals.on_first(lambda: loop.call_later(REFUSAL_SECONDS, self._wake.set))
        self._task = loop.create_task(self._run(), name="deniable-commit")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self._wake.set()
        self._full.set()
        await self._task
        self._thread.shutdown()

    async def append(self, reports: Sequence[Report]) -> Appended:
        """Write reports durably, together with others'.

        Raises:
            Refused: if too many are waiting, or the store cannot be written.
        """
        if not reports:
            return Appended(0, 0)
        if self._closing or self._size + len(reports) > self._max_waiting:
            raise unavailable(Reason.BUSY, "Nothing was accepted. Send the same batch again later.")
        done: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(reports, done))
        self._size += len(reports)
        self._wake.set()
        if self._size >= self._max_group:
            self._full.set()
        try:
            return await done
        except StoreError:
            detail = "Nothing was accepted. Send the same batch again later."
            raise unavailable(Reason.STORE, detail) from None

    async def probe(self) -> None:
        """Show that the store can be written, by writing; at most once a second.

        Raises:
            Refused: if it cannot.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._probed_until:
            return
        try:
            await loop.run_in_executor(self._thread, self._store.count, {("", ACCEPTED): 0})
        except StoreError as error:
            raise unavailable(Reason.STORE, str(error)) from None
        self._probed_until = loop.time() + PROBE_SECONDS

    async def _run(self) -> None:
        while not (self._closing and not self._waiting):
            await self._wake.wait()
            if self._waiting and not self._closing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._window)
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
        if self._size < self._max_group:
            self._full.clear()
        if not self._waiting:
            self._wake.clear()
        return group

    async def _commit(self, group: list[_Waiting]) -> None:
        reports = [report for waiting in group for report in waiting.reports]
        refusals = self._refusals.take()
        if not (reports or refusals):
            return
        write = asyncio.get_running_loop().run_in_executor(
            self._thread, self._store.append, reports, refusals
        )
        # Waiting, not awaiting: whatever the write raises belongs to the group's requests, and
        # this loop must outlive it.
        await asyncio.wait([write])
        error = write.exception()
        if error is not None:
            self._refusals.put_back(refusals)
            for waiting in group:
                if not waiting.done.done():
                    waiting.done.set_exception(error)
            return
        _distribute(group, write.result().new)


def _distribute(group: list[_Waiting], new: Sequence[bool]) -> None:
    """Tell each request of a group what became of its reports."""
    start = 0
    for waiting in group:
        count = len(waiting.reports)
        mine = tuple(new[start : start + count])
        start += count
        if not waiting.done.done():
            waiting.done.set_result(Appended(sum(mine), count - sum(mine), mine))
