"""Results as files: what is read back is what was written."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from deniable.errors import InvalidParameter
from deniable.results.table import Table, as_arrow, as_csv, as_json, as_parquet, save
from deniable.results.table.files import FORMATS, file_columns
from deniable.results.whole_files import whole_file
from material.results import HOSTILE, UNKNOWN, hostile_result, result, row, row_with_test

SMALL = result(row("a", 0.25, truth=0.26), row('b, "c"', -0.01), UNKNOWN)


def read_csv(shown: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(shown).decode(), newline="")))


def test_csv_holds_every_number_in_full() -> None:
    first, second, third = read_csv(SMALL)
    assert tuple(first) == file_columns(SMALL)
    assert (first["value"], second["value"]) == ("a", 'b, "c"')
    assert float(first["frequency"]) == 0.25
    assert float(first["low"]) == SMALL.rows[0].interval[0]
    assert float(first["truth"]) == 0.26
    assert (first["n"], float(first["epsilon_once"])) == ("10000", 1.074286)
    assert second["truth"] == ""
    assert (third["frequency"], third["std_error"], third["low"]) == ("", "", "")


def test_every_file_holds_the_test_and_the_point_estimates() -> None:
    shown = result(row_with_test("a", 0.4, holm=False, storey=True), row("b", 0.1))
    first, second = as_arrow(shown).to_pylist()
    assert (first["z"], first["p_value"], first["holm"], first["storey"]) == (
        40,
        0.0123,
        False,
        True,
    )
    assert (first["selected_low"], first["likely"], first["smoothed"]) == (0.37, 0.4, None)
    assert (second["z"], second["holm"], second["selected_low"]) == (None, None, None)
    cells = read_csv(shown)[0]
    assert (cells["holm"], cells["storey"], cells["likely"]) == ("False", "True", "0.4")
    read = json.loads(as_json(shown))["rows"]
    assert (read[0]["likely"], read[0]["smoothed"]) == (0.4, None)
    assert read[0]["selected_interval"] == pytest.approx([0.37, 0.43])
    assert (read[1]["p_value"], read[1]["storey"]) == (None, None)


def test_csv_follows_rfc_4180() -> None:
    data = as_csv(SMALL)
    assert data.count(b"\r\n") == data.count(b"\n") == 4
    assert b'"b, ""c"""' in data


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_is_a_formula(start: str) -> None:
    (cells,) = read_csv(result(row(f"{start}1+1", 0.1)))
    assert cells["value"] == f"'{start}1+1"


def test_csv_keeps_ordinary_strings_exactly() -> None:
    values = [cells["value"] for cells in read_csv(hostile_result())]
    assert [v for v in values if not v.startswith("'")] == [
        *(v for v in HOSTILE if not v.startswith(("=", "-"))),
        "unknown",
    ]


def test_json_holds_exact_strings_and_null_for_what_is_unknown() -> None:
    read = json.loads(as_json(hostile_result()), parse_constant=pytest.fail)
    assert [shown["value"] for shown in read["rows"]] == [*HOSTILE, "unknown"]
    assert read["rows"][-1]["frequency"] is None
    assert read["rows"][-1]["interval"] == [None, None]


def test_parquet_holds_exact_strings_types_and_the_rest_of_the_result() -> None:
    table = pq.read_table(io.BytesIO(as_parquet(hostile_result())))
    assert table.column_names == list(file_columns(hostile_result()))
    assert table.column("value").to_pylist() == [*HOSTILE, "unknown"]
    assert table.column("frequency").to_pylist()[-1] is None
    assert table.column("n").to_pylist() == [10_000] * table.num_rows
    summary = json.loads(table.schema.metadata[b"deniable"])
    assert summary["notes"] == ["note \x1b <i>"]
    assert "rows" not in summary


def test_arrow_has_the_numbers() -> None:
    table = as_arrow(SMALL)
    assert table.column("frequency").to_pylist() == [0.25, -0.01, None]
    assert table.column("high").to_pylist()[0] == SMALL.rows[0].interval[1]
    assert math.isclose(table.column("truth").to_pylist()[0], 0.26)


@pytest.mark.parametrize("name", FORMATS)
def test_save_writes_what_the_name_says(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"result.{name.upper()}"
    save(SMALL, path)
    starts = {
        "csv": b"question,",
        "json": b"{",
        "parquet": b"PAR1",
        "png": b"\x89PNG",
        "svg": b"<svg",
        "html": b"<!DOCTYPE html>",
    }
    assert path.read_bytes().startswith(starts[name])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["result.txt", "result", ".csv"])
def test_save_refuses_other_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameter, match="csv, json, parquet, png, svg, html"):
        save(SMALL, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_an_error_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail_half_way() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
