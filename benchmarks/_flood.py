"""Floods of requests from many connections, and one honest sender beside them.

Everything is asynchronous, in one thread, over raw sockets; nothing obeys Retry-After, so that a
refusal is followed by the next request at once.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field

from _collector_process import batch
from deniable.client.limits import Limits

TIME_LIMIT = Limits().timeout_seconds
"""The seconds that a client waits for an answer."""
_BAD = (
    b'{"reports":[',
    b'{"reports":[{"question":"words"}]}',
    b"[" * 200,
    batch(1).replace(b'"version":1', b'"version":7'),
)


@dataclass
class Tally:
    """The outcome of requests: answers by status, broken connections, accepted reports."""

    statuses: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    accepted: int = 0
    seconds: float = 0.0


@dataclass
class Honest:
    """Observations of one asker: the seconds of each answer, and what was not one."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    unanswered: int = 0
    accepted: int = 0

    def quantile(self, share: float) -> float:
        """Return the seconds that this share of the answers took at most."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass
class Seen:
    """Honest askers beside a flood: a sender of single reports, and two supervisors."""

    sender: Honest = field(default_factory=Honest)
    health: Honest = field(default_factory=Honest)
    readiness: Honest = field(default_factory=Honest)


Flood = Callable[[int, Tally], Awaitable[None]]
"""Floods a port until it is cancelled."""


def request(method: str, path: str, body: bytes = b"", more: str = "") -> bytes:
    """Return a plain request."""
    media = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{media}{more}\r\n".encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bool, bytes]:
    """Read one answer: its status, whether the connection stays, and its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    size = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
    body = await reader.readexactly(size)
    return int(head[9:12]), b"connection: close" not in head, body


async def keep_asking(port: int, tally: Tally, make: Callable[[], bytes]) -> None:
    """Send one request after the other on one connection, and a new one when that breaks."""
    while True:
        writer = None
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
            stays = True
            while stays:
                writer.write(make())
                await writer.drain()
                status, stays, body = await answer(reader)
                tally.statuses[status] += 1
                if status == 200 and body.startswith(b'{"accepted":'):
                    tally.accepted += json.loads(body)["accepted"]
        except (OSError, RuntimeError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            tally.broken += 1
            await asyncio.sleep(0.05)
        finally:
            if writer is not None:
                writer.close()


def senders(connections: int, reports: int, bad: float = 0.0) -> Flood:
    """Return many senders of batches, of whose requests a share is nonsense."""

    async def run(port: int, tally: Tally) -> None:
        sent = 0

        def make() -> bytes:
            nonlocal sent
            sent += 1
            if int(sent * bad) > int((sent - 1) * bad):
                return request("POST", "/v1/reports", _BAD[sent % len(_BAD)])
            return request("POST", "/v1/reports", batch(reports))

        await asyncio.gather(*(keep_asking(port, tally, make) for _ in range(connections)))

    return run


def askers(connections: int, path: str) -> Flood:
    """Return many connections that ask for one path again and again."""

    async def run(port: int, tally: Tally) -> None:
        asked = request("GET", path)
        await asyncio.gather(*(keep_asking(port, tally, lambda: asked) for _ in range(connections)))

    return run


def holders(connections: int, first: bytes, then: bytes = b"", pause: float = 0.5) -> Flood:
    """Return many connections that begin a request, go on slowly, and never end it."""

    async def hold(port: int, tally: Tally) -> None:
        while True:
            writer = None
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(first)
                await writer.drain()
                while not reader.at_eof() and reader.exception() is None:
                    await asyncio.sleep(pause)
                    if then:
                        writer.write(then)
                        await writer.drain()
                tally.broken += 1
            except (OSError, RuntimeError):  # uvloop's word for a transport that is closed
                tally.broken += 1
                await asyncio.sleep(0.05)
            finally:
                if writer is not None:
                    writer.close()

    async def run(port: int, tally: Tally) -> None:
        await asyncio.gather(*(hold(port, tally) for _ in range(connections)))

    return run


async def honest(
    port: int, seconds: float, make: Callable[[], bytes], pause: float = 0.02
) -> Honest:
    """Ask on new connections, one request after the other, with a client's patience."""
    seen = Honest()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        writer = None
        try:
            async with asyncio.timeout(TIME_LIMIT):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(make())
                status, _, _ = await answer(reader)
            seen.seconds.append(time.perf_counter() - began)
            seen.accepted += status == 200
            seen.refused += status != 200
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            seen.unanswered += 1
        finally:
            if writer is not None:
                writer.close()
        await asyncio.sleep(pause)
    return seen


async def honest_askers(port: int, seconds: float) -> Seen:
    """Send single reports, and look after health and readiness, side by side."""
    close = "connection: close\r\n"
    return Seen(
        *await asyncio.gather(
            honest(port, seconds, lambda: request("POST", "/v1/reports", batch(1), close)),
            honest(port, seconds, lambda: request("GET", "/healthz", more=close), 0.1),
            honest(port, seconds, lambda: request("GET", "/readyz", more=close), 0.1),
        )
    )


async def flood_for(
    port: int, seconds: float, floods: list[Flood], warm: float = 0.0
) -> tuple[Tally, Seen]:
    """Run floods with honest askers beside them, count for so long after a warm-up, and end."""
    tallies = [Tally() for _ in floods]
    tasks = [
        asyncio.ensure_future(flood(port, tally))
        for flood, tally in zip(floods, tallies, strict=True)
    ]
    await asyncio.sleep(warm)
    for tally in tallies:
        tally.statuses.clear()
        tally.accepted = tally.broken = 0
    # In a process of its own: its seconds are the collector's, not the generator's.
    command = [sys.executable, __file__, str(port), str(seconds)]
    apart = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    begun = time.perf_counter()
    counting = asyncio.ensure_future(apart.communicate())
    done, _ = await asyncio.wait([*tasks, counting], return_when=asyncio.FIRST_COMPLETED)
    took = time.perf_counter() - begun
    printed, _ = await counting
    seen = Seen(*(Honest(**each) for each in json.loads(printed).values()))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done - {counting}:
        task.result()  # a flood that ended by itself is a mistake of ours
    total = Tally(seconds=took)
    for tally in tallies:
        total.statuses += tally.statuses
        total.accepted += tally.accepted
        total.broken += tally.broken
    return total, seen


if __name__ == "__main__":
    found = asyncio.run(honest_askers(int(sys.argv[1]), float(sys.argv[2])))
    print(json.dumps(asdict(found)))
