"""The process that makes pages for a collector: python -m deniable.cli.apart_worker DESCRIPTOR."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from deniable.cli.apart import MOST_ASKED, MOST_MADE, Asked, Made, Start, framed, read_frame
from deniable.errors import DeniableError

_LOWEST = 19
_log = logging.getLogger("deniable.dashboard")


def pages_of(start: Start) -> ASGIApp:
    """Return the pages of a store and a survey, in this process.

    Raises:
        DeniableError: if the store or the survey cannot be opened.
        ImportError: if something that pages are made with is not installed.
    """
    from starlette.routing import Router

    from deniable.dashboard import dashboard_routes
    from deniable.protocol import Survey, load_plugin
    from deniable.store import open_store

    for file in start.plugins:
        load_plugin(file)
    survey = Survey.from_published(start.survey)
    store = open_store(start.place, create=False)
    routes = dashboard_routes(store, survey, survey_folder=Path(start.folder), trying=start.trying)
    return Router(routes)


async def make(app: ASGIApp, asked: Asked) -> Made:
    """Return the answer of an application to a request."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": asked.method,
        "path": asked.path,
        "raw_path": asked.path.encode("utf-8", "replace"),
        "root_path": asked.root_path,
        "query_string": asked.query,
        "headers": asked.headers,
        "app": app,  # so that a router raises what the collector's own would
    }
    made = Made(asked.number)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            made.status, made.headers = message["status"], list(message["headers"])
        else:
            made.body += message.get("body", b"")

    try:
        await app(scope, receive, send)
    except HTTPException as error:
        told = [(n.lower().encode(), v.encode()) for n, v in (error.headers or {}).items()]
        return Made(asked.number, error.status_code, told, raised=True)
    except Exception as error:
        _log.error("A page failed", exc_info=error)
        return Made(asked.number, 500, raised=True)
    if len(made.body) > MOST_MADE - MOST_ASKED:
        return Made(asked.number, problem="The page is too large to be shown.")
    return made


async def run(link: socket.socket) -> None:
    """Make pages until the collector has ended."""
    reader, writer = await asyncio.open_connection(sock=link)
    tasks: set[asyncio.Task[None]] = set()

    async def answer(app: ASGIApp, asked: Asked) -> None:
        writer.write(framed(await make(app, asked)))
        await writer.drain()

    try:
        start = msgspec.msgpack.decode(await read_frame(reader, MOST_MADE), type=Start)
        try:
            app = pages_of(start)
        except (DeniableError, ImportError) as error:
            writer.write(framed(Made(0, problem=f"Pages cannot be made. {error}")))
            await writer.drain()
            return
        while True:
            data = await read_frame(reader, MOST_ASKED)
            task = asyncio.create_task(answer(app, msgspec.msgpack.decode(data, type=Asked)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    except (ConnectionError, msgspec.DecodeError):
        os._exit(0)  # whatever a thread still computes has no reader


def main() -> None:
    """Take the lowest priority, and serve the collector at the other end of the socket."""
    with suppress(OSError, AttributeError):  # where the system does not let it
        os.nice(_LOWEST)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(run(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
