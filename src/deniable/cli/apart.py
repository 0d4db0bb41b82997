"""Pages in a process of their own, at the lowest priority: collecting has the processors first.

The process is started by the first page, and asked over a socket that only the two of them have. It
ends with its collector, however that ends: the socket is closed then, which is its signal.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from http import HTTPStatus

import msgspec
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from deniable.errors import StoreError

PAGE_SECONDS = 300.0
"""The longest wait for a page. Then its process is ended, with whatever it does."""
MOST_ASKED = 256 * 2**10
"""The most bytes of a request for a page: the head of an HTTP request is shorter."""
MOST_MADE = 64 * 2**20
"""The most bytes of a page."""
_PASSED_ON = (b"accept", b"accept-encoding")
"""Headers that a page is made by; no other leaves the collector."""
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Start(msgspec.Struct):
    """The subject of the pages: a store by its place, a published survey and its folder.

    `plugins` are the files that register the survey's own mechanisms.
    """

    place: str
    survey: bytes
    folder: str
    trying: bool
    plugins: list[str] = []


class Asked(msgspec.Struct):
    """A request for a page."""

    number: int
    method: str
    path: str
    root_path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]


class Made(msgspec.Struct):
    """An answer to the request of the same number.

    `raised` has the collector answer the error of this status itself; a `problem` is in the place
    of an answer.
    """

    number: int
    status: int = 0
    headers: list[tuple[bytes, bytes]] = []
    body: bytes = b""
    raised: bool = False
    problem: str = ""


def framed(message: msgspec.Struct) -> bytes:
    """Return a message as it travels: its length in four bytes, and its bytes."""
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(4) + data


async def read_frame(reader: asyncio.StreamReader, most: int) -> bytes:
    """Return the next message, still packed.

    Raises:
        ConnectionError: if there is none, or it says that it is too long.
    """
    try:
        length = int.from_bytes(await reader.readexactly(4))
        if length <= most:
            return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        pass
    raise ConnectionError("The other process has ended, or does not speak as agreed.")


class Worker:
    """A process that makes pages, and the requests that wait for it."""

    def __init__(self, process: subprocess.Popen[bytes], link: socket.socket) -> None:
        self.process = process
        self._link = link
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Made]] = {}
        self.problem = ""

    @classmethod
    async def start(cls, start: Start) -> Worker:
        """Start a process, and tell it its subject."""
        worker = await asyncio.to_thread(cls._spawn)
        reader, worker._writer = await asyncio.open_connection(sock=worker._link)
        worker._writer.write(framed(start))
        worker._task = asyncio.create_task(worker._listen(reader), name="deniable-pages")
        return worker

    _writer: asyncio.StreamWriter
    _task: asyncio.Task[None]

    @classmethod
    def _spawn(cls) -> Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "deniable.cli.apart_worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # an interrupt from the keyboard is the collector's
            )
        return cls(process, ours)

    async def ask(self, scope: Scope) -> Made:
        """Return what the process answers to a request.

        Raises:
            StoreError: if the process has ended, or takes too long.
        """
        asked = Asked(
            next(self._numbers),
            scope["method"],
            scope["path"],
            scope.get("root_path", ""),
            scope["query_string"],
            [each for each in scope["headers"] if each[0] in _PASSED_ON],
        )
        answer: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        self._waiting[asked.number] = answer
        try:
            self._writer.write(framed(asked))
            async with asyncio.timeout(PAGE_SECONDS):
                made = await answer
        except TimeoutError:
            self.end(f"A page took longer than {PAGE_SECONDS:g} seconds.")
            raise StoreError(self.problem) from None
        finally:
            self._waiting.pop(asked.number, None)
        if made.problem:
            raise StoreError(made.problem)
        return made

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                data = await read_frame(reader, MOST_MADE)
                made = msgspec.msgpack.decode(data, type=Made)
                if not made.number:
                    self.end(made.problem)
                    return
                answer = self._waiting.get(made.number)
                if answer is not None and not answer.done():
                    answer.set_result(made)
        except (ConnectionError, msgspec.DecodeError):
            self.end("The process that makes pages has ended. Ask again: another one is started.")

    def end(self, problem: str) -> None:
        """End the process, and tell everybody who waits for it why."""
        self.problem = self.problem or problem
        self._writer.close()
        self.stop()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(StoreError(self.problem))

    async def close(self) -> None:
        """End the process, and wait until nothing of it is left."""
        self.end("The collector is being stopped.")
        self._task.cancel()
        with suppress(asyncio.CancelledError, ConnectionError):
            await self._task
        with suppress(ConnectionError):
            await self._writer.wait_closed()
        await asyncio.to_thread(self.process.wait)

    def stop(self) -> None:
        """End the process; it keeps nothing that could be lost."""
        self.process.kill()
        # Its end is the system's to tell, and the event loop has other things to do.
        threading.Thread(target=self.process.wait, daemon=True).start()


class Apart:
    """The pages of one survey as an application, made by a process of their own.

    Guarantees: at most one process, which ends with this object. It sees the address of a page and
    which forms a reader takes, and no other header. Every wait is bounded.

    Args:
        start: the subject of the pages.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._starting = asyncio.Lock()
        self._workers: list[Worker] = []
        weakref.finalize(self, _stop_all, self._workers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a page.

        Raises:
            StoreError: if there is no answer.
            HTTPException: if the pages have no such address or method.
            RuntimeError: if the page has a mistake of ours.
        """
        made = await (await self._worker()).ask(scope)
        if made.raised and made.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise RuntimeError("A page failed in its own process, which has said why.")
        if made.raised:
            raise HTTPException(made.status, headers=_texts(made.headers))
        await send({"type": "http.response.start", "status": made.status, "headers": made.headers})
        await send({"type": "http.response.body", "body": made.body})

    async def close(self) -> None:
        """End the process now, and whatever waits for it."""
        async with self._starting:
            for worker in self._workers:
                await worker.close()

    async def _worker(self) -> Worker:
        async with self._starting:
            if not self._workers or self._workers[0].problem:
                self._workers[:] = [await Worker.start(self._start)]
            return self._workers[0]


def _texts(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _stop_all(workers: list[Worker]) -> None:
    for worker in workers:
        worker.stop()
