"""The HTTP server's own part in plain requests: it reads them whole, and writes their answers."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from deniable.collector.http_limits import LimitedHttp
from deniable.collector.plain import Plain, PlainAnswer, PlainReports

PATIENCE_SECONDS = 0.5
"""The time for which a plain request may be unfinished; then the application waits for it."""
_CLOSE = b"connection: close\r\n"


class _Nobody:
    """The event that an application would wait for."""

    def set(self) -> None:
        """Do nothing: there is no application."""


_NOBODY: Any = _Nobody()


class _PlainCycle(RequestResponseCycle):
    """A plain request and its answer; what the server asks of a cycle, and no more."""

    def __init__(self, reports: PlainReports, plain: Plain, scope: Any, keep_alive: bool) -> None:
        self.reports = reports
        self.plain = plain
        self.scope = scope
        self.keep_alive = keep_alive
        self.arrived = b""
        self.message_event = _NOBODY
        self.disconnected = self.response_started = self.response_complete = False


class PlainHttp(LimitedHttp):
    """HTTP/1.1 with bounds, where plain requests with reports are answered without a task.

    Guarantees: whatever is not plain goes to the application unchanged, and so does a plain
    request whose body does not arrive at once.
    """

    _unfinished: _PlainCycle | None = None
    _asked_plainly: _PlainCycle

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; a plain request that is not whole must be so soon."""
        before = self._unfinished
        super().data_received(data)
        if self._unfinished is not None and self._unfinished is not before:
            self._wait(PATIENCE_SECONDS)

    def on_message_begin(self) -> None:
        """Wait for the head of this request; what applications are told is not written yet."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self.scope = {}  # type: ignore[typeddict-item]
        self._wait_for_head()

    def on_headers_complete(self) -> None:
        """Begin a plain request, or have the application begin another one."""
        reports = self._load.plain.get(self.url)
        plain = None
        if reports is not None and self._may_be_plain():
            plain = reports.opens(self.headers)
        if reports is None or plain is None:
            self._begin_for_application()
            return
        self._expect_body()
        # What refusals ask; applications would be told more.
        self.scope = {"path": self.url.decode("ascii"), "method": "POST"}  # type: ignore[typeddict-item]
        keep_alive = self.parser.should_keep_alive() and not self._load.stopping
        self.cycle = self._unfinished = _PlainCycle(reports, plain, self.scope, keep_alive)

    def _begin_for_application(self) -> None:
        """Begin the request whose head is there as the server would have, from its first byte."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        HttpToolsProtocol.on_message_begin(self)
        self.url, self.expect_100_continue = url, expects
        self.headers += headers  # the list that is in the scope
        super().on_headers_complete()

    def _may_be_plain(self) -> bool:
        return (
            (self.cycle is None or self.cycle.response_complete)
            and not self.pipeline
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and not self._load.connections.crowded
            and not self.flow.write_paused  # the application waits until answers are taken
            and not self.transport.is_closing()
        )

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; the head has said that all of it is short."""
        if self._unfinished is None:
            super().on_body(body)
        else:
            cycle = self._unfinished
            cycle.arrived = cycle.arrived + body if cycle.arrived else body

    def on_message_complete(self) -> None:
        """Take the batch of a plain request."""
        cycle = self._unfinished
        if cycle is None:
            super().on_message_complete()
            return
        self._unfinished = None
        self._expect_head()
        if cycle.disconnected:  # it was refused meanwhile
            return
        self._load.connections.busy(self)
        self._asked_plainly = cycle
        cycle.reports.take(cycle.plain, cycle.arrived, self)

    def tell_plain(self, answer: PlainAnswer) -> None:
        """Answer the plain request that waits here."""
        cycle = self._asked_plainly
        if self.transport.is_closing() or cycle.response_started:
            return
        date = self._load.lines(self.server_state.default_headers)
        close = b"" if cycle.keep_alive else _CLOSE
        self.transport.write(
            b"".join((answer.start, date, answer.headers, close, b"\r\n", answer.body))
        )
        cycle.response_started = cycle.response_complete = True
        if answer.last or not cycle.keep_alive:
            self._end()
        self.on_response_complete()

    def _give_up(self) -> None:
        """Let the application wait for the rest of a plain request, or give up."""
        cycle, self._unfinished = self._unfinished, None
        if cycle is None or cycle.disconnected:
            super()._give_up()
            return
        self.cycle = None  # type: ignore[assignment]
        self._begin_for_application()
        self.cycle.keep_alive &= cycle.keep_alive
        super().on_body(cycle.arrived)
