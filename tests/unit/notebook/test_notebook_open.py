"""dn.open: every kind of place, every way to ask, and tables that go on into a notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import deniable as dn
from deniable.errors import InvalidParameter, StoreError
from deniable.notebook import Asked
from deniable.results.table import Table, Tables
from deniable.store import Batch, open_store
from material.cluster import Cluster
from material.commands import call
from material.segmented import SURVEY as SEGMENTED
from material.store_kinds import PostgresStores
from material.surveys import BOOLEAN, asked, categories, listed, profile, several, survey, unlisted

COLOURS = categories("red", "green", "blue")
SURVEY = survey(
    asked("dark"),
    asked("page", listed("pages.txt"), "rappor", "epsilon = 4.0"),
    asked("size", '{ type = "numbers", edges = [0, 1, 2, 4] }', "krr", "epsilon = 4.0"),
    several("two", ("a", BOOLEAN, "krr", "epsilon = 3.0"), ("b", COLOURS, "krr", "epsilon = 3.0")),
    profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", BOOLEAN)),
    asked("word", unlisted("abcdefgh"), "prefixes", "epsilon = 4.0"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as people have it: survey.json, its candidates, and data."""
    made = tmp_path_factory.mktemp("project")
    (made / "survey.toml").write_text(SURVEY)
    (made / "pages.txt").write_text("news\nmail\nmaps\n")
    (made / "words.txt").write_text("abba\nhead\nbeef\n")
    survey_json = made / "survey.json"
    call("publish", made / "survey.toml", "--output", survey_json)
    known = ("--survey", survey_json, "--data", made / "data", "--people", 3_000, "--seed", 1)
    for question in ("dark", "page", "size", "two", "many"):
        call("simulate", question, *known)
    call("simulate", "word", *known, "--candidates", made / "words.txt")
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> dn.Data:
    return dn.open(folder / "data")


def one(table: Table | Tables) -> Table:
    assert isinstance(table, Table)
    return table


def test_a_folder_is_opened_with_the_survey_beside_it(data: dn.Data) -> None:
    assert [question.newest.id for question in data] == [
        "dark",
        "page",
        "size",
        "two",
        "many",
        "word",
    ]
    assert len(data) == 6
    assert data["dark"].reports == 3_000
    assert data.overview().column("reports") == [3_000] * 6
    assert "<table>" in data._repr_html_()
    assert "dark" in repr(data)


def test_an_estimate_is_that_of_the_command(data: dn.Data, folder: Path) -> None:
    place = ("--survey", folder / "survey.json", "--data", folder / "data", "--json")
    told = json.loads(call("estimate", "page", *place))
    assert one(data["page"].estimate()).as_json() == told


def test_a_table_goes_on_into_frames(data: dn.Data) -> None:
    table = data["page"].estimate()
    frame, other, arrow = table.to_pandas(), table.to_polars(), table.to_arrow()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(other, pl.DataFrame)
    assert list(frame["value"]) == other["value"].to_list() == arrow["value"].to_pylist()
    assert list(zip(frame["low"], frame["high"], strict=True)) == table.interval


def test_several_fields_are_several_tables_that_go_on_as_one(data: dn.Data, folder: Path) -> None:
    tables = data["two"].estimate()
    assert isinstance(tables, Tables)
    assert list(tables.to_pandas()["field"]) == ["a"] * 2 + ["b"] * 3
    assert tables.to_polars().height == tables.to_arrow().num_rows == 5
    assert tables.interval == {name: tables.field(name).interval for name in ("a", "b")}
    assert tables._repr_html_().count("<table>") == 2
    assert "red" in repr(tables)
    assert tables.chart()._repr_svg_().startswith("<svg")
    with pytest.raises(InvalidParameter, match="There is no table of 'c'"):
        tables.field("c")
    tables.save(folder / "two.csv")
    assert (folder / "two-b.csv").is_file()


def test_every_way_to_ask_gives_a_table(data: dn.Data) -> None:
    dark, many = data["dark"], data["many"]
    assert one(dark.estimate(by="epoch")).about.kind == "trend"
    assert one(data["size"].numbers(quantiles=[0.1], above=[2])).rows
    assert data["two"].associate("b", "a").about.field == "b, a"
    assert data["two"].associate(given=["a"]).rows
    assert many.table("x", "y").column("attribute_2") == ["y"] * 4
    assert many.table("x", given="y").about.more["given"] == {"y": None}
    assert many.table(order=1, by="epoch").rows
    assert many.pairs().rows
    assert many.tree().rows
    assert many.table("x", "y", tree=True).rows
    assert one(data["word"].discover(matching="a.*")).about.kind == "discovery"
    assert one(data["word"].estimate(candidates=["abba", "head"])).column("value")


def test_options_are_those_that_were_named(data: dn.Data) -> None:
    dark = data["dark"]
    plain, wide = one(dark.estimate()), one(dark.estimate(confidence=0.999, of="reporters"))
    assert wide.about.level == 0.999
    assert wide.about.of == "reporters"
    assert wide.interval != plain.interval
    assert one(dark.estimate(crafted=0.01)).about.crafted == 0.01
    assert one(dark.estimate(until="2001-01-01")).about.n == 0
    assert one(dark.estimate(since="2001-01-01")).about.n == 3_000
    assert one(dark.estimate(truth={"value": {"true": 0.5, "false": 0.5}})).column("truth")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"were": {}}, "Did you mean 'where'"),
        ({"where": {"platform": "linux"}}, "has no segment 'platform'"),
        ({"since": "yesterday"}, "written as 2026-11-30"),
        ({"since": "2026-11-02", "until": "2026-11-01"}, "must not be after"),
        ({"epoch": 1, "since": "2026-11-01"}, "either epoch"),
        ({"fields": ["b"]}, "has no field 'b'"),
    ],
)
def test_a_wrong_wish_names_itself(data: dn.Data, wrong: dict[str, object], words: str) -> None:
    with pytest.raises((InvalidParameter, TypeError), match=words):
        Asked.estimate(data["dark"], **wrong)  # type: ignore[arg-type]


def test_an_unknown_question_is_guessed(data: dn.Data) -> None:
    with pytest.raises(InvalidParameter, match="Did you mean 'page'"):
        data["pag"]
    with pytest.raises(InvalidParameter, match="A table has attributes, or an order"):
        data["many"].table(tree=True)


def test_a_chart_shows_by_itself_and_loads_nothing(data: dn.Data, tmp_path: Path) -> None:
    chart = data["dark"].estimate().chart()
    svg = chart._repr_svg_()
    assert svg.startswith("<svg")
    assert "<script" not in svg
    assert "src=" not in svg
    assert chart.properties(width=300).width == 300
    for end in ("svg", "png", "html"):
        chart.save(tmp_path / f"chart.{end}")
        assert (tmp_path / f"chart.{end}").stat().st_size > 1_000
    with pytest.raises(InvalidParameter, match="must end in"):
        chart.save(tmp_path / "chart.pdf")


def test_a_table_has_a_short_repr(data: dn.Data) -> None:
    told = repr(data["dark"].estimate())
    assert "true" in told
    assert len(told.splitlines()) < 20
    with pytest.raises(InvalidParameter, match="no intervals"):
        _ = data.overview().interval


def test_a_counts_file_answers_like_its_store(data: dn.Data, folder: Path) -> None:
    place = ("--survey", folder / "survey.json", "--data", folder / "data")
    call("count", "page", *place, "-o", folder / "page.counts")
    counts = dn.open(folder / "page.counts")
    assert list(counts.questions) == ["page"]
    assert counts.overview().column("reports") == [3_000]
    assert counts["page"].estimate().interval == data["page"].estimate().interval


def test_an_archive_answers_like_its_store(data: dn.Data, folder: Path) -> None:
    with open_store(folder / "data") as store:
        store.close_question("size")
    place = ("--survey", folder / "survey.json", "--data", folder / "data")
    call("export", "--archive", folder / "kept", *place)
    archive = dn.open(str(folder / "kept"))
    assert archive["size"].estimate().interval == data["size"].estimate().interval


def test_a_database_answers_like_a_folder(data: dn.Data, folder: Path, cluster: Cluster) -> None:
    stores = PostgresStores(cluster, "tnotebook")
    try:
        question = data["dark"].newest
        batch = Batch("dark", 1, question.digest, 100)
        with stores.make("s") as store:
            size = question.record_size
            records = b"".join((i % 2).to_bytes(size, "little") for i in range(200))
            store.append_records(batch, records, size)
        asked_there = dn.open(stores.place("s"), survey=folder / "survey.json")["dark"]
        assert asked_there.reports == 200
        assert one(asked_there.estimate()).about.n == 200
    finally:
        stores.end()
    with pytest.raises(InvalidParameter, match="password"):
        dn.open("postgresql://me:secret@127.0.0.1/db", survey=folder / "survey.json")


def test_a_place_without_data_or_survey_says_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="No published survey was found"):
        dn.open(tmp_path / "data")
    with pytest.raises(StoreError, match="There is nothing at"):
        dn.open(tmp_path / "data", survey=folder / "survey.json")
    with pytest.raises(InvalidParameter, match="holds no counts"):
        dn.open(folder / "pages.txt")


def test_levels_are_pooled(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SEGMENTED)
    call("publish", tmp_path / "survey.toml", "--output", tmp_path / "survey.json")
    place = ("--survey", tmp_path / "survey.json", "--data", tmp_path / "data")
    call("simulate", "dark", "colour", *place, "--people", 40_000, "--seed", 2)
    data = dn.open(tmp_path / "data")
    assert data["colour"].reports == 40_000
    assert one(data["colour"].estimate()).about.n == 40_000
    strict = data.question("colour", level="strict")
    assert 0 < one(strict.estimate(by="platform", where={"platform": "linux"})).about.n < 40_000
    assert one(data["dark"].compare("platform", against="mac")).about.kind == "comparison"
    pooled = one(data["colour"].estimate(by="platform"))
    assert sum(group["n"] for group in pooled.about.more["groups"]) == 40_000  # type: ignore[attr-defined]


def test_the_package_loads_a_name_when_it_is_asked_for() -> None:
    program = (
        "import sys, deniable as dn; dir(dn); first = set(sys.modules); dn.mechanisms.KRR; "
        "print(len([n for n in first if n.startswith('deniable')]), 'numpy' in first)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"2", b"False"]
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        _ = dn.opne  # type: ignore[attr-defined]
