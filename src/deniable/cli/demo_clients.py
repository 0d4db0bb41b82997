"""The demo's real clients: each has its own directory, secret and upload over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.client import Client, Consent
from deniable.client.consent import invented_people
from deniable.crowd.population import Population
from deniable.errors import DeniableError
from deniable.protocol import Survey

_THREADS = 16
"""Clients at a time: they wait for the disk and the collector more than they compute."""


def run_clients(
    survey: Survey,
    endpoint: str,
    populations: Sequence[Population],
    clients: int,
    advance: Callable[[], None],
) -> None:
    """Let the first `clients` people of the populations answer through real clients.

    Raises:
        DeniableError: if a client could not send all its reports.
    """

    def one(person: int) -> None:
        with TemporaryDirectory(prefix="deniable-client-") as directory:
            _answer(survey, endpoint, Path(directory), _values(populations, person))
        advance()

    with invented_people(), ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(one, range(clients)):
            pass


def _values(populations: Sequence[Population], person: int) -> dict[str, object]:
    """Return a person's answer to each question."""
    return {population.question.id: population.value(person) for population in populations}


def _answer(survey: Survey, endpoint: str, directory: Path, values: Mapping[str, object]) -> None:
    with Client(
        survey, directory, endpoint, consent=Consent.GRANTED, strict=True, ceiling=16.0
    ) as client:
        for question, value in values.items():
            client.record(question, value)
        if not client.flush(timeout=30):
            raise DeniableError("A demo client could not send its reports within 30 seconds.")
