"""Bounds on the head of a request, which the HTTP server itself does not set."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

MAX_HEAD_BYTES = 64 * 2**10
HEAD_SECONDS = 20.0


class LimitedHttp(HttpToolsProtocol):
    """HTTP/1.1 by httptools, with a bound on the size and the slowness of a request's head.

    Guarantees: a connection that has not sent a whole head after some seconds is closed; a head
    that goes on for longer than 64 KiB (up to one read of the socket more) is refused.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._in_head = True
        self._heads = 0
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; give up when the head still has no end and is too long."""
        began_in_head, heads = self._in_head, self._heads
        super().data_received(data)
        same_head = began_in_head and self._in_head and heads == self._heads
        if same_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """Wait for the head of this request."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        self._heads += 1
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next bytes belong to the head of another request."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def _await_head(self) -> None:
        self._stop_waiting()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._head_timer = None
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
