"""From values to answers, in every domain; and nothing of a value in any message."""

from __future__ import annotations

import math
import sys
import traceback
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import ABSENT, Answer, Boolean, Categories, Domain, Numbers, Strings
from deniable.protocol.domain import code_key, string_key
from deniable.protocol.domain_reading import domain_from_published

COLOURS = Categories(("red", "grün", "blue"))
BINS = Numbers(("-1.5", "0", "10", "1e3"))
DOMAINS = [Boolean(), COLOURS, BINS, Strings()]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.fractions()
    | st.decimals()
    | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


def _reason(domain: Domain, value: object) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        domain.answer(value)
    return caught.value.reason


def _tried(domain: Domain, value: object) -> Answer | InvalidAnswer:
    try:
        return domain.answer(value)
    except InvalidAnswer as error:
        return error


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.kind)
@given(value=anything)
def test_anything_is_an_answer_or_refused_for_a_closed_reason(domain: Domain, value: Any) -> None:
    answer = _tried(domain, value)
    if isinstance(answer, InvalidAnswer):
        closed = {"type", "not_a_number", "unknown_category", "too_long", "bad_unicode"}
        assert answer.reason in closed
        assert (answer.__cause__, answer.__context__) == (None, None)
    elif domain.size is None:
        assert answer.code == -1
        assert answer.key.startswith(b"s")
    else:
        assert 0 <= answer.code < domain.size
        assert answer.key == code_key(answer.code) == b"i" + answer.code.to_bytes(4, "little")


@given(st.text(min_size=4, alphabet=st.characters(min_codepoint=0x3400, max_codepoint=0x4DB5)))
@example("㐀㐀㐀㐀" + "\ud800")
def test_no_message_or_repr_contains_the_value(secret: str) -> None:
    for domain in DOMAINS:
        for value in (secret, secret * 4097, [secret], {secret: secret}):
            answer = _tried(domain, value)
            shown = repr(answer) + str(answer) + f"{answer}"
            if isinstance(answer, InvalidAnswer):
                shown += "".join(traceback.format_exception_only(answer)) + repr(vars(answer))
            assert secret not in shown
            assert secret.encode("utf-8", "surrogatepass").hex() not in shown


def test_an_answer_shows_nothing() -> None:
    answer = Strings().answer("firefox")
    assert repr(answer) == str(answer) == "Answer(<hidden>)"
    assert "firefox" not in repr([answer, {"a": answer}])
    assert answer == Answer(b"sfirefox")
    assert answer.words == Strings().answer("firefox").words


def test_booleans_are_true_and_false_and_nothing_else() -> None:
    assert [Boolean().code(value) for value in (False, True)] == [0, 1]
    assert Boolean().labels == ("false", "true")
    for value in (0, 1, "true", None, 1.0, [], ABSENT):
        assert _reason(Boolean(), value) == "type"


def test_categories_are_compared_in_nfc() -> None:
    assert COLOURS.code("gru\u0308n") == COLOURS.code("gr\u00fcn") == 1
    for value in ("Red", "", " red", "pink", "red\u200b", "r" * 10**6, "\ud800"):
        assert _reason(COLOURS, value) == "unknown_category"
    for value in (1, None, b"red", ["red"]):
        assert _reason(COLOURS, value) == "type"


def test_a_long_value_is_not_cut_into_a_category() -> None:
    longest = Categories(("a" * 4096, "b"))
    assert longest.code("a" * 4096) == 0
    assert _reason(longest, "a" * 4097) == "unknown_category"


@given(st.floats(allow_nan=False) | st.integers() | st.fractions())
def test_bins_hold_what_lies_between_their_edges(value: float) -> None:
    code = BINS.code(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.copysign(math.inf, value)
    assert code == sum(edge <= number for edge in BINS.bounds)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-math.inf, 0),
        (math.nextafter(-1.5, -9), 0),
        (-1.5, 1),
        (-0.0, 2),
        (0, 2),
        (5e-324, 2),
        (10, 3),
        (999.9999, 3),
        (1000, 4),
        (math.inf, 4),
        (10**400, 4),
        (-(10**400), 0),
        (Fraction(10**400), 4),
        (Fraction(-(10**400)), 0),
        (2**53 + 1, 4),
    ],
)
def test_edges_belong_to_the_bin_above(value: float, code: int) -> None:
    assert BINS.code(value) == code


def test_numbers_that_are_none() -> None:
    assert _reason(BINS, math.nan) == "not_a_number"
    for value in (True, "1", None, 1j, Decimal(1), [1]):
        assert _reason(BINS, value) == "type"


def test_labels_of_bins() -> None:
    assert BINS.labels == ("< -1.5", "-1.5 to 0", "0 to 10", "10 to 1e3", ">= 1e3")
    assert Numbers(("5",)).labels == ("< 5", ">= 5")
    assert BINS.size == len(BINS.labels) == 5


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_strings_are_nfc_and_every_form_of_one_is_the_same(text: str) -> None:
    key = string_key(text)
    assert key == b"s" + unicodedata.normalize("NFC", text).encode()
    for form in ("NFC", "NFD"):
        assert string_key(unicodedata.normalize(form, text)) == key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a" * 4097, "too_long"),
        ("é" * 2049, "too_long"),
        ("x" * 10**6, "too_long"),
        ("U\u0308\u0304" * 1366, "too_long"),
        ("\ud800", "bad_unicode"),
        ("a\udfffb", "bad_unicode"),
        ("\ude00\ud83d", "bad_unicode"),
    ],
    ids=range(7),
)
def test_strings_that_are_refused(text: str, reason: str) -> None:
    assert _reason(Strings(), text) == reason


@pytest.mark.parametrize(
    "text", ["", "a" * 4096, "é" * 2048, "😀" * 1024, "\0", "U\u0308\u0304" * 1365]
)
def test_strings_at_the_limits(text: str) -> None:
    assert len(Strings().answer(text).key) <= 4097


def test_a_huge_string_is_refused_without_work() -> None:
    assert sys.getsizeof("x" * 2**26) > 2**26
    assert _reason(Strings(), "x" * 2**26) == "too_long"


@given(
    st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=8, unique=True).map(
        lambda names: Categories(tuple(names))
    )
    | st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8, unique=True).map(
        lambda edges: Numbers(tuple(repr(edge) for edge in sorted(edges)))
    )
    | st.sampled_from([Boolean(), Strings()])
)
def test_published_round_trip_or_refusal(domain: Domain) -> None:
    published = domain.published()
    try:
        read = domain_from_published(published)
    except InvalidParameter:
        names = domain.labels if domain.kind == "categories" else ()
        assert any(not unicodedata.is_normalized("NFC", name) for name in names) or any(
            "\ud800" <= letter <= "\udfff" for name in names for letter in name
        )
        return
    assert read == domain
    assert read.published() == published


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "boolean",
        {},
        {"type": "booleans"},
        {"type": ["boolean"]},
        {"type": "boolean", "extra": 1},
        {"type": "categories"},
        {"type": "categories", "values": "ab"},
        {"type": "categories", "values": []},
        {"type": "categories", "values": ["a"]},
        {"type": "categories", "values": ["a", "a"]},
        {"type": "categories", "values": ["a", ""]},
        {"type": "categories", "values": ["a", 1]},
        {"type": "categories", "values": ["a", "e\u0301"]},
        {"type": "categories", "values": ["a", "b" * 4097]},
        {"type": "categories", "values": ["a", "é" * 2049]},
        {"type": "categories", "values": [str(i) for i in range(65_537)]},
        {"type": "numbers", "edges": []},
        {"type": "numbers", "edges": [1]},
        {"type": "numbers", "edges": ["2", "1"]},
        {"type": "numbers", "edges": ["1", "1.0"]},
        *(
            {"type": "numbers", "edges": [edge]}
            for edge in ("", "nan", "inf", "1e999", "1_0", " 1", "1 ", "+1", "0x1", "01", ".5")
        ),
        *({"type": "numbers", "edges": [edge]} for edge in ("5.", "1E3", "١", "1\n", "0" * 33)),
    ],
    ids=lambda data: str(data)[:60],
)
def test_domains_that_are_refused(data: object) -> None:
    with pytest.raises(InvalidParameter):
        domain_from_published(data)


def test_the_largest_domains_are_read() -> None:
    names = [str(i) for i in range(65_536)]
    assert domain_from_published({"type": "categories", "values": names}).size == 65_536
    assert domain_from_published({"type": "numbers", "edges": names[:65_535]}).size == 65_536
