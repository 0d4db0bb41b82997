"""A client for the tests of an app: it raises where the app is wrong, and shows what would leave.

In a conftest.py: pytest_plugins = ["deniable.testing.app_client"]. Then

    def test_the_switch_is_reported(strict_client):
        client = strict_client("survey.json")
        my_app.start(client)
        assert client.would_send() == ["dark-mode: 4 bytes, epsilon 1"]

Only this module of the package needs pytest, and it needs nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, overload

import pytest

from deniable._validate import nearest
from deniable.client import Client
from deniable.client.consent import DO_NOT_TRACK, VARIABLE
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol.epsilon import as_float

MakeClient = Callable[..., "StrictClient"]
"""Makes a strict client of a survey's file; takes what `Client` takes beside."""


class StrictClient(Client):
    """A client with consent and without a collector, which raises at an app's mistakes.

    It differs from `Client(strict=True)` in what is a mistake: an unknown question or a value
    outside of the domain is one, and the message says what is allowed. A second value in one epoch,
    a full ceiling or an expired question is not the app's, and is counted as on a device.

    Guarantees: nothing leaves the process; no message and no repr has the value.
    """

    def __init__(self, survey: str | Path, directory: str | Path, **options: Any) -> None:
        super().__init__(survey, directory, **options)
        self.opt_in()

    @overload
    def record(self, question: str, value: object, *, wait: Literal[False] = ...) -> None: ...

    @overload
    def record(self, question: str, value: object, *, wait: bool) -> bool | None: ...

    def record(self, question: str, value: object, *, wait: bool = False) -> bool | None:
        """Check a record as an app makes it, then record it.

        Raises:
            InvalidParameter: if the survey does not ask such a question.
            InvalidAnswer: if the value is outside of its domain; without the value.
        """
        asked = self.survey.question(question)
        if asked is None:
            names = sorted({one.id for one in self.survey.questions})
            raise InvalidParameter(
                f"The survey does not ask {question!r:.80}.{nearest(question, names)} It asks: "
                f"{', '.join(names)}."
            )
        problem = ""
        try:
            asked.answers(value)
        except InvalidAnswer as error:
            reason, problem = error.reason, str(error)
        # Raised outside of the handler: as its context the first error would travel along.
        if problem:
            domains = "; ".join(
                f"{one.name}: {', '.join(one.domain.labels) or one.domain.kind}"
                for one in asked.fields
            )
            raise InvalidAnswer(reason, f"{question}: {problem} Allowed: {domains:.300}.")
        committed = super().record(question, value, wait=True)
        return committed if wait else None

    def would_send(self) -> list[str]:
        """Return a line for each report that waits, sorted: question, size and epsilon."""
        lines = []
        for report in self.pending():
            asked = self.survey.question(report.question, report.version)
            epsilon = 0 if asked is None else asked.epsilon_once
            size = len(report.record)
            unit = "byte" if size == 1 else "bytes"
            lines.append(f"{report.question}: {size} {unit}, epsilon {as_float(epsilon):g}")
        return sorted(lines)  # they leave in no order


@pytest.fixture
def strict_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeClient]:
    """A function that makes a strict client of a survey's file, closed when the test ends."""
    for name in (DO_NOT_TRACK, VARIABLE, "DENIABLE_DEBUG"):  # the test speaks for the person
        monkeypatch.delenv(name, raising=False)
    made: list[StrictClient] = []

    def make(survey: str | Path, **options: Any) -> StrictClient:
        folder = tmp_path / f"deniable-{len(made)}"
        made.append(StrictClient(os.fspath(survey), folder, **options))
        return made[-1]

    yield make
    for client in made:
        client.close()
