"""An archive with reports to every mechanism, in three epochs and several segments."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question, Survey
from deniable.store import Batch, open_store
from deniable.store.archive import write_archive, writing
from material.js_reports import QUESTIONS, law_of

EPOCHS = (20_000, 20_001, 20_004)
PLATFORMS = {"linux": 70, "mac": 45, "windows": 3}
"""Reports of each epoch by platform: the last are fewer than the floor."""
_HEAD = """name = "t"
owner = "t"
people = 10000000
floor = 20
[[segments]]
name = "platform"
values = ["linux", "mac", "windows"]
shares = [0.4, 0.3, 0.2]
"""
_TOGETHER = """[[questions]]
id = "together"
description = "?"
expires = 2099-12-31
[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 2.0 }
[[questions.fields]]
name = "colour"
domain = { type = "categories", values = ["a", "b", "c"] }
mechanism = "rappor"
parameters = { epsilon = 2.0 }
"""


def every_survey(folder: Path, *, segmented: bool = True) -> Survey:
    """Return a survey that asks every mechanism, with segments or not, and two fields together."""
    blocks = [_HEAD]
    for name, (mechanism, domain, parameters, _, _) in QUESTIONS.items():
        head = f'[[questions]]\nid = "{name}"\ndescription = "?"\nexpires = 2099-12-31\n'
        how = f'mechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n'
        named = 'segments = ["platform"]\n' if segmented else ""
        blocks.append(f"{head}{named}{how}{domain}\n")
    path = folder / "survey.toml"
    path.write_text("".join([*blocks, _TOGETHER]), encoding="utf-8")
    survey = read_authored(path).require()
    (folder / "survey.json").write_bytes(survey.published())
    return Survey.from_published(survey.published())


def drawn(question: Question, people: int, rng: np.random.Generator) -> bytes:
    """Return records of people, two thirds of whom hold the first of two answers."""
    if len(question.fields) > 1:
        first = rng.integers(0, 2, people)
        codes = {"dark": first, "colour": (first + rng.integers(0, 2, people)) % 3}
        parts = {
            field.name: mechanism_for(field.parameters).simulate(codes[field.name], rng)
            for field in question.fields
        }
        return join_records(question, parts)
    records: list[bytes] = []
    for value, share in zip(QUESTIONS[question.id][3:], (2 * people // 3, None), strict=True):
        law = law_of(question, value)
        number = people - len(records) if share is None else share
        chances = np.array([float(chance) for chance in law.values()])
        places = rng.choice(len(law), number, p=chances / chances.sum())
        records += [list(law)[place] for place in places]
    return b"".join(records)


def every_archive(
    folder: Path,
    only: Collection[str] | None = None,
    *,
    columns: bool = False,
    segmented: bool = True,
) -> tuple[Survey, Path, Path]:
    """Return a survey, the data directory of closed reports to it, and the same as an archive."""
    survey, rng = every_survey(folder, segmented=segmented), np.random.default_rng(21)
    data = folder / "data"
    data.mkdir()
    with open_store(data) as store:
        for question in (q for q in survey.questions if only is None or q.id in only):
            for epoch in EPOCHS:
                for platform, people in PLATFORMS.items():
                    text = f'{{"platform":"{platform}"}}' if question.segments else ""
                    batch = Batch(
                        question.id, question.version, question.digest, epoch, segments=text
                    )
                    records = drawn(question, people, rng)
                    store.append_records(batch, records, question.record_size)
            store.close_question(question.id, floor=20)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing, "PART_BYTES", 1)  # many files
            write_archive(store, survey.known, folder / "archive", columns=columns)
    return survey, data, folder / "archive"
