"""The words fit the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from deniable._words import epsilon_text, plural
from deniable.ask.estimate import COLUMNS
from deniable.results.table import Cell
from deniable.results.table.columns import Ends
from deniable.results.table.text import percent, typical_error
from deniable.results.words.shares import (
    NOTHING_LEARNED,
    in_words,
    limit_sentence,
    nothing_learned,
    odds,
)
from material.results import UNKNOWN, hostile_result, result, row, row_with_test


def replace_interval(cells: Sequence[Cell], ends: Ends) -> tuple[Cell, ...]:
    """Return a row of `answer_row` with another interval."""
    place = [column.name for column in COLUMNS].index("interval")
    return (*cells[:place], ends, *cells[place + 1 :])


def test_what_stands_out_is_named_by_size() -> None:
    words = in_words(result(row("small", 0.03), row("large", 0.4), row("none", 0.01)))
    assert (
        "2 of 3 answers stand out from zero: “large” (40.0%, 38.0% to 42.0%), “small”"
        in words.learned[1]
    )
    assert "none" not in words.learned[1]


def test_only_a_few_values_are_named() -> None:
    words = in_words(result(*[row(f"v{i}", 0.5 - i / 100) for i in range(9)]))
    assert "9 of 9" in words.learned[1]
    assert words.learned[1].endswith("and 6 more.")


def test_nothing_that_stands_out_is_said_plainly() -> None:
    words = in_words(result(row("a", 0.001), row("b", -0.02)))
    assert "No answer stands out" in words.learned[1]


def test_the_detection_limit_is_said_by_one_sentence() -> None:
    shown = result(row("a", 0.4, 0.01), row("b", 0.4, 0.02), row("c", 0.4, 0.9), UNKNOWN)
    assert typical_error(shown) == 0.02
    known = replace(shown, about=replace(shown.about, more={**shown.about.more, "limit": 0.0392}))
    assert any(s.startswith(limit_sentence(0.0392)) for s in in_words(known).not_learned)
    assert "a share of about 3.92% is found every second time" in limit_sentence(0.0392)
    assert "no share, however large" in limit_sentence(1.0)
    none = replace(shown, about=replace(shown.about, more={**shown.about.more, "limit": 1.0}))
    assert limit_sentence(1.0) in in_words(none).not_learned  # and nothing that could be halved


def test_a_discovery_without_strings_learned_that_none_is_frequent() -> None:
    empty = result()
    assert not nothing_learned(empty)
    assert in_words(empty).learned[0].startswith("No string stands out")


def test_where_nothing_was_learned_that_is_said_first_and_alone() -> None:
    flat = row("a", 15.78, 47.44)
    wide = replace_interval(flat, (0.0, 1.0))
    silent = result(wide)
    assert nothing_learned(silent)
    assert in_words(silent).learned == (NOTHING_LEARNED,)
    assert not nothing_learned(result(row("a", 0.4)))
    assert "no information" in silent.text()


def test_no_share_in_words_leaves_0_to_1() -> None:
    words = in_words(result(replace_interval(row("a", 1.4), (0.9, 1.7))))
    assert "(100.0%, 90.0% to 100.0%)" in words.learned[1]


def test_rows_whose_interval_includes_zero_are_counted() -> None:
    words = in_words(result(row("a", 0.4), row("b", 0.0), row("c", -0.5), UNKNOWN))
    assert any(sentence.startswith("2 rows have not enough") for sentence in words.not_learned)


def test_what_was_tested_stands_out_by_its_test_and_says_how_surely() -> None:
    rows = [
        row_with_test("sure", 0.4, holm=True, storey=True),
        row_with_test("likely", 0.03, holm=False, storey=True),
        row_with_test("seen", 0.03, holm=False, storey=False),
    ]
    learned = in_words(result(*rows, expected_false=0.27)).learned
    assert "2 of 3 answers stand out" in learned[1]
    assert learned[2].startswith("About 0.3 of these are expected to be false")
    assert "1 of them hold even where not one false one is wanted" in learned[2]


def test_the_share_of_unlisted_strings_is_said() -> None:
    unlisted = {"frequency": 0.25, "std_error": 0.02, "interval": (0.21, 0.29), "suspected": True}
    words = in_words(result(row("a", 0.1), unlisted=unlisted)).not_learned
    assert any(
        s.startswith("Strings that no candidate names are 25.0% (21.0% to 29.0%)") for s in words
    )
    assert any("there are such strings" in s for s in words)
    unknown = {**unlisted, "frequency": math.nan, "std_error": math.nan, "suspected": False}
    words = in_words(result(row("a", 0.1), unlisted=unknown)).not_learned
    assert not any("no candidate names" in s for s in words)


def test_unlisted_strings_stay_unseen_and_closed_domains_have_none() -> None:
    assert any("candidates" in s for s in in_words(result(row("a", 0.1))).not_learned)
    closed = in_words(result(row("a", 0.1), domain="categories"))
    assert not any("candidates" in s for s in closed.not_learned)


def test_without_reports_nothing_is_known() -> None:
    words = in_words(result(UNKNOWN, n=0, epochs=None))
    assert words.learned == ("There are no reports yet, so nothing is known.",)
    assert words.promise


def test_the_promise_depends_on_time() -> None:
    assert "for ever" in in_words(result(row("a", 0.1))).promise[1]
    grows = result(row("a", 0.1), epsilon_forever=None, memoised=False)
    assert "adds as much again" in in_words(grows).promise[1]
    once = result(row("a", 0.1), epsilon_forever=1.074286, memoised=False)
    assert in_words(once).promise[1] == "A device answers once, ever."


def test_a_promise_is_never_rounded_down() -> None:
    assert epsilon_text(1.0) == "1"
    assert epsilon_text(1.0001) == "1.001"
    assert epsilon_text(0.000001) == "0.001"
    assert odds(math.log(3)) in ("3.00", "3.01")
    assert odds(1.0) == "2.72"
    assert odds(math.log(250.2)) == "251"


@pytest.mark.parametrize(
    ("share", "error", "text"),
    [
        (0.12345, 0.01, "12.3%"),
        (0.12345, 0.0012, "12.35%"),
        (0.12345, 0.3, "12%"),
        (0.12345, 1e-9, "12.3450%"),
        (0.12345, math.nan, "12.3%"),
        (-0.00001, 0.01, "0.0%"),
        (-0.02, 0.01, "-2.0%"),
        (math.nan, 0.01, "n/a"),
        (math.inf, 0.01, "n/a"),
    ],
)
def test_shares_have_the_digits_that_their_error_leaves(
    share: float, error: float, text: str
) -> None:
    assert percent(share, error) == text


def test_words_hold_nothing_that_cannot_be_printed() -> None:
    words = in_words(hostile_result())
    assert all(s.isprintable() for s in (*words.learned, *words.not_learned, *words.promise))


def test_an_epsilon_is_rounded_up_in_one_way_everywhere() -> None:
    shown = [epsilon_text(e) for e in (1.074286, 4.39445, 1.0, 1.000001, 0.0, 1234.5)]
    assert shown == ["1.075", "4.395", "1", "1.001", "0", "1,234.5"]
    assert epsilon_text(0.1 + 0.2) == "0.3"  # what floats add is no reason to round up
    table = result(row("a", 0.1))
    texts = (table.text(), str(table.chart().to_dict()["title"]), " ".join(in_words(table).promise))
    assert all("1.075" in text and "1.074" not in text for text in texts)


def test_one_is_not_many() -> None:
    assert plural(1, "report") == "1 report"
    assert plural(0, "report") == "0 reports"
    assert plural(1_000, "batch", "batches") == "1,000 batches"
    assert "1 reports" not in result(row("a", 0.1), n=1).about.reports
