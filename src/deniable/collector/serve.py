"""Running a collector: one process, one socket, and a log without senders."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from deniable.collector.descriptors import allow_descriptors
from deniable.collector.hangup import follow_hangup, ignore_hangup
from deniable.collector.http_plain import PlainHttp
from deniable.collector.load import Load
from deniable.collector.log_lines import bound_log
from deniable.collector.metrics_port import listen_for_metrics, serve_metrics
from deniable.collector.settings import Settings
from deniable.errors import InvalidParameter

_log = logging.getLogger("deniable.collector")
SWITCH_SECONDS = 0.0002
"""The thread that writes gives the interpreter away at every statement, and gets it back only after
this time while the event loop is busy. With Python's own 5 milliseconds, a flood of cheap requests
made a group of 16 reports take a tenth of a second."""
BACKLOG = 1_000
ACCEPT_AT_ONCE = 16
"""New connections in a step of the event loop. libuv accepts one per step and listening descriptor
(its pull request 3696). With a single one, a new sender waited for as many steps as others
connected again and again: for seconds, where each step parses a part of a batch."""
RECEIVE_BYTES = 32 * 2**10
"""Unread bytes of a connection in the system's memory, roughly, and so in one read. The rest of a
body that waits for its turn stays with its sender."""
KEEP_ALIVE_SECONDS = 30
STOPPING_SECONDS = 1.5
"""After SIGTERM, the time in which everything is answered, and readiness with no. It is left out
where no supervisor asks."""
SHUTDOWN_SECONDS = 2
"""At the end, the time to answer requests that are whole. Unfinished ones are let go before."""
END_SECONDS = 4.8
"""The time from a signal to the end, whatever happens. A write that hangs longer is of reports that
nobody was told are kept; they are sent again."""


def serve(
    settings: Settings,
    app: Starlette,
    on_listening: Callable[[str], object] | None = None,
    on_hangup: Callable[[], object] | None = None,
) -> None:
    """Serve until interrupted or terminated; then finish what was begun, and write what waits.

    Args:
        settings: the address, and everything else the operator chose.
        app: of `create_app`.
        on_listening: called once with the address, such as http://127.0.0.1:8000, when requests
            are answered. With port 0 this is how to learn the port.
        on_hangup: called on the event loop whenever the process gets SIGHUP while requests are
            answered; if that means that its terminal was closed, it ends.

    Guarantees: logs warnings and errors of the server only, each at most once a minute; none of
    them says who sent what.
    Headers that name a sender (X-Forwarded-For and the like) are not looked at.

    Raises:
        InvalidParameter: if the address cannot be listened on.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    allow_descriptors()
    if on_hangup is not None:
        ignore_hangup()
    with ExitStack() as open_sockets:
        listener = open_sockets.enter_context(listen(settings))
        second = None
        if settings.metrics_port is not None:
            second = open_sockets.enter_context(listen_for_metrics(settings.metrics_port))

        def started() -> None:
            if second is not None:
                serving.append(asyncio.create_task(serve_metrics(second, app.state.metrics)))
            if on_hangup is not None:
                follow_hangup(on_hangup, lambda: setattr(server, "should_exit", True))
            if on_listening is not None:
                on_listening(address_of(listener))

        serving: list[asyncio.Task[None]] = []  # held, or nothing would keep the task alive
        server = server_for(app, started)
        server.run([listener, *(listener.dup() for _ in range(ACCEPT_AT_ONCE - 1))])


def server_for(app: ASGIApp, on_started: Callable[[], object]) -> uvicorn.Server:
    """Return the server as collectors run it; `on_started` is called once it answers requests.

    Whoever runs it in a thread of its own ends it with `should_exit`.
    """
    config = uvicorn.Config(
        app,
        http=PlainHttp,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    bound_log()
    return _Server(config, on_started)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the address of the settings."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        listener = socket.create_server(
            (str(address[0]), int(address[1])), family=family, backlog=BACKLOG
        )
        # Connections inherit it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        return listener
    except OSError as error:
        raise InvalidParameter(
            f"The collector cannot listen on {settings.host}:{settings.port}: {error.strerror}.",
            "Choose another address or port.",
        ) from error


def address_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """A server that says when it answers, and that it will not for long."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._stopping_until: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as ever, then tell."""
        await super().startup(sockets)
        if self.started:
            # What is there now stays; looking for garbage in it would stop everybody for a while.
            gc.collect()
            gc.freeze()
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; after SIGTERM, let supervisors see first that somebody else must be asked."""
        load = self.lifespan.state.get("load") if self.started else None
        health = load.health if isinstance(load, Load) else None
        asked_first = self._stopping_until is None and not self.should_exit
        if asked_first:
            threading.Thread(target=_end_in_time, daemon=True).start()
        if asked_first and sig == signal.SIGTERM and health is not None and health.watched:
            self._captured_signals.append(sig)
            health.stopping = True
            self._stopping_until = time.monotonic() + STOPPING_SECONDS
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """End when supervisors have had their time."""
        if self._stopping_until is not None and time.monotonic() >= self._stopping_until:
            self.should_exit = True
        return await super().on_tick(counter)


def _end_in_time() -> None:
    time.sleep(END_SECONDS)
    _log.warning("The end did not come in time. What was acknowledged is kept.")
    os._exit(0)
