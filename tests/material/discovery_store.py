"""A store with the reports of a small crowd, whose words nobody listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.protocol import Question, Survey
from deniable.store import Batch, SqliteStore

SURVEY = """name = "n"
owner = "o"
people = 30000
[[questions]]
id = "word"
description = "Which <b>word</b>?"
expires = 2099-01-01
domain = { type = "strings", alphabet = "<>abcdefgh", length = 6 }
mechanism = "prefixes"
parameters = { epsilon = 4.0, cohorts = 4, lengths = [2, 4, 6] }
[[questions]]
id = "dark"
description = "Dark?"
expires = 2099-01-01
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
"""
WORDS = ["abba", "abbaca", "<b>", "head"]


def published(folder: Path) -> Survey:
    (folder / "survey.toml").write_text(SURVEY)
    return read_authored(folder / "survey.toml").require()


def asked(survey: Survey, name: str = "word") -> Question:
    question = survey.question(name)
    assert question is not None
    return question


def filled(folder: Path, people: int = 30_000) -> SqliteStore:
    store, question = SqliteStore(folder / "reports.sqlite3"), asked(published(folder))
    rng = np.random.default_rng(5)
    codes = rng.choice(4, size=people, p=[0.4, 0.3, 0.2, 0.1])
    reports = mechanism_for(question.fields[0].parameters).simulate(codes, rng, WORDS)
    batch = Batch(question.id, 1, question.digest, 20_000)
    store.append_records(batch, reports.tobytes(), question.record_size)
    return store
