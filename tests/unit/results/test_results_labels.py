"""Everything that is shown is printable, and fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deniable.results.labels import columns, distinct, printable, shortened


@given(st.text(st.characters(codec=None)))
def test_printable_text_is_printable_and_otherwise_unchanged(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


def test_what_cannot_be_seen_is_escaped() -> None:
    assert printable("a\x07b\nc\u202ed\ud800") == r"a\x07b\nc\u202ed\ud800"
    assert printable("naïve 日本 😀") == "naïve 日本 😀"


@given(st.text(st.characters(codec=None), max_size=80), st.integers(4, 60))
def test_shortened_text_fits_its_room(text: str, room: int) -> None:
    shown = shortened(text, room)
    assert columns(shown) <= room
    assert shown.isprintable()


def test_shortened_text_keeps_beginning_and_end() -> None:
    text = "https://example.com/" + "x" * 100 + "/page.html"
    assert shortened(text, 30).startswith("https://exam")
    assert shortened(text, 30).endswith("page.html")
    assert shortened("short", 30) == "short"


def test_wide_characters_take_two_columns() -> None:
    assert columns("日本") == 4
    assert columns("ab") == 2


@given(st.lists(st.sampled_from(["a", "b", "a (1)", "a (2)", "c"]), max_size=12))
def test_distinct_labels_differ_and_unique_ones_stay(labels: list[str]) -> None:
    found = distinct(labels)
    assert len(set(found)) == len(labels)
    for before, after in zip(labels, found, strict=True):
        assert after.startswith(before)
        if labels.count(before) == 1:
            assert after == before
