"""Room for large bodies: who may read one into memory, and who must hurry."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from deniable.collector.lanes import PATIENCE_SECONDS
from deniable.collector.problems import unavailable
from deniable.collector.reasons import Reason

SMALL_BODY = 64 * 2**10
"""A body up to this size needs no permission; a client's default batch is smaller."""

LARGE_ROOM = 16 * 2**20
"""The most declared bytes of larger bodies that are read or parsed at once."""

GRACE_SECONDS = 1.0
"""The time that a body may take even if others wait for its room."""
_LOOK_SECONDS = 0.1


class Share:
    """The room of one body."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.begun = asyncio.get_running_loop().time()
        self.deadline: asyncio.Timeout | None = None

    def reading(self, deadline: asyncio.Timeout) -> None:
        """The body is read until then, or sooner if somebody else needs the room."""
        self.deadline = deadline

    def read(self, size: int) -> None:
        """The body is there."""
        self.deadline = None
        self.size = min(self.size, size)


@dataclass(frozen=True)
class _InLine:
    size: int
    turn: asyncio.Future[None]


class Bodies:
    """A bound on the declared bytes of large bodies that are read or parsed at once.

    Small bodies need no room of it. Large ones wait for theirs in line before they are read, so
    that the sender's own machine keeps what does not fit. Where somebody waits, a body that is
    still unfinished after its grace is given up, the oldest first: slow senders cannot keep the
    room.
    """

    def __init__(self, room: int = LARGE_ROOM, patience: float = PATIENCE_SECONDS) -> None:
        self._free = room
        self._patience = patience
        self._line: deque[_InLine] = deque()
        self._shares: dict[Share, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def share(self, size: int) -> AsyncIterator[Share]:
        """Hold room for a body of `size` bytes.

        Raises:
            Refused: busy, if there was none in time.
        """
        if size <= SMALL_BODY:
            yield Share(size)
            return
        await self._room(size)
        share = Share(size)
        self._shares[share] = None
        try:
            yield share
        finally:
            del self._shares[share]
            self._give_back(size)

    async def _room(self, size: int) -> None:
        if not self._line and size <= self._free:
            self._free -= size
            return
        loop = asyncio.get_running_loop()
        mine = _InLine(size, loop.create_future())
        self._line.append(mine)
        if self._timer is None:
            self._look()
        try:
            async with asyncio.timeout(self._patience):
                await mine.turn
        except BaseException as error:
            with suppress(ValueError):
                self._line.remove(mine)
            # The turn may have come at the same moment as the end of patience.
            granted = mine.turn.done() and not mine.turn.cancelled()
            self._give_back(size if granted else 0)
            if isinstance(error, TimeoutError):
                detail = "Nothing was accepted. Send the same batch again later."
                raise unavailable(Reason.BUSY, detail) from None
            raise

    def _give_back(self, size: int) -> None:
        self._free += size
        while self._line and self._line[0].size <= self._free:
            first = self._line.popleft()
            if first.turn.done():
                continue
            self._free -= first.size
            first.turn.set_result(None)

    def _look(self) -> None:
        """While somebody waits, hurry those who are slow."""
        self._timer = None
        if not self._line:
            return
        loop = asyncio.get_running_loop()
        wanted = sum(each.size for each in self._line)
        for share in self._shares:
            if wanted <= 0 or share.begun > loop.time() - GRACE_SECONDS:
                break
            if share.deadline is not None:
                share.deadline.reschedule(loop.time())
                share.deadline = None
                wanted -= share.size
        self._timer = loop.call_later(_LOOK_SECONDS, self._look)
