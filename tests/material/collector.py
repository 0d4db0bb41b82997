"""A survey, reports on it, and a collector to call without a network."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Self, TypeVar

from starlette.applications import Starlette

from deniable.authoring import resolve
from deniable.collector import Settings, create_app
from deniable.protocol import (
    Boolean,
    Categories,
    Field,
    KRRParameters,
    Question,
    RapporParameters,
    Report,
    Strings,
    Survey,
)
from deniable.protocol.epochs import day_of, epoch_of
from deniable.store import Store

T = TypeVar("T")
TODAY = day_of(date(2026, 3, 15))
EXPIRES = date(2026, 3, 20)
JSON = {"content-type": "application/json", "host": "localhost"}


def question(name: str, *fields: Field, version: int = 1, epoch: int = 1) -> Question:
    return Question(name, version, "?", "team", EXPIRES, epoch, "once", "recorded", tuple(fields))


def colour(name: str = "value") -> Field:
    domain = Categories(("red", "green", "blue"))
    return Field(name, domain, resolve(KRRParameters, {"epsilon": 1.0}, domain, False))


def words(name: str = "value") -> Field:
    wanted = {"k": 12, "h": 2, "m": 4, "f": 0.5, "p": 0.5, "q": 0.75}
    return Field(name, Strings(), resolve(RapporParameters, wanted, Strings(), False))


def yes_no(name: str = "value") -> Field:
    return Field(name, Boolean(), resolve(KRRParameters, {"epsilon": 0.5}, Boolean(), False))


SURVEY = Survey(
    "test",
    "team",
    (
        question("colour", colour()),
        question("colour", colour(), version=2, epoch=7),
        question("words", words()),
        question("pair", words("first"), yes_no("second"), epoch=7),
    ),
)
GOOD = {"colour": b"\x02\0\0\0", "words": b"\x03\0\xff\x0f", "pair": b"\0\0\x01\0\x01\0\0\0"}


def report(number: int = 0, name: str = "colour", of_version: int = 1, **changes: Any) -> Report:
    """Return a good report on a question, today, with some members changed."""
    asked = SURVEY.question(name, of_version)
    assert asked is not None
    members = {
        "question": name,
        "version": of_version,
        "digest": asked.digest,
        "epoch": epoch_of(TODAY, asked.epoch),
        "id": hashlib.sha256(b"%d" % number).digest()[:16],
        "record": GOOD[name],
    }
    return Report(**{**members, **changes})


def body(*reports: Report | object) -> bytes:
    items = [each.as_json() if isinstance(each, Report) else each for each in reports]
    return json.dumps({"reports": items}).encode()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class InProcess:
    """An ASGI application with its lifespan, called directly."""

    def __init__(self, app: Starlette) -> None:
        self.app = app

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        context = self.app.router.lifespan_context(self.app)
        self._runner.run(self._stack.enter_async_context(context))
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.call("GET", path, {"host": "localhost", **(headers or {})})

    def post(self, *parts: bytes, headers: Mapping[str, str] = JSON) -> Answer:
        return self.call("POST", "/v1/reports", headers, parts)

    def call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        parts: Sequence[bytes] = (b"",),
    ) -> Answer:
        return self._runner.run(self.request(method, path, headers, parts))

    def together(self, *bodies: bytes) -> list[Answer]:
        """Post several bodies at the same time."""

        async def all_of_them() -> list[Answer]:
            calls = (self.request("POST", "/v1/reports", JSON, [each]) for each in bodies)
            return await asyncio.gather(*calls)

        return self._runner.run(all_of_them())

    async def request(
        self, method: str, path: str, headers: Mapping[str, str], parts: Sequence[bytes]
    ) -> Answer:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
        }
        left = list(parts)
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            part = left.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(left)}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        names = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
        return Answer(start["status"], names, b"".join(m.get("body", b"") for m in sent[1:]))


def settings(folder: Path, **changes: Any) -> Settings:
    chosen = {"commit_window_ms": 0, **changes}
    return Settings(folder / "data", folder / "survey.json", **chosen)


def collector(folder: Path, store: Store, **changes: Any) -> InProcess:
    """Return a collector whose day stands still."""
    chosen = settings(folder, **changes)
    return InProcess(create_app(chosen, store, SURVEY.published(), today=lambda: TODAY))
