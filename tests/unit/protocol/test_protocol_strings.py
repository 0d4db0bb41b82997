"""Strings over a declared alphabet: what is cut, escaped, refused and published."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import read_authored
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import Strings
from deniable.protocol.domain import ESCAPE, is_alphabet, string_key
from deniable.protocol.domain_reading import domain_from_published

REFUSING = Strings("abé", 4)
ESCAPING = Strings("abé", 4, "escape")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("", ""), ("ab", "ab"), ("ababab", "abab"), ("e\u0301", "é"), ("abab漢", "abab")],
)
def test_answers_over_an_alphabet(value: str, expected: str) -> None:
    for domain in (REFUSING, ESCAPING):
        assert domain.answer(value).key == b"s" + expected.encode()


@pytest.mark.parametrize("value", ["x", "a漢", "A", "aéx", ESCAPE])
def test_other_characters_are_refused_or_escaped(value: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        REFUSING.answer(value)
    assert caught.value.reason == "alphabet"
    assert value not in str(caught.value)
    assert ESCAPE in ESCAPING.answer(value).key.decode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_an_escaped_answer_is_an_answer_of_its_own(text: str) -> None:
    key = ESCAPING.answer(text).key
    fitted = key[1:].decode()
    assert len(fitted) <= 4
    assert set(fitted) <= set(ESCAPING.letters)
    assert unicodedata.is_normalized("NFC", fitted)
    assert ESCAPING.answer(fitted).key == key


def test_without_an_alphabet_any_string_is_as_before() -> None:
    assert Strings().answer("漢" * 9).key == string_key("漢" * 9)
    assert Strings().published() == {"type": "strings"}
    assert Strings().fitted("anything") == "anything"


def test_letters_rise_and_hold_the_escape_only_where_it_is_used() -> None:
    assert REFUSING.letters == "abé"
    assert ESCAPING.letters == f"abé{ESCAPE}"
    assert Strings("ab\U0001f600", 2, "escape").letters == f"ab{ESCAPE}\U0001f600"


@pytest.mark.parametrize("domain", [REFUSING, ESCAPING])
def test_domains_travel(domain: Strings) -> None:
    assert domain_from_published(domain.published()) == domain


@pytest.mark.parametrize(
    "change",
    [
        {"alphabet": "ba"},
        {"alphabet": "a"},
        {"alphabet": "aab"},
        {"alphabet": "a\u212b"},
        {"alphabet": 5},
        {"length": 0},
        {"length": 257},
        {"length": True},
        {"outside": "drop"},
        {"outside": None},
        {"alphabet": f"a{ESCAPE}", "outside": "escape"},
    ],
)
def test_bad_domains_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match=r"^A domain's"):
        domain_from_published({**REFUSING.published(), **change})


def test_what_an_alphabet_is() -> None:
    assert is_alphabet("ab")
    assert not is_alphabet("a\ud800")
    assert is_alphabet("".join(chr(0x4E00 + i) for i in range(4_096)))
    assert not is_alphabet("".join(chr(0x4E00 + i) for i in range(4_097)))


SURVEY = """name = "n"
owner = "o"
people = 5000
[[questions]]
id = "q"
description = "d"
expires = 2099-01-01
mechanism = "prefixes"
parameters = { epsilon = 2.0 }
domain = """


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ('{ type = "strings", alphabet = "a", length = 4 }', "2 to 4,096"),
        ('{ type = "strings", alphabet = "ab" }', "length: missing"),
        ('{ type = "strings", length = 4 }', "alphabet: missing"),
        ('{ type = "strings", alphabet = "ab", length = 900 }', "from 1 to 256"),
        ('{ type = "strings", alphabet = "ab", length = 4, outside = "x" }', "refuse, escape"),
        ('{ type = "strings", alphabet = "a\\ufffd", length = 4, outside = "escape" }', "FFFD"),
        ('"strings"', "declared alphabet"),
        ('"boolean"', "declared alphabet"),
    ],
)
def test_a_survey_says_what_is_wrong_with_its_alphabet(
    tmp_path: Path, domain: str, problem: str
) -> None:
    (tmp_path / "survey.toml").write_text(SURVEY + domain)
    problems = "\n".join(str(one) for one in read_authored(tmp_path / "survey.toml").problems)
    assert problem in problems


def test_an_alphabet_may_be_written_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(
        SURVEY + '{ type = "strings", alphabet = "cab", length = 4, outside = "escape" }'
    )
    (question,) = read_authored(tmp_path / "survey.toml").require().questions
    assert question.fields[0].domain == Strings("abc", 4, "escape")
