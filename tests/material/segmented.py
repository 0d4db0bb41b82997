"""A survey with segments and levels, and the way from a client to a collector in one process."""

from __future__ import annotations

from pathlib import Path

from deniable.authoring import Authored, read_authored
from deniable.client import Request, Response
from deniable.collector import create_app
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number
from deniable.store import Store
from material.clients import START
from material.collector import InProcess, settings

TODAY = day_number(START)
PEOPLE = 1_000_000
SURVEY = f"""
name = "Segments"
owner = "us"
people = {PEOPLE}

[[segments]]
name = "platform"
values = ["linux", "mac", "windows"]
shares = [0.2, 0.3, 0.4]

[[segments]]
name = "channel"
values = ["beta"]

[[questions]]
id = "dark"
description = "Is the dark mode on?"
expires = 2099-12-31
repeat = "epoch"
segments = ["platform", "channel"]
domain = "boolean"
mechanism = "krr"
parameters = {{ epsilon = 1.0 }}

[[questions]]
id = "colour"
description = "Which colour?"
expires = 2099-12-31
repeat = "epoch"
segments = ["platform"]
domain = {{ type = "categories", values = ["red", "green", "blue"] }}
mechanism = "krr"

[[questions.levels]]
name = "strict"
epsilon = 0.5
share = 0.25

[[questions.levels]]
name = "open"
epsilon = 2.0
share = 0.75

[[questions]]
id = "plain"
description = "Nothing in clear."
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = {{ epsilon = 1.0 }}
"""


def authored(folder: Path, text: str = SURVEY) -> Authored:
    """Return what a survey.toml says."""
    (folder / "survey.toml").write_text(text, encoding="utf-8")
    return read_authored(folder / "survey.toml")


def published(folder: Path, text: str = SURVEY) -> Survey:
    """Return a survey as clients and collectors read it."""
    return Survey.from_published(authored(folder, text).require().published())


def collecting(folder: Path, store: Store, survey: Survey) -> InProcess:
    """Return a collector whose day is that of the clients' clock."""
    return InProcess(create_app(settings(folder), store, survey.published(), today=lambda: TODAY))


class Straight:
    """A transport that calls a collector without a network."""

    def __init__(self, collector: InProcess) -> None:
        self._collector = collector

    def send(self, request: Request) -> Response:
        headers = {"host": "localhost", **request.headers}
        answer = self._collector.call(request.method, request.path, headers, [request.body or b""])
        return Response(answer.status, answer.headers, answer.body)
