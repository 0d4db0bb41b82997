"""The table in a terminal."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

from deniable.results.table import Table, as_text
from deniable.results.table.text import Shown, rich_table
from material.results import HOSTILE, UNKNOWN, hostile_result, result, row, row_with_test


@pytest.fixture(params=["rich", "plain"])
def text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return as_text with Rich, and as it is where Rich is not installed."""
    if request.param == "plain":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return as_text


def test_the_table_has_every_number(text: Callable[[Table], str]) -> None:
    shown = text(result(row("first", 0.25, truth=0.26), row("second", 0.01), UNKNOWN))
    assert "asked (version 1): What?" in shown
    assert "n = 10,000 reports, epsilon 1.075 once, 4.395 for ever, rappor" in shown
    line = next(line for line in shown.splitlines() if "first" in line)
    assert line.split() == ["first", "25.0%", "1.0%", "23.0%", "to", "27.0%", "n/a", "26.0%"]
    assert next(line for line in shown.splitlines() if "unknown" in line).split()[1:] == ["n/a"] * 4
    assert shown.endswith("  - A note.")


def test_the_table_says_how_surely_each_was_found(text: Callable[[Table], str]) -> None:
    sure = row_with_test("sure", 0.4, holm=True, storey=True)
    rows = [sure, row_with_test("tiny", 0.4, holm=True, storey=True, p_value=1e-9)]
    rows += [row_with_test("five", 0.03, holm=False, storey=True)]
    rows += [row_with_test("none", 0.01, holm=False, storey=False)]
    lines = {line.split()[0]: line.split()[6:] for line in text(result(*rows)).splitlines() if line}
    assert lines["sure"] == ["0.0123", "Holm"]
    assert lines["tiny"] == ["<", "0.0001", "Holm"]
    assert lines["five"] == ["0.0123", "Storey"]
    assert lines["none"] == ["0.0123"]


def test_without_truth_there_is_no_column_for_it(text: Callable[[Table], str]) -> None:
    assert "truth" not in text(result(row("first", 0.25)))


def test_the_field_of_a_question_with_several_is_named(text: Callable[[Table], str]) -> None:
    shown = text(result(row("a", 0.1), field="colour", epsilon_forever=None))
    assert "asked.colour (version 1)" in shown
    assert "no bound for ever" in shown


def test_hostile_values_do_nothing_to_a_terminal(text: Callable[[Table], str]) -> None:
    shown = text(hostile_result())
    assert all(line.isprintable() for line in shown.splitlines())
    assert "[bold]markup[/bold] [/]" in shown
    assert r"bell \x07 null \x00 escape \x1b[31m" in shown


def test_a_rich_table_has_a_row_per_answer() -> None:
    assert (
        rich_table(Shown.of(hostile_result(), 99, (48, 28)), hostile_result()).row_count
        == len(HOSTILE) + 1
    )


def test_a_long_result_is_cut_and_says_so(text: Callable[[Table], str]) -> None:
    shown = text(result(*[row(f"v{i}", 0.5) for i in range(1_234)]))
    assert "v199" in shown
    assert "v200" not in shown
    assert "… and 1,034 rows more" in shown
    assert "rows more" not in text(result(*[row(f"v{i}", 0.5) for i in range(200)]))
