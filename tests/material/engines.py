"""What the tests of the engines have in common: questions, and reports to them in a store."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np

from deniable.authoring import resolve
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Boolean, Categories, Field, Question
from deniable.protocol.krr import KRRParameters
from deniable.protocol.rappor import RapporParameters
from deniable.store import Batch, SqliteStore

EPOCH = 20_000


def question(question_id: str = "two", version: int = 1, epsilon: float = 1.0) -> Question:
    """Return a question with two fields of different mechanisms."""
    colours = Categories(tuple("abcdefghijk"))
    fields = (
        Field("colour", colours, resolve(KRRParameters, {"epsilon": epsilon}, colours, False)),
        Field("on", Boolean(), resolve(RapporParameters, {"epsilon": 1.0}, Boolean(), False)),
    )
    expires = date(2030, 1, 1)
    return Question(question_id, version, "?", "us", expires, 1, "once", "recorded", fields)


def records(asked: Question, people: int, rng: np.random.Generator) -> bytes:
    """Return simulated records of so many people."""
    sizes = (field.domain.size or 1 for field in asked.fields)
    parts = {
        field.name: mechanism_for(field.parameters).simulate(rng.integers(0, size, people), rng)
        for field, size in zip(asked.fields, sizes, strict=True)
    }
    return join_records(asked, parts)


def append(store: SqliteStore, asked: Question, data: bytes, epoch: int = EPOCH) -> None:
    """Append records as one group."""
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    store.append_records(batch, data, asked.record_size)


def new_store(folder: Path, name: str = "store") -> SqliteStore:
    return SqliteStore(folder / f"{name}.sqlite3")
