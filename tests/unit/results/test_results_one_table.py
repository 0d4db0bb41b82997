"""One table: what its columns say decides every form, for kinds that nobody wrote a form for."""

from __future__ import annotations

import builtins
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.errors import InvalidParameter
from deniable.results.table import (
    UNLEARNED,
    About,
    Column,
    Row,
    Table,
    Tables,
    as_arrow,
    as_csv,
    as_json,
    as_text,
)
from deniable.results.table.columns import Columns
from deniable.results.table.html import rows_html
from material.results import hostile_result, result, row

SCHEMA = Path(__file__).parents[3] / "spec/schemas/table.json"
COLUMNS = (
    Column("name", "label", "name"),
    Column("people", "count", "people"),
    Column("share", "share", "share"),
    Column("std_error", "error", "std. error"),
    Column("interval", "interval", "95% interval"),
    Column("crafted_interval", "second_interval", "with 0.1 crafted"),
    Column("odds_interval", "interval", "odds", of="number"),
    Column("p_value", "p_value", "p-value"),
    Column("holm", "decision", "found", word="Holm"),
    Column("bh", "decision", "found", word="BH", otherwise="no"),
    Column("bits", "number", "bits"),
    Column("hidden", "number"),
)
FULL = ("a", 1_234, 0.25, 0.01, (0.23, 0.27), (0.1, 0.4), (1.5, 2.5), 0.03, False, True, 0.5, 7.0)
EMPTY = ("b", 0, math.nan, math.nan, UNLEARNED, None, None, math.nan, None, None, None, None)


def table(*rows: Sequence[Any]) -> Table:
    about = About("figure", crafted=0.1)
    return Table.of(about, COLUMNS, rows or (FULL, EMPTY), notes=("A note.",))


def test_text_follows_from_the_kinds() -> None:
    lines = {
        line.split()[0]: line.split() for line in as_text(table(), width=160).splitlines() if line
    }
    assert lines["a"] == [
        *("a", "1,234", "25.0%", "1.0%", "23.0%", "to", "27.0%", "10.0%", "to", "40.0%"),
        *("1.5", "to", "2.5", "0.0300", "BH", "0.5"),
    ]
    assert lines["b"] == ["b", "0", "n/a", "n/a", "n/a", "n/a"]


def test_json_has_every_column_and_fits_the_schema() -> None:
    read = json.loads(as_json(table()), parse_constant=pytest.fail)
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(read)
    full, empty = read["rows"]
    assert full["crafted_interval"] == [0.1, 0.4]
    assert (full["holm"], full["bh"], full["hidden"]) == (False, True, 7.0)
    assert (empty["share"], empty["interval"], empty["crafted_interval"]) == (
        None,
        [None, None],
        None,
    )
    assert [column["kind"] for column in read["columns"]] == [column.kind for column in COLUMNS]


def test_files_have_two_columns_for_an_interval() -> None:
    head, full, empty = as_csv(table()).decode().splitlines()
    assert head == (
        "name,people,share,std_error,low,high,crafted_low,crafted_high,odds_low,odds_high,"
        "p_value,holm,bh,bits,hidden"
    )
    assert full == "a,1234,0.25,0.01,0.23,0.27,0.1,0.4,1.5,2.5,0.03,False,True,0.5,7.0"
    assert empty == "b,0,,,,,,,,,,,,,"
    arrow = as_arrow(table())
    assert [str(kind) for kind in arrow.schema.types[:3]] == ["string", "int64", "double"]
    assert str(arrow.schema.field("holm").type) == "bool"
    assert as_arrow(Table.of(About("figure"), COLUMNS, [])).num_rows == 0


def test_a_notebook_shows_it_and_no_string_breaks_out() -> None:
    shown = table()._repr_html_()
    assert "<td>" not in shown.split("<tbody>")[0]
    assert '<th scope="row">a</th><td class="number">1,234</td>' in shown
    assert "<li>A note.</li>" in shown
    hostile = hostile_result()._repr_html_()
    assert "<script" not in hostile
    assert "<img" not in hostile
    assert "\x07" not in hostile
    assert "<script" not in rows_html(hostile_result(), caption="<script>")


def test_rows_that_do_not_stand_out_are_faint() -> None:
    shown = rows_html(result(row("sure", 0.5), row("rare", 0.001)))
    assert '<tr><th scope="row">sure</th>' in shown
    assert '<tr class="faint"><th scope="row">rare</th>' in shown


def test_rows_are_read_by_name_and_are_values() -> None:
    first, second = table().rows
    assert isinstance(first, Mapping)
    assert first.share == first["share"] == dict(first)["share"] == 0.25
    assert first == Row(Columns(COLUMNS), FULL)
    assert hash(first) == hash(Row(Columns(COLUMNS), FULL))
    assert "0.25" in repr(first)
    assert (first.learned, first.stands_out) == (True, True)
    assert not second.learned
    with pytest.raises(AttributeError, match="nothing"):
        _ = first.nothing


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="must have 12 cells"):
        table(("a", 1))


def test_a_column_takes_the_place_of_its_name_or_comes_last() -> None:
    bare = Column("bits", "number", "bits")
    changed = table().with_column(bare, [1.0, 2.0])
    assert changed.column("bits") == [1.0, 2.0]
    assert len(changed.columns) == len(COLUMNS)
    assert len(table().with_column(replace(bare, name="new"), [1.0, 2.0]).columns) == 13
    truth = result(row("a", 0.3), row("b", 0.2)).with_truth({"a": 0.31})
    assert truth.column("truth") == [0.31, None]
    assert "31.0%" in as_text(truth)


def test_a_table_without_a_picture_says_so(tmp_path: Path) -> None:
    for end in ("png", "svg", "html"):
        with pytest.raises(InvalidParameter, match="There is no picture of this"):
            table().save(tmp_path / f"x.{end}")
    assert not list(tmp_path.iterdir())


def test_a_data_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *arguments, **named)

    class Arrow:
        def to_pandas(self) -> Any:
            return __import__("pandas")

    monkeypatch.setattr(Table, "to_arrow", lambda _: Arrow())
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidParameter, match="pandas, which is not installed") as error:
        table().to_pandas()
    assert "pip install pandas" in str(error.value)


def test_tables_of_several_fields_stand_apart(tmp_path: Path) -> None:
    one, two = (result(row("x", 0.3), field=name) for name in ("first", "second"))
    both = Tables([one, two])
    assert set(both.as_json()["fields"]) == {"first", "second"}
    assert "asked.second" in both.text()
    both.save(tmp_path / "deep" / "shares.csv")
    names = sorted(path.name for path in (tmp_path / "deep").iterdir())
    assert names == ["shares-first.csv", "shares-second.csv"]
    assert Tables([one]).as_json() == one.as_json()


def test_records_become_columns_by_what_they_hold() -> None:
    found = Table.of_mappings("figure", [{"word": "=1", "n": None}, {"word": "b", "n": 2}])
    assert [column.kind for column in found.columns] == ["label", "number"]
    assert as_csv(found) == b"word,n\r\n'=1,\r\nb,2\r\n"
    assert as_csv(Table.of_mappings("figure", [])) == b"\r\n"
