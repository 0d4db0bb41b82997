"""Answers about health, which the HTTP server writes itself: nobody who asks is sent away.

A supervisor that gets no answer restarts a process that only has much to do. So a question about
health asks for nobody's turn: its answer is one write, without the application. Such answers have
a pace of their own, so that a flood of questions costs a bounded part of the time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from deniable.collector.auth import is_local
from deniable.collector.own_answers import HEALTHY, READY, STOPPING, OwnAnswer, of_problem
from deniable.collector.problems import Problem
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.errors import StoreError

HEALTH, READINESS = "/healthz", "/readyz"
PER_SECOND = 1_600
"""Answers per second. Each takes some 50 microseconds, reading the question included; and as many
connections as there is room for have their answers within two seconds."""
AT_ONCE = 160
"""Answers without delay, after a time in which few asked."""
_STEP_SECONDS = 0.02
WATCHED_SECONDS = 60.0
"""The time after which a supervisor that has not asked for readiness again is none."""


class Asker(Protocol):
    """A connection whose current request asks about health."""

    def tell(self, answer: OwnAnswer) -> None:
        """Write the answer, unless the connection is gone."""


class Stores(Protocol):
    """The state of writing: of one store, or of several together."""

    @property
    def known(self) -> bool:
        """True if the outcome of a write is fresh."""

    @property
    def failure(self) -> StoreError | None:
        """Why the last write failed; None if it succeeded."""

    async def outcome(self) -> None:
        """Wait until the outcome of a write is known."""

    async def probe(self) -> None:
        """Raise Refused if the last write failed."""


class Health:
    """All who ask about health now, first come, first served.

    Guarantees: nobody is refused. `/healthz` is answered in the order of asking, `PER_SECOND`
    times a second. So is `/readyz` where the outcome of a write is known; otherwise one write
    decides for everybody who has asked meanwhile.

    Attributes:
        stopping: whether the collector is about to end, and so is not ready.

    Args:
        commits: tells whether the store can be written.
        refusals: where refusals are counted.
        local_only: whether requests that do not name this machine are refused. They, and other
            methods, are left to the application.
    """

    def __init__(self, commits: Stores, refusals: Refusals, *, local_only: bool) -> None:
        self._commits = commits
        self._refusals = refusals
        self._local_only = local_only
        self._line: deque[tuple[Asker, Callable[[], OwnAnswer]]] = deque()
        self._for_store: list[Asker] = []
        self._store_asked: asyncio.Task[None] | None = None
        self._planned = False
        self._allowed = float(AT_ONCE)
        self._counted_at = 0.0
        self._asked_at = float("-inf")
        self.stopping = False

    @property
    def watched(self) -> bool:
        """True if somebody has asked for readiness lately, and so will again."""
        return asyncio.get_running_loop().time() < self._asked_at + WATCHED_SECONDS

    def takes(self, scope: Mapping[str, Any]) -> bool:
        """Tell whether a request is answered here."""
        return (
            scope["path"] in (HEALTH, READINESS)
            and scope["method"] in ("GET", "HEAD")
            and (not self._local_only or is_local(scope))
        )

    def ask(self, asker: Asker, path: str) -> None:
        """Tell the asker soon, but not before this step of the event loop has ended."""
        if path == HEALTH:
            self._put(asker, lambda: HEALTHY)
            return
        self._asked_at = asyncio.get_running_loop().time()
        if self.stopping or self._commits.known:
            self._put(asker, self._readiness)
        else:
            self._for_store.append(asker)
            if self._store_asked is None:
                self._store_asked = asyncio.create_task(self._ask_store(), name="deniable-ready")

    def _put(self, asker: Asker, answer: Callable[[], OwnAnswer]) -> None:
        self._line.append((asker, answer))
        if not self._planned:
            self._planned = True
            asyncio.get_running_loop().call_soon(self._answer_some)

    def _answer_some(self) -> None:
        """Answer as many as the time since the last answers allows."""
        loop = asyncio.get_running_loop()
        self._allowed += PER_SECOND * (loop.time() - self._counted_at)
        self._allowed = min(self._allowed, AT_ONCE)
        self._counted_at = loop.time()
        for _ in range(min(len(self._line), int(self._allowed))):
            asker, answer = self._line.popleft()
            self._allowed -= 1
            asker.tell(answer())
        self._planned = bool(self._line)
        if self._planned:
            loop.call_later(_STEP_SECONDS, self._answer_some)

    async def _ask_store(self) -> None:
        try:
            await self._commits.outcome()
        finally:
            self._store_asked = None
            asked, self._for_store = self._for_store, []
            for asker in asked:
                self._put(asker, self._readiness)

    def _readiness(self) -> OwnAnswer:
        if self.stopping:
            return of_problem(STOPPING)
        failure = self._commits.failure
        if failure is None:
            return READY
        self._refusals.add("", Reason.STORE)
        return of_problem(Problem.of(Reason.STORE, str(failure)))
