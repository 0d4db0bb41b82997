"""The bounds of records, looked at together, are those that are looked at one by one."""

from __future__ import annotations

import random

import pytest

from deniable.collector.records import RecordBounds
from deniable.errors import InvalidReport
from deniable.protocol import Question
from material.audits import large_questions, small_questions
from material.collector import SURVEY

QUESTIONS = [*SURVEY.known, *small_questions(), *large_questions()]


def is_sent(question: Question, record: bytes) -> bool:
    try:
        question.check_record(record)
    except InvalidReport:
        return False
    return True


def candidates(question: Question) -> list[bytes]:
    """Return records around the bounds: one byte changed, all of them, and random ones."""
    size, generator = question.record_size, random.Random(question.id)
    places = range(size) if size <= 40 else [*range(20), *range(size - 20, size)]
    found = [bytes(size), b"\xff" * size, *(generator.randbytes(size) for _ in range(20))]
    found += [((1 << bits) - 1).to_bytes(size, "little") for bits in range(1, min(8 * size, 500))]
    for place in places:
        for value in (1, 2, 3, 7, 15, 16, 64, 128, 255):
            found.append(bytes(place) + bytes([value]) + bytes(size - place - 1))
    return found


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q.id}-{q.version}")
def test_bounds_of_one_and_of_many_agree_with_the_rule(question: Question) -> None:
    bounds = RecordBounds(question)
    found = {record: is_sent(question, record) for record in candidates(question)}
    for record, sent in found.items():
        assert bounds.hold(record) is sent
    good = [record for record, sent in found.items() if sent]
    many = b"".join(good[:1] * 40)
    assert bounds.hold(many) is True
    for record, sent in found.items():
        assert bounds.hold(many[: 20 * question.record_size] + record + many) is sent


def test_there_are_records_on_both_sides_of_some_bounds() -> None:
    outcomes = [
        {is_sent(question, record) for record in candidates(question)} for question in QUESTIONS
    ]
    assert sum(outcome == {True, False} for outcome in outcomes) > len(outcomes) / 2
    assert all(True in outcome for outcome in outcomes)
