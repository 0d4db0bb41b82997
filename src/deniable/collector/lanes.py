"""Waiting lines: requests of one kind, a limited number at once, and nobody waits for ever.

A request that is refused at once is sent again at once. One that waits costs nothing, and slows
its sender down; so the line comes first, and the refusal when patience ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from deniable.collector.problems import unavailable
from deniable.collector.reasons import Reason

PATIENCE_SECONDS = 2.0
"""The longest wait of a request for its turn; then it is asked to come back."""


@dataclass(frozen=True)
class _InLine:
    until: float
    start: Callable[[], object]
    refuse: Callable[[], object]


class Lane:
    """Requests of one kind, first come, first served.

    At most `at_once` are begun and not ended. Where each takes one step of the event loop, that is
    also how many of them stand between any two steps of the rest: a flood of them is as fast as
    it can be when there is nothing else to do, and no obstacle when there is.
    """

    def __init__(self, at_once: int, patience: float = PATIENCE_SECONDS) -> None:
        self._at_once = at_once
        self._patience = patience
        self._running = 0
        self._line: deque[_InLine] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """The number of requests that were begun and have not left."""
        return self._running

    @property
    def waiting(self) -> int:
        """The number of requests that stand in line."""
        return len(self._line)

    def ask(self, start: Callable[[], object], refuse: Callable[[], object]) -> None:
        """Call `start` now or later, or `refuse` when patience ends; each start needs a leave."""
        if self._running < self._at_once and not self._line:
            self._running += 1
            start()
            return
        loop = asyncio.get_running_loop()
        self._line.append(_InLine(loop.time() + self._patience, start, refuse))
        if self._timer is None:
            self._timer = loop.call_later(self._patience, self._lose_patience)

    def leave(self) -> None:
        """Note that a started request has ended."""
        self._running -= 1
        while self._line and self._running < self._at_once:
            self._running += 1
            self._line.popleft().start()

    def _lose_patience(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._line and self._line[0].until <= loop.time():
            self._line.popleft().refuse()
        if self._line:
            self._timer = loop.call_at(self._line[0].until, self._lose_patience)


class Turn:
    """One at a time, first come, first served; whoever waits too long is asked to come back.

    Use it as an asynchronous context.

    Raises:
        Refused: busy, when patience ends.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._lock = asyncio.Lock()
        self._patience = patience

    async def __aenter__(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._lock.acquire()
        except TimeoutError:
            detail = "Nothing was accepted. Send the same batch again later."
            raise unavailable(Reason.BUSY, detail) from None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
