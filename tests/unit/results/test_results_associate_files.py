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
from deniable.results.charts.heat_map import heat_map_described
from deniable.results.labels import printable
from deniable.results.table import Table, as_arrow, as_text, save
from deniable.results.table.files import FORMATS, chart_svg, file_columns, render
from deniable.results.words.association import association_words, independence_sentence
from material.associations import associated, hostile, made_up, table
from material.results import HOSTILE

LABELS = (("red", "green"), ("fox", "owl", OTHER_LABEL))
PLAIN = made_up(LABELS)


def test_the_text_has_heading_words_table_certificate_and_notes() -> None:
    text = as_text(PLAIN)
    assert "asked (version 1)" in text
    assert "n = 10,000 reports, epsilon 4.5 once" in text
    assert "one and two depend on each other (moment test: 20.5 on 4 degrees" in text
    assert "p = 0.0004" in text
    assert "P(two | one)" in text
    assert "25.0%" in text  # 6 of 24
    assert "no table has a log-likelihood larger by more than 1e-07" in text
    assert r"note \x1b <i>" in text
    assert "\x07" not in text


def test_words_name_what_goes_together_and_what_cannot_be_seen() -> None:
    words = association_words(PLAIN)
    assert any("“red” with “fox” (odds ratio 2.2, 1.8 to 2.7)" in text for text in words.learned)
    assert any(text.startswith("(other) is everything") for text in words.not_learned)
    fit = {**PLAIN.about.more["fit"], "informative": False}
    silent = replace(PLAIN, about=replace(PLAIN.about, more={**PLAIN.about.more, "fit": fit}))
    assert association_words(silent).learned[0].startswith("Nothing was learned")


def test_a_test_is_said_as_it_turned_out() -> None:
    silent = made_up(LABELS, p_value=0.02, corrected=0.06)
    (weak,) = silent.parts["tests"].rows
    assert not any("by chance" in text for text in association_words(silent).learned)
    assert {row["frame"] for row in _data(silent.chart().to_dict())} == {"none"}
    assert "no evidence that one and two" in independence_sentence(weak)
    assert "p = 0.0600 corrected" in independence_sentence(weak)
    (unknown,) = made_up(LABELS, p_value=float("nan")).parts["tests"].rows
    assert "cannot be told" in independence_sentence(unknown)


def test_every_format_is_written(tmp_path: Path) -> None:
    starts = {"csv": b"one,", "json": b"{", "parquet": b"PAR1", "png": b"\x89PNG", "svg": b"<svg",
              "html": b"<!DOCTYPE html>"}  # fmt: skip
    assert starts.keys() == FORMATS.keys()
    for name, start in starts.items():
        save(PLAIN, tmp_path / f"a.{name}")
        assert (tmp_path / f"a.{name}").read_bytes().startswith(start)
    with pytest.raises(InvalidParameter, match="must end in one of"):
        save(PLAIN, tmp_path / "a.exe")
    assert len(list(tmp_path.iterdir())) == 6


def test_csv_json_and_parquet_hold_the_same_numbers(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(render(PLAIN, "csv").decode(), newline="")))
    cells = json.loads(render(PLAIN, "json"))["rows"]
    save(PLAIN, tmp_path / "a.parquet")
    table_rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert len(rows) == len(cells) == len(table_rows) == 6
    for row, cell, kept in zip(rows, cells, table_rows, strict=True):
        assert [row["one"], row["two"]] == [cell["one"], cell["two"]] == [kept["one"], kept["two"]]
        assert float(row["probability"]) == cell["probability"] == kept["probability"]
        assert float(row["odds_ratio"]) == kept["odds_ratio"]
        assert float(row["conditional_low"]) == kept["conditional_low"]


def test_an_arrow_table_of_an_association() -> None:
    read = as_arrow(PLAIN)
    about = json.loads(read.schema.metadata[b"deniable"])
    assert about["parts"]["tests"]["rows"][0]["dof"] == 4
    assert "rows" not in about
    assert read.column("two").to_pylist()[:3] == ["fox", "owl", OTHER_LABEL]
    assert read.column_names[:6] == ["one", "two", "probability", "std_error", "low", "high"]
    assert sum(read.column("probability").to_pylist()) == pytest.approx(1)
    odd = associated(table(np.full((2, 2), 0.25), (("a", "b"), ("c", "d")), ("low", "a")))
    assert file_columns(odd)[:2] == ("low_", "a")


def test_hostile_strings_stay_strings_everywhere() -> None:
    association = hostile()
    text = as_text(association, width=400)
    assert "\x1b[31m" not in text
    assert "\x00" not in text
    definition = association.chart().to_dict()
    for value in _strings(definition):
        assert value == printable(value)
    page = render(association, "html").decode()
    assert "<script>alert(1)</script>" not in page
    assert chart_svg(association, theme="dark", heading=False).startswith(b"<svg")
    rows = csv.reader(io.StringIO(render(association, "csv").decode(), newline=""))
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    read = json.loads(render(association, "json"))
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
    definition = PLAIN.chart().to_dict()
    data = _data(definition)
    assert len(data) == 6
    assert {(row["y"], row["x"]) for row in data} == {
        (one, two) for one in ("red", "green") for two in ("fox", "owl", OTHER_LABEL)
    }
    last = next(row for row in data if (row["y"], row["x"]) == ("green", OTHER_LABEL))
    assert last["shown"].startswith("25.0%")
    assert last["interval"] == "23.0 to 27.0"
    assert {row["frame"] for row in data} <= {"more", "less", "none"}
    assert heat_map_described(PLAIN).startswith("Heat map of the shares of 6 combinations")
    dark = PLAIN.chart(theme="dark", heading=False).to_dict()
    assert dark["background"] != definition["background"]
    assert "title" not in dark
    with pytest.raises(InvalidParameter, match="theme"):
        PLAIN.chart(theme="pink")


def _data(definition: dict[str, Any]) -> list[dict[str, Any]]:
    values = definition["data"]["values"]
    assert isinstance(values, list)
    return values


def test_three_fields_are_drawn_pair_by_pair() -> None:
    value = np.random.default_rng(1).dirichlet(np.ones(8)).reshape(2, 2, 2)
    joint = table(value, (("a", "b"), ("c", "d"), ("e", "f")), ("x", "y", "z"))
    three = associated(joint)
    assert list(three.parts) == ["tests", "x and y", "x and z", "y and z"]
    definition = three.chart().to_dict()
    assert len(definition["vconcat"]) == 3


def test_many_answers_have_no_numbers_in_their_squares() -> None:
    names = tuple(f"answer {i}" for i in range(50))
    wide: Table = made_up((("a", "b"), names))
    definition = wide.chart().to_dict()
    assert len(definition["layer"]) == 1
    assert len(PLAIN.chart().to_dict()["layer"]) == 3


def test_what_is_not_known_is_said_so() -> None:
    joint = table(np.full((2, 2), 0.25), (("a", "b"), ("c", "d")), ("x", "y"))
    nothing = np.full((2, 2), np.nan)
    unknown = associated(replace(joint, std_error=nothing, low=nothing, high=nothing))
    assert as_text(unknown).count("n/a") >= 8
    assert json.loads(render(unknown, "json"))["rows"][0]["interval"] == [None, None]
