"""What the tests of the dashboard have in common: a filled store, and a reader of pages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from starlette.applications import Starlette
from starlette.types import Message, Scope

from deniable.authoring import read_authored
from deniable.dashboard import dashboard_routes
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question, Survey
from deniable.store import Batch, Chunk, SqliteStore

EPOCH = 20_000
HOSTILE = '<script>alert("x")</script>'
CANDIDATES = ("common", HOSTILE, '"><img src=x onerror=alert(1)>', "bell \x07 \u202e", "never")

SURVEY = r"""
name = "Test & <b>survey</b>"
owner = "us <i>"
[[questions]]
id = "site"
description = "Hostile <script>alert('d')</script> \u0007 description"
expires = 2030-12-31
domain = { type = "strings", candidates = "list.txt" }
mechanism = "rappor"
parameters = { epsilon = 3.0, epsilon_forever = 6.0, m = 8, k = 64 }
[[questions]]
id = "dark"
description = "Dark mode?"
expires = 2030-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions]]
id = "dark"
version = 2
description = "Dark mode, asked anew?"
expires = 2030-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions]]
id = "pair"
description = "Two things?"
expires = 2030-12-31
[[questions.fields]]
name = "colour"
domain = { type = "categories", values = ["red", "green", "blue"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions.fields]]
name = "word"
domain = "strings"
mechanism = "rappor"
parameters = { epsilon = 1.0, m = 8, k = 64 }
[[questions]]
id = "nobody"
description = "Did nobody answer?"
expires = 2030-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions]]
id = "over"
description = "Is it over?"
expires = 2020-01-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
"""


class WatchedStore(SqliteStore):
    """A real store that counts how often reports are read."""

    reads = 0

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        self.reads += 1
        return super().read(question, version, first_epoch, last_epoch)


def publish(folder: Path) -> Survey:
    """Publish the survey, with its candidate file beside it."""
    (folder / "list.txt").write_text("\n".join(CANDIDATES) + "\n", encoding="utf-8")
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    return Survey.from_published(read_authored(folder / "survey.toml").require().published())


def add(store: SqliteStore, asked: Question, people: int, epoch: int = EPOCH) -> None:
    """Add simulated reports, most of them of the first answer."""
    rng = np.random.default_rng(people)
    reports = {}
    for field in asked.fields:
        strings = list(CANDIDATES) if field.domain.size is None else None
        size = field.domain.size or len(CANDIDATES)
        codes = np.where(rng.random(people) < 0.6, 0, rng.integers(0, size, people))
        reports[field.name] = mechanism_for(field.parameters).simulate(codes, rng, strings)
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    store.append_records(batch, join_records(asked, reports), asked.record_size)


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True)
class Site:
    """A dashboard over a folder, without a network."""

    folder: Path
    survey: Survey
    store: WatchedStore
    app: Starlette

    @classmethod
    def empty(cls, folder: Path) -> Site:
        survey, store = publish(folder), WatchedStore(folder / "reports.sqlite3")
        app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
        return cls(folder, survey, store, app)

    @classmethod
    def filled(cls, folder: Path) -> Site:
        site = cls.empty(folder)
        for question_id, people in (("site", 4_000), ("pair", 500), ("dark", 300)):
            asked = site.survey.question(question_id)
            assert asked is not None
            add(site.store, asked, people)
        asked = site.survey.question("site")
        assert asked is not None
        add(site.store, asked, 1_000, EPOCH + 1)
        site.store.count({("site", "duplicate"): 3, ("site", "too_late"): 2, ("", "schema"): 4})
        return site

    def get(
        self, path: str, accept: str = "text/html", root_path: str = "", encoding: str = ""
    ) -> Answer:
        return asyncio.run(get(self.app, path, accept, root_path, encoding))

    def page(self, path: str) -> Page:
        answer = self.get(path)
        assert answer.status == 200, answer.text
        return Page(answer.text)


def settled(site: Site) -> None:
    """Wait until every answer of the list was computed."""
    for _ in range(600):
        told = json.loads(site.get("/", accept="application/json").body)
        if not told["pending"]:
            return
        time.sleep(0.1)
    raise AssertionError("Answers were not computed within a minute.")


async def get(
    app: Starlette,
    path: str,
    accept: str = "text/html",
    root_path: str = "",
    encoding: str = "",
    token: str = "",
) -> Answer:
    """Ask an application for an address, as a server would."""
    parts = urlsplit(path)
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": root_path + parts.path,
        "raw_path": (root_path + parts.path).encode(),
        "root_path": root_path,
        "query_string": parts.query.encode(),
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"accept", accept.encode()),
            (b"accept-encoding", encoding.encode()),
            *([(b"authorization", f"Bearer {token}".encode())] if token else []),
        ],
        "client": None,
        "server": ("127.0.0.1", 80),
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start = messages[0]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(m.get("body", b"") for m in messages[1:]))


class Page(HTMLParser):
    """A page as a reader sees it: its elements, its addresses, its text, its tables."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values))
        self.addresses += [
            value for name, value in values.items() if name in ("href", "src", "srcset", "action")
        ]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._cell:
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}
