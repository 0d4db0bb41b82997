"""deniable simulate: a store of its own, a mark wherever its reports show, and a way back."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from deniable.cli.serve import check_kind
from deniable.errors import DeniableError, InvalidParameter, StoreError
from deniable.protocol import Survey
from deniable.store import Batch, open_store
from material.commands import call, run
from material.surveys import BOOLEAN, asked, profile, several, survey, unlisted

SURVEY = survey(
    asked("plain"),
    several("two", ("a", BOOLEAN, "krr", "epsilon = 3.0"), ("b", BOOLEAN, "krr", "epsilon = 3.0")),
    profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", BOOLEAN)),
    asked("word", unlisted("abcdefgh"), "prefixes", "epsilon = 4.0"),
)
CROWD = 5_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "words.txt").write_text("abba\nhead\nbeef\n")
    call("publish", tmp_path / "survey.toml", "--output", tmp_path / "survey.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulate(question: str = "plain", *more: object) -> dict[str, object]:
    words = ("--candidates", "words.txt") if question == "word" else ()
    crowd = ("--people", CROWD, "--json", *words)
    told: dict[str, object] = json.loads(call("simulate", question, *crowd, *more))
    return told


def add_real(number: int) -> None:
    """Put reports of real people into the collector's store."""
    question = Survey.load("survey.json").question("plain")
    assert question is not None
    batch = Batch("plain", 1, question.digest, 20_000)
    records = b"".join((i & 1).to_bytes(question.record_size, "little") for i in range(number))
    with open_store("data") as store:
        store.append_records(batch, records, question.record_size)


def test_a_crowd_goes_to_a_store_of_its_own(folder: Path) -> None:
    add_real(51)
    told = simulate()
    assert told["data"] == "simulated"
    assert json.loads(call("estimate", "plain", "--json"))["n"] == 51
    asked = json.loads(call("estimate", "plain", "--json", "--data", "simulated"))
    assert (asked["n"], asked["simulated"]) == (CROWD, CROWD)


def test_a_crowd_that_nobody_seeded_names_its_seed_and_can_be_had_again(folder: Path) -> None:
    first = simulate()
    again = simulate("plain", "--seed", first["seed"], "--data", "another")
    assert again["truth"] == first["truth"]
    assert simulate()["seed"] != first["seed"]  # and a new one is new


def test_the_same_seed_twice_is_refused_and_adds_nothing(folder: Path) -> None:
    simulate("plain", "--seed", 7)
    with pytest.raises(StoreError, match="Seed 7 was simulated for 'plain' already"):
        simulate("plain", "--seed", 7)
    simulate("two", "--seed", 7)  # another question has other answers
    assert json.loads(call("count", "plain", "--json", "--data", "simulated"))["simulated"] == CROWD


def test_a_store_with_real_reports_takes_a_crowd_only_when_told_and_gives_it_back(
    folder: Path,
) -> None:
    add_real(51)
    with pytest.raises(StoreError, match=r"51 real reports.*--into-real-store"):
        simulate("plain", "--data", "data")
    simulate("plain", "--data", "data", "--into-real-store")
    mixed = json.loads(call("estimate", "plain", "--json"))
    assert (mixed["n"], mixed["simulated"]) == (CROWD + 51, CROWD)
    assert "n = 5,051 reports, 5,000 of them simulated" in call("estimate", "plain")
    assert "Removed 5,000 simulated reports" in call("simulate", "--remove", "--data", "data")
    back = json.loads(call("estimate", "plain", "--json"))
    assert (back["n"], back["simulated"]) == (51, 0)
    assert json.loads(call("simulate", "--remove", "--json", "--data", "data"))["removed"] == 0


def test_remove_is_of_all_questions_and_needs_a_store(folder: Path) -> None:
    with pytest.raises(InvalidParameter, match="all questions"):
        call("simulate", "plain", "--remove")
    with pytest.raises(StoreError, match="no store"):
        call("simulate", "--remove")
    assert not (folder / "simulated").exists()
    with pytest.raises(InvalidParameter, match="Name a question"):
        call("simulate")


@pytest.mark.parametrize(
    "asked",
    [
        ("estimate", "plain"),
        ("estimate", "many"),
        ("associate", "two"),
        ("marginals", "many", "--attributes", "x", "y"),
        ("marginals", "many", "--pairs"),
        ("marginals", "many", "--tree"),
        ("marginals", "many", "--sample", 10),
        ("discover", "word"),
        ("count", "plain"),
    ],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_every_answer_is_marked_as_text_and_as_json(folder: Path, asked: tuple[str, ...]) -> None:
    simulate(asked[1])
    where = (*asked, "--data", "simulated")
    assert re.search(r"5,000\s+simulated\s+reports", call(*where))
    assert json.loads(call(*where, "--json"))["simulated"] == CROWD


@pytest.mark.parametrize(
    "asked",
    [
        ("estimate", "plain"),
        ("associate", "two"),
        ("marginals", "many", "--attributes", "x", "y"),
        ("marginals", "many", "--pairs"),
        ("marginals", "many", "--tree"),
        ("discover", "word"),
    ],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_every_file_is_marked(folder: Path, asked: tuple[str, ...]) -> None:
    simulate(asked[1])
    names = [f"f.{kind}" for kind in ("csv", "json", "parquet", "svg", "html")]
    call(*asked, "--data", "simulated", *(part for name in names for part in ("-o", name)))
    with Path("f.csv").open(newline="") as file:
        assert {row["simulated"] for row in csv.DictReader(file)} == {str(CROWD)}
    assert json.loads(Path("f.json").read_text())["simulated"] == CROWD
    assert set(pq.read_table("f.parquet")["simulated"].to_pylist()) == {CROWD}
    for name in ("f.svg", "f.html"):
        assert "5,000 simulated reports" in Path(name).read_text()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_of_real_reports_says_that_none_is_simulated(folder: Path, kind: str) -> None:
    add_real(400)
    call("estimate", "plain", "-o", f"f.{kind}", "-o", "f.svg")
    if kind == "csv":
        with Path("f.csv").open(newline="") as file:
            assert {row["simulated"] for row in csv.DictReader(file)} == {"0"}
    else:
        assert set(pq.read_table("f.parquet")["simulated"].to_pylist()) == {0}
    assert "simulated" not in Path("f.svg").read_text()


def test_exported_reports_say_of_each_whether_it_is_simulated(folder: Path) -> None:
    add_real(3)
    simulate("plain", "--data", "data", "--into-real-store")
    call("export", "plain", "-o", "f.parquet")
    call("export", "plain", "-o", "f.ndjson")
    marks = pq.read_table("f.parquet")["simulated"].to_pylist()
    lines = [json.loads(line)["simulated"] for line in Path("f.ndjson").read_text().splitlines()]
    assert sorted(marks) == sorted(lines) == [False] * 3 + [True] * CROWD


def test_serve_keeps_the_kinds_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def check(data: str, *, simulated: bool) -> None:
        with open_store(data) as store:
            check_kind(store, Path(data), simulated=simulated)

    check("data", simulated=False)
    check("data", simulated=True)  # an empty store may become either
    simulate()
    add_real(2)
    check("simulated", simulated=True)
    check("data", simulated=False)
    with pytest.raises(InvalidParameter, match=r"5,000 simulated reports.*serve --simulated"):
        check("simulated", simulated=False)
    with pytest.raises(InvalidParameter, match="2 real reports"):
        check("data", simulated=True)
    assert not capsys.readouterr().err
    simulate("plain", "--data", "data", "--into-real-store", "--seed", 5)
    check("data", simulated=False)  # a live collector goes on, and says so
    assert "5,000 of the 5,002 reports in data are simulated" in capsys.readouterr().err
    with pytest.raises(InvalidParameter, match="2 real reports"):
        check("data", simulated=True)


@pytest.mark.parametrize(("repeat", "reports"), [("once", 200), ("epoch", 600)])
def test_a_history_says_how_many_reports_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeat: str, reports: int
) -> None:
    text = survey(asked("plain", more=f'repeat = "{repeat}"\nepoch = 7\n'))
    (tmp_path / "survey.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    call("publish", "survey.toml")
    said = call("simulate", "plain", "--people", 200, "--epochs", 3)
    with open_store("simulated", create=False) as store:
        assert sum(tally.reports for tally in store.tallies()) == reports
    assert ("in each of 3 epochs" in said) == (repeat == "epoch")
    assert ("in the first of 3 epochs" in said) == (repeat == "once")


def test_no_collector_starts_on_an_archive(folder: Path) -> None:
    """It would refuse every report, and only when the first one came."""
    (folder / "a").mkdir()
    (folder / "a" / "archive.json").write_text('{"format":1}')
    result = run("serve", "--data", "a", "--simulated")
    assert isinstance(result.exception, InvalidParameter)
    assert "no report could be kept there" in str(result.exception)


def test_a_crowd_that_nobody_can_be_leaves_its_seed_free(folder: Path) -> None:
    """Its seed was noted before its answers were read: the next try was refused, of no reports."""
    (folder / "bad.txt").write_text("zebra\n")
    tries = {"outside of the alphabet": ("--candidates", "bad.txt"), "name a file": ()}
    for said, words in tries.items():
        with pytest.raises(DeniableError, match=said):
            call("simulate", "word", "--people", CROWD, "--seed", 4, *words)
    assert simulate("word", "--seed", 4)["people"] == CROWD
