"""deniable marginals from survey.toml to tables, tests, trees, records and files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from deniable.errors import InvalidParameter
from material.commands import call
from material.surveys import BOOLEAN, TRIPS, asked, categories, profile, survey

PEOPLE = 60_000
SURVEY = survey(
    profile(
        "trips",
        "MECHANISM",
        "epsilon = 3.0, order = 2",
        *TRIPS,
        ("zone", categories("inner", "outer", "far <b>")),
        ("night", BOOLEAN),
        description="How was the trip?",
    ),
    asked("plain"),
)


def publish(folder: Path, mechanism: str) -> None:
    (folder / "survey.toml").write_text(SURVEY.replace("MECHANISM", mechanism))
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("marginals")
    publish(path, "auto")
    call("simulate", "trips", "--people", PEOPLE, "--seed", 1, *places(path))
    return path


def places(folder: Path) -> tuple[object, ...]:
    return ("--survey", folder / "survey.json", "--data", folder / "data")


def asked(folder: Path, *arguments: object) -> dict[str, Any]:
    found = json.loads(call("marginals", "trips", *arguments, "--json", *places(folder)))
    assert isinstance(found, dict)
    return found


def test_a_table_of_named_attributes(folder: Path) -> None:
    found = asked(folder, "--attributes", "tip", "zone")
    assert found["attributes"] == ["tip", "zone"]
    assert found["collected"] == {"attributes": ["card", "tip", "zone", "night"], "order": 2}
    assert found["n"] == PEOPLE
    rows = found["rows"]
    assert [(row["value_1"], row["value_2"]) for row in rows[:2]] == [
        ("false", "inner"),
        ("false", "outer"),
    ]
    assert len(rows) == 6
    assert sum(row["smoothed"] for row in rows) == pytest.approx(1)
    for row in rows:
        low, high = row["interval"]
        assert low < row["raw"] < high
        assert row["std_error"] > 0
        # Five standard errors: shrinking moves a share by less.
        assert row["smoothed"] == pytest.approx(row["raw"], abs=5 * row["std_error"])
    turned = asked(folder, "--attributes", "zone", "tip")["rows"]
    assert (turned[1]["attribute_1"], turned[1]["value_1"]) == ("zone", "inner")
    assert (turned[1]["attribute_2"], turned[1]["value_2"]) == ("tip", "true")
    assert turned[1]["raw"] == pytest.approx(rows[3]["raw"])
    assert turned[1]["smoothed"] == pytest.approx(rows[3]["smoothed"])


def titles(found: dict[str, Any]) -> list[str]:
    return [column["title"] for column in found["columns"] if column["title"]]


def test_raw_or_smoothed_alone(folder: Path) -> None:
    raw = asked(folder, "--attributes", "tip", "--raw")
    assert (raw["kind"], raw["shown"]) == ("profiles", "raw")
    assert titles(raw) == ["tip", "raw", "std. error", "95% interval"]
    smoothed = asked(folder, "--attributes", "tip", "--smoothed")
    assert titles(smoothed) == ["tip", "smoothed"]
    text = call("marginals", "trips", "--attributes", "tip", *places(folder))
    assert "raw: unbiased" in text
    assert "smoothed: a distribution" in text


def test_a_second_bar_for_crafted_reports(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    found = asked(folder, "--attributes", "tip", "zone", "--crafted", 0.01, "-o", file)
    assert found["crafted"] == 0.01
    for row in found["rows"]:
        low, high = row["crafted_interval"]
        assert low < row["interval"][0] < row["interval"][1] < high
        assert row["crafted_smoothed"][0] < row["smoothed"] < row["crafted_smoothed"][1]
    assert any("added at both ends" in note for note in found["notes"])
    assert "crafted_low" in file.read_text()
    one = asked(folder, "--attributes", "zone", "--raw", "--crafted", 0.01)
    estimated = json.loads(call("estimate", "trips", "--crafted", 0.01, "--json", *places(folder)))
    by_value = {row["value"]: row["crafted_interval"] for row in estimated["rows"]}
    for row in one["rows"]:
        expected = by_value[f"zone={row['value_1']}"]
        assert row["crafted_interval"] == pytest.approx(expected)
    text = call("marginals", "trips", "--crafted", 0.01, *places(folder))
    assert "with 0.01 crafted" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("--crafted", "1.5"),
        ("--crafted", "-0.1"),
        ("--crafted", "many"),
        ("--sample", "5", "--crafted", "0.01"),
    ],
)
def test_a_second_bar_that_cannot_be(folder: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="Usage"):
        asked(folder, *arguments)


def test_every_kind_of_table_has_a_second_bar(folder: Path) -> None:
    given = asked(folder, "--attributes", "tip", "--given", "zone", "--crafted", 0.01)
    for row in given["rows"]:
        assert row["crafted_interval"][0] < row["interval"][0]
    smoothed = asked(folder, "--attributes", "tip", "--smoothed", "--crafted", 0.01)
    for row in smoothed["rows"]:
        assert row["crafted_smoothed"][0] < row["smoothed"] < row["crafted_smoothed"][1]


def test_pairs_and_tree_have_a_second_bar(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    found = asked(folder, "--pairs", "--crafted", 0.01, "-o", file)
    assert found["crafted"] == 0.01
    assert len(found["rows"]) == 6
    for row in found["rows"]:
        assert row["crafted_p_value"][0] <= row["p_value"] <= row["crafted_p_value"][1]
        low, high = row["crafted_information"]
        assert low <= row["information"] <= high
        assert not row["crafted_holm"] or row["holm"]
    assert "crafted_raw_low" in file.read_text()
    assert "still dependent for sure" in found["notes"][0]
    tree = asked(folder, "--tree", "--crafted", 0.01)
    assert tree["crafted"] == 0.01
    for edge in tree["rows"]:
        low, high = edge["crafted_information"]
        assert low <= edge["information"] <= high
        assert isinstance(edge["crafted_stays"], bool)
        assert " and " in edge["rival"]
    text = call("marginals", "trips", "--tree", "--crafted", 0.01, *places(folder))
    assert "edges stay: " in text
    assert "crafted" not in json.dumps(asked(folder, "--tree")["rows"])
    assert "crafted" not in json.dumps(asked(folder, "--pairs")["rows"])


def test_shares_given_others(folder: Path) -> None:
    found = asked(folder, "--attributes", "tip", "--given", "zone")
    assert found["given"] == {"zone": None}
    rows = found["rows"]
    for zone in ("inner", "outer", "far <b>"):
        shares = [row["smoothed"] for row in rows if row["value_2"] == zone]
        assert sum(shares) == pytest.approx(1)
    one = asked(folder, "--attributes", "tip", "--given", "zone=far <b>")["rows"]
    assert one == [row for row in rows if row["value_2"] == "far <b>"]
    with pytest.raises(InvalidParameter, match="has no answer 'moon'"):
        asked(folder, "--attributes", "tip", "--given", "zone=moon")


def test_all_tables_of_an_order_are_one_table(folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"all.{end}" for end in ("csv", "parquet", "json")]
    outputs = [word for file in files for word in ("-o", file)]
    found = asked(folder, "--order", 2, *outputs)
    assert found["tables"] == 6
    table = pq.read_table(files[1])
    assert table.num_rows == 3 * 4 + 3 * 6
    assert table.column_names[:8] == [
        *("question", "version", "n", "simulated"),
        *("attribute_1", "value_1", "attribute_2", "value_2"),
    ]
    sums: dict[tuple[str, str], float] = {}
    for row in table.to_pylist():
        pair = (row["attribute_1"], row["attribute_2"])
        sums[pair] = sums.get(pair, 0) + row["smoothed"]
    assert all(total == pytest.approx(1) for total in sums.values())
    with files[0].open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 30
    assert json.loads(files[2].read_text()) == found
    assert asked(folder)["rows"] == asked(folder, "--order", 1)["rows"]


def test_every_pair_is_tested(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "heat.svg"
    found = asked(folder, "--pairs", "-o", picture)
    assert len(found["rows"]) == 6
    by_pair = {(row["first"], row["second"]): row for row in found["rows"]}
    # Neighbours in the survey depend on each other in a made-up crowd.
    assert by_pair["card", "tip"]["holm"]
    assert by_pair["card", "tip"]["raw_correlation"] > 0.2
    assert by_pair["card", "tip"]["smoothed_correlation"] > 0.2
    assert by_pair["tip", "zone"]["raw_correlation"] is None  # Cramer's V has no unbiased form
    assert by_pair["tip", "zone"]["degrees"] == 2
    assert picture.read_bytes().startswith(b"<svg")
    text = call("marginals", "trips", "--pairs", *places(folder))
    assert "Holm" in text


def test_the_tree_and_questions_to_it(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "tree.html"
    found = asked(folder, "--tree", "-o", page)
    edges = {(edge["first"], edge["second"]) for edge in found["rows"]}
    assert edges == {("card", "tip"), ("tip", "zone"), ("zone", "night")}
    assert all(0 <= edge["confidence"] <= 1 for edge in found["rows"])
    assert b"card" in page.read_bytes()
    joint = asked(folder, "--tree", "--attributes", "card", "zone", "night")
    assert joint["kind"] == "along_tree"
    assert len(joint["rows"]) == 12
    assert sum(row["along_tree"] for row in joint["rows"]) == pytest.approx(1)
    given = asked(folder, "--tree", "-a", "card", "-g", "zone=inner", "night=false")["rows"]
    assert sum(row["along_tree"] for row in given) == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="zone=LEVEL"):
        asked(folder, "--tree", "-a", "card", "-g", "zone")


def test_shares_along_the_tree_have_a_second_bar(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "shares.csv"
    wanted = ("--tree", "--attributes", "card", "night", "--given", "zone=inner")
    plain = asked(folder, *wanted)
    found = asked(folder, *wanted, "--crafted", 0.01, "-o", file)
    assert found["crafted"] == 0.01
    for row, same in zip(found["rows"], plain["rows"], strict=True):
        assert row["along_tree"] == same["along_tree"]
        assert 0 <= row["crafted_interval"][0] < row["along_tree"] < row["crafted_interval"][1] <= 1
    assert "crafted_low" in file.read_text().splitlines()[0]
    none = asked(folder, *wanted, "--crafted", 0)["rows"]
    assert all(row["crafted_interval"] == [row["along_tree"]] * 2 for row in none)
    text = call("marginals", "trips", *wanted, "--crafted", 0.01, *places(folder))
    assert "with 0.01 crafted" in text
    assert "A search, no bound" in " ".join(text.split())


def test_synthetic_records(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    found = asked(folder, "--sample", 500, "--seed", 3, "-o", file)
    assert len(found["rows"]) == 500
    assert set(found["rows"][0]) == {"card", "tip", "zone", "night"}
    assert "cost no further epsilon" in found["notes"][0]
    assert found["rows"] == asked(folder, "--sample", 500, "--seed", 3)["rows"]
    with file.open(newline="") as lines:
        assert len(list(csv.reader(lines))) == 501
    with pytest.raises(InvalidParameter, match="There is no picture of this"):
        asked(folder, "--sample", 5, "-o", tmp_path / "x.png")


def test_what_was_not_collected_is_refused(folder: Path, tmp_path: Path) -> None:
    publish(tmp_path, "coefficients")
    call("simulate", "trips", "--people", 500, "--seed", 1, *places(tmp_path))
    with pytest.raises(InvalidParameter, match="hold tables of 1 to 2 of its 4 attributes"):
        asked(tmp_path, "--attributes", "card", "tip", "zone")
    with pytest.raises(InvalidParameter, match="has no attribute 'moon'"):
        asked(folder, "--attributes", "moon")
    with pytest.raises(InvalidParameter, match="Name each attribute once"):
        asked(folder, "--attributes", "tip", "tip")
    with pytest.raises(InvalidParameter, match="not about many attributes"):
        call("marginals", "plain", *places(folder))
    with pytest.raises(InvalidParameter, match="must end in one of csv"):
        asked(folder, "--attributes", "tip", "-o", tmp_path / "x.txt")


def test_no_reports_yet(tmp_path: Path) -> None:
    publish(tmp_path, "auto")
    call("simulate", "plain", "--people", 10, *places(tmp_path))
    with pytest.raises(InvalidParameter, match="no reports to 'trips' yet"):
        asked(tmp_path, "--attributes", "tip")


@pytest.mark.parametrize(
    "arguments",
    [("--pairs", "--tree"), ("--order", "2", "--attributes", "tip"), ("--given", "tip")],
)
def test_what_cannot_go_together(folder: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="Usage"):
        asked(folder, *arguments)


def test_estimate_shows_every_level_of_every_attribute(folder: Path) -> None:
    found = json.loads(call("estimate", "trips", "--json", *places(folder)))
    assert found["domain"] == "profile"
    assert [row["value"] for row in found["rows"]] == [
        *("card=false", "card=true", "tip=false", "tip=true"),
        *("zone=inner", "zone=outer", "zone=far <b>", "night=false", "night=true"),
    ]
    assert call("estimate", "trips", *places(folder)).count("%") > 20


def test_explain_says_what_one_report_covers(folder: Path) -> None:
    text = call("explain", folder / "survey.toml", "--people", 1_000)
    assert "One report covers all 4 attributes together" in text
    assert "a cell of a table of 2 attributes" in text


def test_encode_takes_a_json_object(folder: Path) -> None:
    value = json.dumps({"card": True, "tip": False, "zone": "outer", "night": True})
    line = call("encode", "trips", value, "--survey", folder / "survey.json", "--json")
    assert json.loads(line)["question"] == "trips"
    with pytest.raises(InvalidParameter, match="with the fields card, tip, zone, night"):
        call("encode", "trips", "yes", "--survey", folder / "survey.json")
