"""One byte string per published object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.protocol.canonical import canonical, from_base64url, to_base64url

scalars = st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(exclude_categories=["Cs"]))
ascii_keys = st.text(st.characters(max_codepoint=127), max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_keys, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_reading_what_was_written_gives_the_same_value_and_bytes(value: Any) -> None:
    data = canonical(value)
    assert json.loads(data) == value
    assert canonical(json.loads(data)) == data


@given(st.dictionaries(ascii_keys, scalars, min_size=2))
def test_the_order_of_members_does_not_matter(table: dict[str, Any]) -> None:
    backwards = dict(reversed(table.items()))
    assert canonical(backwards) == canonical(table)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_strings_escape_only_what_json_requires(text: str) -> None:
    written = canonical(text).decode()[1:-1]
    must = {letter for letter in text if letter in '"\\' or letter < " "}
    assert (written == text) == (not must)


@pytest.mark.parametrize(
    "value",
    [1.0, True, None, 2**53, -(2**53), {"é": 1}, {1: 2}, "\ud800", {"a": [0.5]}, b"x", {1, 2}],
    ids=repr,
)
def test_everything_else_is_refused(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="Canonical JSON"):
        canonical(value)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_sixteen_levels_and_no_more() -> None:
    assert canonical(_nested(16)) == b"[" * 17 + b"]" * 17
    for depth in (17, 100_000):
        with pytest.raises(InvalidParameter, match="16 levels"):
            canonical(_nested(depth))


@given(st.binary(max_size=100))
def test_base64url_has_one_spelling(data: bytes) -> None:
    text = to_base64url(data)
    assert from_base64url(text) == data
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@given(st.text(st.sampled_from("ABgwQx-_+/= \n\u00e9\u0661"), max_size=9))
def test_other_spellings_are_refused(text: str) -> None:
    try:
        data = from_base64url(text)
    except InvalidParameter:
        return
    assert to_base64url(data) == text


@pytest.mark.parametrize("text", ["A", "AB", "AAAAA", "AA==", "AA=", "A A", "AA\n", "+/+/", "é"])
def test_base64url_refuses(text: str) -> None:
    with pytest.raises(InvalidParameter, match="base64url"):
        from_base64url(text)
