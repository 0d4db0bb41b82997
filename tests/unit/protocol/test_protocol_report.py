"""Reports on the wire: one spelling, everything else refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidReport
from deniable.protocol import Report, batch_bytes
from deniable.protocol.question import QUESTION_ID

reports = st.builds(
    Report,
    question=st.from_regex(QUESTION_ID, fullmatch=True),
    version=st.integers(1, 2**31 - 1),
    digest=st.binary(min_size=32, max_size=32),
    epoch=st.integers(0, 2**31 - 1),
    id=st.binary(min_size=16, max_size=16),
    record=st.binary(max_size=40),
)
GOOD = {
    "question": "browser",
    "version": 1,
    "digest": "ab" * 32,
    "epoch": 20772,
    "id": "cd" * 16,
    "record": "AQAB_w",
}
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(reports, max_size=4))
def test_batches_are_read_as_they_were_written(made: list[Report]) -> None:
    data = json.loads(batch_bytes(made))
    assert list(data) == ["reports"]
    assert [Report.from_json(report) for report in data["reports"]] == made


def test_a_report_has_six_members_and_nothing_about_its_sender() -> None:
    assert Report.from_json(GOOD).as_json() == GOOD
    assert set(GOOD) == {"question", "version", "digest", "epoch", "id", "record"}


@given(json_values)
def test_anything_else_is_refused_with_its_reason(data: Any) -> None:
    with pytest.raises(InvalidReport) as caught:
        Report.from_json(data)
    assert caught.value.reason == "schema"


@given(st.sampled_from(sorted(GOOD)), json_values)
def test_a_wrong_member_is_refused_or_kept_exactly(name: str, value: Any) -> None:
    data = {**GOOD, name: value}
    read = _tried(data)
    if isinstance(read, InvalidReport):
        assert read.reason == "schema"
        assert name in str(read)
    else:
        assert read.as_json() == data


def _tried(data: object) -> Report | InvalidReport:
    try:
        return Report.from_json(data)
    except InvalidReport as error:
        return error


@pytest.mark.parametrize("name", sorted(GOOD))
def test_every_member_is_needed(name: str) -> None:
    with pytest.raises(InvalidReport, match="exactly these members"):
        Report.from_json({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 0),
        ("version", True),
        ("version", 2**31),
        ("epoch", -1),
        ("epoch", 2**31),
        ("epoch", 1.0),
        ("id", "CD" * 16),
        ("id", "cd" * 15),
        ("id", "cd" * 16 + "\n"),
        ("digest", "ab" * 31),
        ("question", "Browser"),
        ("question", ""),
        ("question", "a" * 65),
        ("question", "browser\n"),
        ("question", "\ud800"),
        ("record", "AQAB_w=="),
        ("record", "AQAB_x"),
        ("record", b"AQAB"),
    ],
)
def test_what_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidReport, match=f"'{name}'"):
        Report.from_json({**GOOD, name: value})


def test_messages_do_not_repeat_what_was_sent() -> None:
    for name in ("question", "digest", "id", "record"):
        with pytest.raises(InvalidReport) as caught:
            Report.from_json({**GOOD, name: "Zebra stripes!"})
        assert "Zebra" not in str(caught.value)
