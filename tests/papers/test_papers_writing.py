"""Files of an outcome, and the two columns of numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from deniable.results.table import Table, as_csv
from deniable_papers import Outcome, figure, write
from deniable_papers.base import Rows
from deniable_papers.common.charts import altair, data_of, styled
from deniable_papers.writing import compared

HOSTILE = "bell\x07 <b> \ud800 \u202e end"


def outcome(rows: Rows) -> Outcome:
    bars = altair().Chart(data_of(rows)).mark_bar().encode(x="n:Q", y="word:N")
    chart = styled(bars, f"title {HOSTILE}")
    return Outcome({"a": 1}, {"a": 2.0}, {"words": rows, "more": rows[:1]}, chart)


def test_files_are_a_picture_twice_and_a_csv_per_table(tmp_path: Path) -> None:
    rows = [{"word": HOSTILE, "n": 1}, {"word": "=1+1", "n": None}]
    files = write(figure("epk14-fig1"), outcome(rows), tmp_path / "new")
    names = ["epk14-fig1.png", "epk14-fig1.svg", "epk14-fig1.csv", "epk14-fig1-more.csv"]
    assert [path.name for path in files] == names
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_text().startswith("<svg")
    assert r"bell\x07" in files[1].read_text()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)


def test_a_csv_cell_is_no_formula_and_unknown_is_empty() -> None:
    text = as_csv(
        Table.of_mappings("t", [{"word": "=1+1", "n": None}, {"word": 'a,"b"', "n": 0.1}])
    ).decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["word", "n"], ["'=1+1", ""], ['a,"b"', "0.1"]]


def test_numbers_of_the_same_name_stand_side_by_side() -> None:
    paper = {"storey": {"detected": 47}, "claim": "few", "range": [0.5, 1]}
    ours = {"storey": {"detected": 45.5, "false": None}, "large": 1234567.0, "all": True}
    assert compared(Outcome(paper, ours, {}, None)) == [
        ("storey detected", "47", "45.5"),
        ("storey false", "", "-"),
        ("large", "", "1,234,567"),
        ("all", "", "yes"),
        ("claim", "few", ""),
        ("range", "0.5, 1", ""),
    ]


def test_control_characters_of_data_do_not_reach_the_terminal() -> None:
    (row,) = compared(Outcome({HOSTILE: HOSTILE}, {}, {}, None))
    assert all(text.isprintable() for text in row)
