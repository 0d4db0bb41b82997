"""An association as text, words, picture and file, also where its strings are hostile."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable.associate import OTHER_LABEL
from deniable.errors import InvalidParameter
from deniable.results import Association, association_as_text, save_association, to_arrow
from deniable.results.associate_chart import association_chart, association_described
from deniable.results.associate_files import association_svg, columns_of, render_association
from deniable.results.associate_result import Cell
from deniable.results.associate_table import interval_text
from deniable.results.associate_words import association_in_words, pair_sentence
from deniable.results.files import FORMATS
from deniable.results.labels import printable
from material.associations import hostile, made_up, table
from material.results import HOSTILE

PLAIN = made_up((("red", "green"), ("fox", "owl", OTHER_LABEL)))


def test_the_text_has_heading_words_table_certificate_and_notes() -> None:
    text = association_as_text(PLAIN)
    assert "asked (version 1)" in text
    assert "n = 10,000 reports, epsilon 4.5 once" in text
    assert "one and two depend on each other (moment test: 20.5 on 4 degrees" in text
    assert "p = 0.0004" in text
    assert "P(two | one)" in text
    assert "28.6%" in text  # 6 of 21
    assert "no table has a log-likelihood larger by more than 1e-07" in text
    assert r"note \x1b <i>" in text
    assert "\x07" not in text


def test_words_name_what_goes_together_and_what_cannot_be_seen() -> None:
    words = association_in_words(PLAIN)
    assert any("“red” with “fox” (odds ratio 3, 2 to 4.5)" in text for text in words.learned)
    assert any(text.startswith("(other) is everything") for text in words.not_learned)
    silent = replace(PLAIN, joint=replace(PLAIN.joint, informative=False))
    assert any("no information" in text for text in association_in_words(silent).not_learned)


def test_a_test_is_said_as_it_turned_out() -> None:
    pair = PLAIN.pairs[0]
    weak = replace(pair, test=replace(pair.test, p_value=0.02), holm=0.06)
    silent = replace(PLAIN, pairs=(weak,))
    assert not any("by chance" in text for text in association_in_words(silent).learned)
    assert {row["frame"] for row in _data(association_chart(silent).to_dict())} == {"none"}
    assert "no evidence that one and two" in pair_sentence(weak)
    assert "p = 0.0600 corrected" in pair_sentence(weak)
    unknown = replace(pair, test=replace(pair.test, p_value=float("nan")))
    assert "cannot be told" in pair_sentence(unknown)


def test_every_format_is_written(tmp_path: Path) -> None:
    starts = {"csv": b"one,", "json": b"{", "parquet": b"PAR1", "png": b"\x89PNG", "svg": b"<svg",
              "html": b"<!DOCTYPE html>"}  # fmt: skip
    assert starts.keys() == FORMATS.keys()
    for name, start in starts.items():
        save_association(PLAIN, tmp_path / f"a.{name}")
        assert (tmp_path / f"a.{name}").read_bytes().startswith(start)
    with pytest.raises(InvalidParameter, match="must end in one of"):
        save_association(PLAIN, tmp_path / "a.exe")
    assert len(list(tmp_path.iterdir())) == 6


def test_csv_json_and_parquet_hold_the_same_numbers(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(render_association(PLAIN, "csv").decode(), newline="")))
    cells = json.loads(render_association(PLAIN, "json"))["cells"]
    save_association(PLAIN, tmp_path / "a.parquet")
    table_rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert len(rows) == len(cells) == len(table_rows) == 6
    for row, cell, kept in zip(rows, cells, table_rows, strict=True):
        assert [row["one"], row["two"]] == cell["values"] == [kept["one"], kept["two"]]
        assert float(row["probability"]) == cell["probability"] == kept["probability"]
        assert float(row["odds_ratio"]) == kept["odds_ratio"]
        assert float(row["conditional_low"]) == kept["conditional_low"]


def test_an_arrow_table_of_a_joint_distribution_or_an_association() -> None:
    read = to_arrow(PLAIN)
    about = json.loads(read.schema.metadata[b"deniable"])
    assert about["tests"][0]["dof"] == 4
    assert "cells" not in about
    assert read.column("two").to_pylist()[:3] == ["fox", "owl", OTHER_LABEL]
    plain = to_arrow(PLAIN.joint)
    assert plain.column_names == ["one", "two", "probability", "std_error", "low", "high"]
    assert sum(plain.column("probability").to_pylist()) == pytest.approx(1)
    assert columns_of(("low", "a")) == ("low_", "a")


def test_hostile_strings_stay_strings_everywhere() -> None:
    association = hostile()
    text = association_as_text(association, width=400)
    assert "\x1b[31m" not in text
    assert "\x00" not in text
    definition = association_chart(association).to_dict()
    for value in _strings(definition):
        assert value == printable(value)
    page = render_association(association, "html").decode()
    assert "<script>alert(1)</script>" not in page
    assert association_svg(association, theme="dark", heading=False).startswith(b"<svg")
    rows = csv.reader(io.StringIO(render_association(association, "csv").decode(), newline=""))
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    read = json.loads(render_association(association, "json"))
    assert read["labels"]["one"] == list(HOSTILE)


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []


def test_the_heat_map_has_a_square_per_cell_with_its_interval() -> None:
    definition = association_chart(PLAIN).to_dict()
    data = _data(definition)
    assert len(data) == 6
    assert {(row["y"], row["x"]) for row in data} == {
        (one, two) for one in ("red", "green") for two in ("fox", "owl", OTHER_LABEL)
    }
    last = next(row for row in data if (row["y"], row["x"]) == ("green", OTHER_LABEL))
    assert last["share"].startswith("28.6%")
    assert last["interval"] == "26.6 to 30.5"
    assert {row["frame"] for row in data} <= {"more", "less", "none"}
    assert association_described(PLAIN).startswith("Heat map of the shares of 6 combinations")
    dark = association_chart(PLAIN, theme="dark", heading=False).to_dict()
    assert dark["background"] != definition["background"]
    assert "title" not in dark
    with pytest.raises(InvalidParameter, match="theme"):
        association_chart(PLAIN, theme="pink")


def _data(definition: dict[str, Any]) -> list[dict[str, Any]]:
    values = definition["data"]["values"]
    assert isinstance(values, list)
    return values


def test_three_fields_are_drawn_pair_by_pair() -> None:
    value = np.random.default_rng(1).dirichlet(np.ones(8)).reshape(2, 2, 2)
    joint = table(value, (("a", "b"), ("c", "d"), ("e", "f")), ("x", "y", "z"))
    three = replace(PLAIN, joint=joint, fields=("x", "y", "z"), odds=None)
    definition = association_chart(three).to_dict()
    assert len(definition["vconcat"]) == 3


def test_many_answers_have_no_numbers_in_their_squares() -> None:
    names = tuple(f"answer {i}" for i in range(50))
    wide: Association = made_up((("a", "b"), names))
    definition = association_chart(wide).to_dict()
    assert len(definition["layer"]) == 1
    assert len(association_chart(PLAIN).to_dict()["layer"]) == 3


def test_what_is_not_known_is_said_so() -> None:
    unknown = Cell(("a", "b"), 0.5, float("nan"), (float("nan"), float("nan")))
    assert interval_text(unknown, 0.1) == "n/a"
    assert unknown.as_json()["interval"] == [None, None]
