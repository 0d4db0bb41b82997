"""The parameters of n-grams: places, split of epsilon, records, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.authoring.mechanisms.rappor_tuning import from_epsilon
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Answer, Boolean, NGramsParameters, Strings
from deniable.protocol.domain import ABSENT_KEY, string_key
from deniable.protocol.ngrams import PADDING, possible_grams

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def resolved(length: int = 20, letters: str = LETTERS, **wanted: Any) -> NGramsParameters:
    given_epsilon = {} if wanted.keys() & {"p", "q"} else {"epsilon": 3.0}
    return resolve(NGramsParameters, {**given_epsilon, **wanted}, Strings(letters, length), False)


@pytest.mark.parametrize(
    ("length", "n", "step", "places"),
    [(6, 2, 2, 3), (20, 2, 2, 10), (20, 3, 3, 7), (6, 2, 1, 5), (7, 2, 2, 4), (3, 4, 4, 1),
     (4, 4, 4, 1), (5, 4, 3, 2)],
)  # fmt: skip
def test_places_cover_every_character(length: int, n: int, step: int, places: int) -> None:
    parameters = resolved(length, n=n, step=step)
    assert parameters.places == places
    assert (places - 1) * step + n >= length
    assert places == 1 or (places - 2) * step + n < length
    text = "".join(LETTERS[i % 26] for i in range(length))
    whole = "".join(parameters.gram_of(text, i)[:step] for i in range(places - 1))
    assert (whole + parameters.gram_of(text, places - 1)).rstrip(PADDING) == text


def test_short_strings_are_filled_up() -> None:
    parameters = resolved(6)
    assert [parameters.gram_of("abc", i) for i in range(3)] == ["ab", "c\0", "\0\0"]
    assert parameters.gram_of("", 0) == "\0\0"


def test_choices_are_all_ways_to_take_places() -> None:
    parameters = resolved(12, grams=3)
    assert parameters.chosen == tuple(combinations(range(6), 3))
    assert parameters.choices == 20
    assert parameters.told_apart == 20 * 64


def test_parts_of_a_string_and_of_nothing() -> None:
    parameters = resolved(6)
    parts = parameters.parts(Answer(string_key("rabbit")), (0, 2))
    assert [part.key for part in parts] == [b"srabbit", b"sra", b"sit"]
    absent = parameters.parts(Answer(ABSENT_KEY), (0, 1))
    assert [part.key for part in absent] == [b"a", b"a", b"a"]


@given(st.integers(1_000, 30_000_000), st.integers(1, 4), st.integers(2, 4))
def test_what_was_wanted_is_not_exceeded(micros: int, hashes: int, grams: int) -> None:
    parameters = resolved(12, epsilon=micros / 1e6, hashes=hashes, grams=grams)
    assert micros - 2 * hashes * (grams + 1) <= parameters.epsilon_once <= micros


def test_the_split_is_equal_unless_it_is_declared() -> None:
    equal = resolved()
    assert equal.whole == equal.gram
    third = from_epsilon({"epsilon": 1.0}, 1, 1)
    assert (equal.whole_one, equal.whole_zero) == (third.report_one, third.report_zero)
    split = resolved(whole=0.5)
    assert split.whole.epsilon_once == pytest.approx(1_500_000, abs=2)
    assert split.gram.epsilon_once == pytest.approx(750_000, abs=2)
    assert split.epsilon_once <= 3_000_000


def test_the_papers_letters() -> None:
    parameters = resolved(p=0.25, q=0.75, k=128, h=2, m=16)
    assert parameters.epsilon_once == pytest.approx(3 * 4.394449e6, rel=1e-6)
    assert (parameters.bits, parameters.hashes, parameters.cohorts) == (128, 2, 16)
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


def test_published_and_read() -> None:
    parameters = resolved(n=3, step=2, grams=3, whole=0.4)
    assert NGramsParameters.from_published(parameters.published()) == parameters
    with pytest.raises(InvalidParameter, match="ngrams has bits, cohorts, gram_one"):
        NGramsParameters.from_published({"n": 2})


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"step": 3}, "'step' parameter of ngrams must be at most n = 2"),
        ({"grams": 1}, "'grams' parameter of ngrams must be from 2 to 10"),
        ({"grams": 11}, "from 2 to 10"),
        ({"n": 0}, "'n' parameter"),
        ({"n": 6}, "possible n-grams of 6 of 26 letters"),
        ({"whole": 1.0}, "'whole' parameter"),
        ({"k": 1}, "bits"),
        ({"k": 128, "bits": 128}, "not both"),
        ({"p": 0.25, "q": 0.75, "epsilon": 3.0}, "either p and q, or epsilon"),
        ({"p": 0.25}, "both 'p' and 'q'"),
        ({"p": 0.75, "q": 0.25}, "greater than 'p'"),
    ],
)
def test_what_cannot_be(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolved(**wanted)


def test_domains_that_do_not_fit() -> None:
    with pytest.raises(InvalidParameter, match="strings with a declared alphabet"):
        resolve(NGramsParameters, {"epsilon": 1.0}, Boolean(), False)
    with pytest.raises(InvalidParameter, match="U\\+0000"):
        resolve(NGramsParameters, {"epsilon": 1.0}, Strings("\0ab", 6), False)
    with pytest.raises(InvalidParameter, match="needs 'epsilon'"):
        resolve(NGramsParameters, {}, Strings("ab", 6), False)
    with pytest.raises(InvalidParameter, match="'length' of its domain"):
        resolved(6).check_domain(Strings(LETTERS, 7), False)


def test_too_many_choices_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="in 161,700 ways"):
        resolved(100, n=1, grams=3)


def test_one_place_has_one_n_gram() -> None:
    parameters = resolved(3, n=4)
    assert (parameters.places, parameters.grams, parameters.choices) == (1, 1, 1)


def test_records_out_of_range() -> None:
    parameters = replace(resolved(6), bits=13, cohorts=7)
    good = bytes(4 + 3 * 2)
    parameters.check_record(good)
    for place, value in ((0, 3), (2, 7), (5, 0x20), (7, 0x20), (9, 0x20)):
        broken = bytearray(good)
        broken[place] = value
        with pytest.raises(InvalidReport):
            parameters.check_record(bytes(broken))


def test_possible_grams() -> None:
    assert possible_grams(26, 2) == 26**2 + 26 + 1
    assert possible_grams(2, 3) == 8 + 4 + 2 + 1
