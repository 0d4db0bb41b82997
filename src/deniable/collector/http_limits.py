"""Bounds on requests and connections, which the HTTP server itself does not set."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from deniable.collector import own_answers
from deniable.collector.bodies import GRACE_SECONDS, SMALL_BODY
from deniable.collector.lanes import PATIENCE_SECONDS, Lane
from deniable.collector.load import Load
from deniable.collector.own_answers import OwnAnswer
from deniable.collector.problems import Problem

_MAX_HEAD_BYTES = 64 * 2**10
HEAD_SECONDS = 20.0
_MAX_MESSAGE_BYTES = 16 * 2**20
"""Body, framing and all: chunks of one byte take six."""
_MAX_PIPELINED = 16
_WRITE_SECONDS = 20.0
"""The time after which an answer that its sender does not take is given up."""
_STOP_SECONDS = 1.0
"""At shutdown, the further time for a body that has not arrived yet."""
_LAST_LINE_END = 2
"""Bytes that may follow the last chunk: the line end that closes the message."""


class Unwelcome(Exception):
    """A part of a request that is refused; ends the parsing of it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class LimitedHttp(HttpToolsProtocol):
    """HTTP/1.1 by httptools, with bounds on size, slowness and number.

    Guarantees: a connection that has not sent a whole head after some seconds is closed, and so is
    one whose body goes on; a head that goes on for longer than 64 KiB (up to one read of the
    socket more) is refused. So is everything after the last chunk of a body but its end: trailers
    would be headers that no proxy has seen. When there are too many connections, the one that has
    waited longest for its sender goes. What is refused here is a problem with the protective
    headers, and is counted.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        load = app_state.get("load")
        self._load = load if isinstance(load, Load) else Load()
        self._in_head = True
        self._heads = 0
        self._head_bytes = 0
        self._message_bytes = 0
        self._body_bytes = 0
        self._held = 0
        self._chunks = 0
        self._after_chunk_line = False
        self._after_bytes = 0
        self._problem: Problem | None = None
        self._asked: RequestResponseCycle
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Find room for the connection, and wait for the head of its first request."""
        super().connection_made(transport)
        if not self._load.connections.arrive(self):
            self._say(own_answers.BUSY)
            return
        self._wait(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and give everything back."""
        self._stop_waiting()
        self._stop_timer()
        self.resume_writing()
        self._release()
        self._load.connections.leave(self)
        super().connection_lost(exc)

    def give_way(self) -> None:
        """Make room for another connection."""
        if self._in_head and not self._head_bytes:
            self._end()
        else:
            self._say(own_answers.BUSY)

    def shutdown(self) -> None:
        """Finish requests that have arrived; a body on its way gets `STOP_SECONDS` more."""
        super().shutdown()
        if not self._in_head and not self.transport.is_closing():
            self._stop_waiting()
            self.loop.call_later(_STOP_SECONDS, self._stop_body)

    def pause_writing(self) -> None:
        """Wait, but not for ever: the sender does not take the answer."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(_WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the sender takes the answer again."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    # Reading a request

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; give up on what is too long."""
        if self.transport.is_closing():
            return
        began_in_head, heads, chunks = self._in_head, self._heads, self._chunks
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_head:
            # Line ends before a request begin no message; they must not stop the clock either.
            if self._deadline is None and self._answered:
                self._wait(HEAD_SECONDS)
            if began_in_head and heads == self._heads:
                self._head_bytes += len(data)
                if self._head_bytes > _MAX_HEAD_BYTES:
                    self._say(own_answers.LONG_HEAD)
            return
        self._message_bytes += len(data)
        if self._message_bytes > _MAX_MESSAGE_BYTES:
            self._say(own_answers.TOO_LONG)
        elif self._after_chunk_line and (heads, chunks) == (self._heads, self._chunks):
            self._after_bytes += len(data)
            if self._after_bytes > _LAST_LINE_END:
                self._say(own_answers.TRAILERS)

    def send_400_response(self, msg: str) -> None:
        """Refuse what could not be parsed, as a problem."""
        self._say(self._problem or own_answers.NOT_HTTP)

    def _unsupported_upgrade_warning(self) -> None:
        """A request to upgrade is answered as if it had not asked; that is no news."""

    def on_message_begin(self) -> None:
        """Wait for the head of this request."""
        super().on_message_begin()
        self._wait_for_head()

    def _wait_for_head(self) -> None:
        self._wait(HEAD_SECONDS)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, but not behind the body."""
        if not self._in_head:
            self._refuse_parsing(own_answers.TRAILERS)
        name = name.lower()
        if name == b"expect":
            super().on_header(name, value)
        else:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is there; its body must follow in time."""
        if len(self.pipeline) >= _MAX_PIPELINED:
            self._refuse_parsing(own_answers.PIPELINED)
        self._expect_body()
        # Longer than what the application waits by itself, so that it can say so first.
        self._wait(self._load.body_seconds + 2 * PATIENCE_SECONDS + _STOP_SECONDS)
        super().on_headers_complete()
        if self._load.stopping:
            self.cycle.keep_alive = False

    def _expect_body(self) -> None:
        self._in_head = False
        self._heads += 1
        self._message_bytes = self._body_bytes = 0
        self._after_chunk_line = False

    def on_chunk_header(self) -> None:
        """A chunk begins; the last one has no bytes."""
        self._chunks += 1
        self._after_chunk_line, self._after_bytes = True, 0

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, if there is room for it."""
        self._after_chunk_line = False
        if not self.cycle.response_complete:
            self._body_bytes += len(body)
            if self._body_bytes > SMALL_BODY and not self._hold(self._body_bytes - self._held):
                self._refuse_parsing(own_answers.BUSY)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there; the next bytes belong to the head of another one."""
        super().on_message_complete()
        self._expect_head()
        if self.cycle.response_complete:
            self._load.connections.idle(self)
        else:
            self._load.connections.busy(self)

    def _expect_head(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self._stop_waiting()

    # Answering it

    def on_response_complete(self) -> None:
        """The answer is written; begin the next request, or wait for the sender."""
        self._release()
        self.server_state.total_requests += 1
        if self._in_head and not self.pipeline:
            self._load.connections.idle(self)
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._in_head:
            self._wait(self.timeout_keep_alive)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin a request now, or when its turn comes."""
        health = self._load.health
        if health is not None and health.takes(cycle.scope):
            self._asked = cycle
            self._load.connections.asking(self)
            health.ask(self, cycle.scope["path"])
            return
        lane = self._load.lane(cycle.scope["path"], cycle.scope["headers"])
        if self._load.connections.crowded:
            self._refuse(cycle)
        elif lane is None:
            super()._start_asgi_task(cycle, app)
        else:
            lane.ask(partial(self._begin, lane, cycle, app), partial(self._refuse, cycle))
            if lane is self._load.large and lane.waiting:
                # The sender keeps the rest of the body; beginning reads on.
                self.flow.pause_reading()

    def _begin(self, lane: Lane, cycle: RequestResponseCycle, app: Any) -> None:
        if self.transport.is_closing():
            self.loop.call_soon(lane.leave)
            return
        if lane is self._load.large and not self._in_head:
            # Whoever still stands in line yields before a body that is on its way.
            self._load.connections.busy(self)
            self.loop.call_later(GRACE_SECONDS, self._be_slow, cycle)
        task = self.loop.create_task(cycle.run_asgi(app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        task.add_done_callback(lambda _: lane.leave())

    def _be_slow(self, cycle: RequestResponseCycle) -> None:
        """A body has had its grace: if it is not there, the connection may have to go."""
        if self.cycle is cycle and not self._in_head:
            self._load.connections.idle(self)

    def _refuse(self, cycle: RequestResponseCycle) -> None:
        """Ask the sender of one request to come back; its connection may stay."""
        if not self.transport.is_closing():
            self._load.refusals.add("", own_answers.BUSY.reason)
            cycle.keep_alive = cycle.keep_alive and not self._load.connections.crowded
            self._answer(cycle, own_answers.of_problem(own_answers.BUSY))

    def tell(self, answer: OwnAnswer) -> None:
        """Answer the question about health that was asked here."""
        self._load.connections.told(self)
        if not (self.transport.is_closing() or self._asked.response_started):
            self._answer(self._asked, answer)

    def _answer(self, cycle: RequestResponseCycle, answer: OwnAnswer) -> None:
        """Answer one request without the application."""
        self.transport.write(
            answer.written(
                self.server_state.default_headers,
                close=not cycle.keep_alive,
                with_body=cycle.scope["method"] != "HEAD",
                for_pages=self._load.open_to_pages(cycle.scope["path"]),
            )
        )
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            self._end()
        self.on_response_complete()

    # Giving up

    @property
    def _answered(self) -> bool:
        """True if no request whose head has arrived waits for its answer."""
        return self.cycle is None or self.cycle.response_complete

    def _say(self, problem: Problem) -> None:
        """Write a problem in place of the answer, unless that has begun; and close."""
        self._load.refusals.add("", problem.reason)
        if self._in_head or self.pipeline:
            free = self._answered and not self.pipeline
        else:
            free = not self.cycle.response_started
            # Whatever the application still says has no reader.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if free and not self.transport.is_closing():
            path = self.scope.get("path", "") if self.scope else ""
            self.transport.write(
                own_answers.of_problem(problem).written(
                    self.server_state.default_headers, for_pages=self._load.open_to_pages(path)
                )
            )
        self._end()

    def _end(self) -> None:
        """Close; a sender that does not read what was written is not waited for."""
        if self.transport.is_closing():
            return
        if self.flow.write_paused:
            self.transport.abort()
            return
        self.transport.close()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(_STOP_SECONDS, self.transport.abort)

    def _refuse_parsing(self, problem: Problem) -> None:
        self._problem = problem
        raise Unwelcome(problem)

    def _hold(self, size: int) -> bool:
        self._held += size
        return self._load.hold(size)

    def _release(self) -> None:
        if self._held:
            self._load.hold(-self._held)
            self._held = 0

    def _wait(self, seconds: float) -> None:
        """Give up after some seconds, unless there is news.

        News comes with every request; so the timer is left as it is, and looks at the deadline.
        """
        self._deadline = deadline = self.loop.time() + seconds
        if self._timer is None or self._timer.when() > deadline:
            self._stop_timer()
            self._timer = self.loop.call_at(deadline, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self.loop.time() >= self._deadline:
            self._deadline = None
            self._give_up()
        else:
            self._timer = self.loop.call_at(self._deadline, self._look_at_deadline)

    def _give_up(self) -> None:
        if self._in_head or self.cycle.response_complete:
            self._end()
        else:
            self._say(own_answers.SLOW)

    def _stop_body(self) -> None:
        if not self._in_head and not self.transport.is_closing():
            self._say(own_answers.BUSY)

    def _stop_waiting(self) -> None:
        self._deadline = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
