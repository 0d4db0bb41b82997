"""Prefix growth on the device: one group for ever, and strings that were cut are counted there."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.client.recorder import was_fitted
from deniable.errors import RecordRefused
from deniable.protocol import Question, Strings
from material.clients import a_field, question, strict, survey

ESCAPING = Strings("abc", 3, "escape")


def asked(domain: Strings = ESCAPING, repeat: str = "once") -> Question:
    return question("word", domain, "prefixes", {"epsilon": 2.0}, repeat=repeat)


@pytest.mark.parametrize(
    ("value", "fitted"), [("abc", False), ("", False), ("abca", True), ("x", True), ("ab!", True)]
)
def test_what_was_cut_or_escaped_is_counted_on_the_device(
    tmp_path: Path, value: str, fitted: bool
) -> None:
    client = strict(survey(asked()), tmp_path)
    client.record("word", value)
    assert client.counters() == ({("word", "fitted"): 1} if fitted else {})
    (report,) = client.pending()
    assert len(report.record) == 7


def test_other_characters_are_refused_where_the_survey_says_so(tmp_path: Path) -> None:
    client = strict(survey(asked(Strings("abc", 3))), tmp_path)
    with pytest.raises(RecordRefused, match="alphabet"):
        client.record("word", "xyz")
    assert client.counters() == {("word", "alphabet"): 1}
    assert client.pending() == []


def test_fields_of_other_kinds_are_never_fitted() -> None:
    fields = (a_field("flag"), a_field("word", ESCAPING, "prefixes", {"epsilon": 1.0}))
    both = question("both", fields=fields)
    for word, fitted in (("ab", False), ("abcabc", True)):
        value = {"flag": True, "word": word}
        assert was_fitted(both, value, both.answers(value)) == fitted


def test_a_device_stays_in_its_group_and_cohort() -> None:
    secrets = [bytes([number]) * 32 for number in range(40)]
    places = []
    for secret in secrets:
        records = {encode(asked(), text, secret, SystemDraws())[:3] for text in ("a", "bcb", "")}
        assert len(records) == 1
        places.append(records.pop())
    assert len(set(places)) > 10


def test_permanent_reports_are_the_same() -> None:
    kept = asked(repeat="permanent")
    records = {encode(kept, "ab", bytes(32), SystemDraws()) for _ in range(5)}
    assert len(records) == 1
