from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import candidates as names
from deniable.protocol import ABSENT
from deniable.protocol.hashing import fingerprint


def test_labels() -> None:
    assert names.label_of(ABSENT) == "(absent)"
    assert names.label_of("x") == "x"
    assert names.closed_labels(None, ["0", "1"]) == ("0", "1")
    assert names.closed_labels(["no", ABSENT], ["0", "1"]) == ("no", "(absent)")


def test_a_closed_domain_needs_a_label_for_every_answer() -> None:
    with pytest.raises(InvalidParameter, match=r"needs that many labels\. Got 1"):
        names.closed_labels(["no"], ["0", "1"])


def test_keys_are_canonical() -> None:
    assert names.open_keys(["e\u0301", ABSENT]) == ["s\u00e9".encode(), b"a"]


@pytest.mark.parametrize("none", [None, []])
def test_strings_need_candidates(none: list[str] | None) -> None:
    with pytest.raises(InvalidParameter, match="at least one candidate"):
        names.open_keys(none)


def test_the_same_string_in_two_spellings_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="Candidates 0 and 2 are the same"):
        names.open_keys(["\u00e9", "x", "e\u0301"])


@pytest.mark.parametrize(
    ("bad", "why"),
    [("\ud800", "unpaired surrogates"), ("x" * 5000, "at most 4096"), (7, "must be a string")],
)
def test_what_cannot_be_an_answer_is_refused(bad: object, why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        names.open_keys(["fine", bad])


def test_codes_of_codes_booleans_and_labels() -> None:
    assert names.codes_of([2, 0], 3, None).tolist() == [2, 0]
    assert names.codes_of(np.array([True, False]), 2, None).tolist() == [1, 0]
    assert names.codes_of(["b", "a"], 2, ["a", "b"]).tolist() == [1, 0]
    assert names.codes_of(["a", ABSENT], 2, ["a", ABSENT]).tolist() == [0, 1]
    assert names.codes_of([], 2, None).tolist() == []


@pytest.mark.parametrize("bad", [[3], [-1], np.array([2**63], dtype=np.uint64)])
def test_codes_outside_the_domain_are_refused(bad: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="a code from 0 to 2"):
        names.codes_of(bad, 3, None)


def test_values_are_not_shown_when_refused() -> None:
    with pytest.raises(InvalidParameter) as caught:
        names.codes_of(["secret"], 2, ["a", "b"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("bad", [[0.5], [[0, 1]], [None, 1]])
def test_values_that_are_no_codes_are_refused(bad: list[object]) -> None:
    with pytest.raises(InvalidParameter):
        names.codes_of(bad, 2, None)


def test_labels_that_repeat_cannot_name_values() -> None:
    with pytest.raises(InvalidParameter, match="the same"):
        names.codes_of(["a"], 2, ["a", "a"])


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (["b", "a", "b"], None),
        (np.array(["b", "a", "b"]), None),
        ([1, 0, 1], ["a", "b"]),
        (np.array([1, 0, 1], dtype=np.uint8), ["a", "b"]),
    ],
)
def test_words_of_strings_and_codes(values: list[str], listed: list[str] | None) -> None:
    words, rows = names.words_of(values, listed)
    found = [tuple(map(int, words[row])) for row in rows]
    assert found == [fingerprint(key) for key in (b"sb", b"sa", b"sb")]


def test_codes_of_strings_need_the_strings() -> None:
    with pytest.raises(InvalidParameter, match="need their list"):
        names.words_of([0, 1], None)
    with pytest.raises(InvalidParameter, match="code from 0 to 0"):
        names.words_of(np.array([1]), ["a"])


def test_nobody_holds_nothing() -> None:
    words, rows = names.words_of([], None)
    assert words.shape == (0, 2)
    assert rows.size == 0
