"""The second error bar of published results contains what 1% of crafted reports do, either way.

Of every mechanism and every kind of question, through the store and `deniable estimate`'s own code.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, estimate
from deniable.audit.answers import some_strings
from deniable.audit.attack.crafted import honest_and_crafted, worst_attribute
from deniable.mechanisms.base import Reports
from deniable.protocol import MECHANISMS, ProfileParameters, Question, Strings
from deniable.results.table import Row, Table
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER
from material.audits import (
    ONCE,
    a_field,
    about_profiles,
    categories,
    found_strings,
    large_questions,
    of_fields,
    small_questions,
)

CRAFTED, PEOPLE = 0.01, 5_000
TWO = of_fields(
    "two", a_field("colour", categories(3), "krr", ONCE), a_field("text", Strings(), "olh", ONCE)
)
QUESTIONS = {
    question.id: question
    for question in (
        *small_questions(),
        *large_questions(),
        *found_strings(),
        *about_profiles((2, 3, 5)),
        TWO,
    )
}


def published(question: Question, columns: list[Reports], folder: Path) -> list[Table]:
    """Return what is published of reports, one column of them per field."""
    rows = zip(*([one.tobytes() for one in column] for column in columns), strict=True)
    data = b"".join(record for row in rows for record in row)
    listed = {
        field.name: list(some_strings(field.domain)[:2])
        for field in question.fields
        if field.domain.size is None and not isinstance(field.parameters, ProfileParameters)
    }
    with SqliteStore(folder) as store:
        batch = Batch(question.id, 1, question.digest, 1)
        store.append_records(batch, data, question.record_size)
        return estimate(store, question, Options(candidates=listed, crafted=CRAFTED))


def target_of(question: Question, place: int, result: Table) -> Row:
    field = question.fields[place]
    if isinstance(field.parameters, ProfileParameters):
        worst = worst_attribute(field.parameters, CRAFTED)
        return result.rows[sum(field.parameters.answers[:worst])]
    if field.domain.size is None:
        wanted = some_strings(field.domain)[0]
        return next(row for row in result.rows if row.value == wanted)
    return next(row for row in result.rows if row.value == field.domain.labels[0])


def test_every_mechanism_is_here() -> None:
    every = {field.parameters.mechanism for q in QUESTIONS.values() for field in q.fields}
    assert every == set(MECHANISMS)


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_bar_contains_the_shift(
    name: str, down: bool, tmp_path: Path, rng: np.random.Generator
) -> None:
    """What honest reports say lies within the second interval of the crafted ones.

    The interval itself is 14 times as wide as what replacing 1% of the reports does by chance.
    """
    question = QUESTIONS[name]
    pairs = [
        honest_and_crafted(question, field, PEOPLE, CRAFTED, rng, down=down)
        for field in question.fields
    ]
    honest = published(question, [pair[0] for pair in pairs], tmp_path / "honest.sqlite3")
    poisoned = published(question, [pair[1] for pair in pairs], tmp_path / "poisoned.sqlite3")
    for place, (before, after) in enumerate(zip(honest, poisoned, strict=True)):
        truth, row = (target_of(question, place, one) for one in (before, after))
        assert row.crafted_interval is not None
        low, high = row.crafted_interval
        LEDGER.add(1e-11)
        # An interval is of a share, from 0 to 1; the unbiased estimate may lie outside of that.
        assert low <= min(max(truth.frequency, 0.0), 1.0) <= high
        moved = row.frequency - truth.frequency
        assert (moved < 0) == down or abs(moved) < row.std_error
