"""plan and explain --public, as a person calls them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from material.commands import call
from material.surveys import STARTER

HUNDRED = ("--categories", 100, "--people", 100_000, "--epsilon", 1)


@pytest.fixture
def started(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_bytes(STARTER.read_bytes())
    return path


def test_a_plan_as_text_names_every_mechanism_and_the_best() -> None:
    text = call("plan", *HUNDRED, "--error", 0.005, "--delta", 1e-8)
    for name in ("krr", "pgr", "subset", "oue", "hadamard", "olh", "hcms", "orr"):
        assert name in text
    assert "Recommended: pgr" in text
    assert "569,081" in text  # people needed
    assert "58.6" in text  # leverage of k-RR
    assert "holds only if all of this is true" in text
    assert "Only answers above 2% are seen" in text


def test_a_plan_as_json() -> None:
    answer = json.loads(call("plan", *HUNDRED, "--json"))
    assert answer["plan"]["recommended"] == answer["rows"][0]["mechanism"] == "pgr"
    krr = answer["rows"][-1]
    assert krr["mechanism"] == "krr"
    assert krr["leverage"] == pytest.approx(58.6, rel=1e-3)
    assert krr["epsilon"] == 1.0
    assert krr["epsilon_forever"] is None


SCHEMA = Path(__file__).parents[3] / "spec/schemas/table.json"


@pytest.mark.parametrize(
    "asked",
    [
        (*HUNDRED, "--error", 0.005, "--delta", 1e-8),
        (*HUNDRED, "--window", 7),
        ("--yes-no", "--people", 100_000, "--epsilon", 2, "--reports", 6),
        ("--attributes", 4, "--people", 10_000, "--epsilon", 1),
        ("--survey", "survey.toml"),
    ],
)
def test_every_plan_is_a_table_in_every_form(
    asked: tuple[object, ...], started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(started.parent)
    answer = json.loads(call("plan", *asked, "--json", "-o", "p.csv", "-o", "p.json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(answer)
    assert json.loads(Path("p.json").read_text()) == answer
    head, *lines = csv.reader(Path("p.csv").read_text().splitlines())
    assert len(lines) == len(answer["rows"])
    assert set(answer["rows"][0]) == set(head)


@pytest.mark.parametrize(
    ("domain", "kind", "tests"),
    [
        (["--yes-no"], "boolean", 2),
        (["--numbers", 10], "numbers", 12),
        (["--strings"], "strings", 10_000),
        (["--strings", "--candidates", 50], "strings", 50),
    ],
)
def test_every_kind_of_answer(domain: list[object], kind: str, tests: int) -> None:
    answer = json.loads(call("plan", "--people", 50_000, "--epsilon", 2, *domain, "--json"))
    assert (answer["domain"], answer["plan"]["tests"]) == (kind, tests)


def test_what_is_left_out_is_what_the_error_needs() -> None:
    people = json.loads(call("plan", "--yes-no", "--epsilon", 1, "--error", 0.01, "--json"))
    assert people["rows"][0]["margin"] <= 0.01
    assert people["rows"][0]["people_needed"] == people["plan"]["people"]
    epsilon = json.loads(
        call("plan", "--yes-no", "--people", people["plan"]["people"], "--error", 0.01, "--json")
    )
    assert epsilon["epsilon_once"] == pytest.approx(1.0, abs=0.002)


@pytest.mark.parametrize("forever", [[], ["--forever", 0.9]])
def test_the_recommended_mechanism_reaches_the_error(forever: list[object]) -> None:
    """Also where another one is recommended at the answer than at the start."""
    arguments = ["--categories", 20, "--people", 200_000, "--error", 0.01, *forever, "--json"]
    answer = json.loads(call("plan", *arguments))
    best = answer["rows"][0]
    assert best["mechanism"] == answer["plan"]["recommended"]
    assert best["margin"] <= 0.01
    assert best["epsilon_needed"] == answer["epsilon_once"]


def test_a_chart_is_written(tmp_path: Path) -> None:
    call("plan", "--yes-no", "--people", 1000, "--epsilon", 1, "-o", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_bytes().startswith(b"<svg")
    with pytest.raises(InvalidParameter, match="must end in"):
        call("plan", "--yes-no", "--people", 1000, "--epsilon", 1, "-o", tmp_path / "p.pdf")


def test_a_survey_is_planned_with_its_own_mechanisms(started: Path) -> None:
    answer = json.loads(call("plan", "--survey", started, "--json"))
    assert answer["plan"]["people"] == 50_000
    names = [row["mechanism"] for row in answer["rows"]]
    assert names == ["krr", "rappor", "rappor", "krr"]
    assert [row["epsilon_forever"] for row in answer["rows"]] == [1.0, 4.0, 4.39445, 1.5]
    assert not any(note.startswith("warning") for note in answer["notes"])
    text = call("plan", "--survey", started, "--people", 50)
    assert "warning: browser: Nothing can be learned" in text
    assert "epsilon 10.895 in a year" in text
    target = started.with_suffix(".json")
    call("publish", started, "-o", target)
    assert json.loads(call("plan", "--survey", target, "--json"))["plan"]["people"] == 50_000
    target.write_bytes(replace(Survey.load(target), people=None).published())
    with pytest.raises(InvalidParameter, match="Add --people"):
        call("plan", "--survey", target)
    call("plan", "--survey", target, "--people", 100, "--delta", 1e-6)


def test_a_plan_says_which_share_of_devices_suffices() -> None:
    wanted = ("--categories", 10, "--epsilon", 1, "--error", 0.01)
    plan = json.loads(call("plan", *wanted, "--people", 1_000_000, "--json"))
    needed, asked = plan["rows"][0]["people_needed"], plan["plan"]["asked"]
    assert asked * 1_000_000 >= needed > (asked - 0.001) * 1_000_000
    assert f"asked = {asked:g}" in " ".join(plan["notes"])
    few = json.loads(call("plan", *wanted, "--people", 1_000, "--json"))
    assert few["plan"]["asked"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--people", 10, "--epsilon", 1], "needs one of --categories"),
        (["--yes-no", "--strings", "--people", 10, "--epsilon", 1], "needs one of --categories"),
        (["--yes-no", "--people", 10], "--people and --epsilon"),
        (["--yes-no", "--error", 0.1], "--people and --epsilon"),
        (["--yes-no", "--people", 10, "--epsilon", 0], "from 0.000001"),
        (["--yes-no", "--epsilon", 0, "--error", 0.1], "from 0.000001"),
        (["--yes-no", "--people", 10, "--epsilon", 1, "--candidates", 5], "belongs to --strings"),
        (["--categories", 50, "--people", 10, "--error", 1e-9], "No epsilon reaches"),
        (["--survey", "x.toml", "--epsilon", 1], "takes --people and --delta only"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call("plan", *arguments)


def test_explain_public_prints_writes_and_speaks_json(started: Path, tmp_path: Path) -> None:
    text = " ".join(call("explain", "--public", started).split())
    assert "could at most come to believe 81 in 82" in text
    written = call("explain", "--public", started, "-o", tmp_path / "out")
    assert "deployment.yaml" in written
    assert len(list((tmp_path / "out").iterdir())) == 3
    page = tmp_path / "page.html"
    answer = json.loads(call("explain", "--public", started, "-o", page, "--json"))
    assert answer["files"] == [str(page)]
    assert answer["questions"][0]["id"] == "dark-mode"
    with pytest.raises(InvalidParameter, match="belongs to --public"):
        call("explain", started, "-o", page)


def test_a_plan_of_a_record_names_every_mechanism() -> None:
    text = call("plan", "--attributes", 8, "--people", 100_000, "--epsilon", 1.1)
    for name in ("views", "coefficients", "inp_ps", "inp_rr", "marg_ht", "inp_em", "inp_olh"):
        assert name in text
    assert "112 cells of tables of 2 attributes" in text
    assert "Recommended: views" in text


def test_a_plan_of_a_record_as_json() -> None:
    record = ("--attributes", 5, "--answers", 3, "--order", 3)
    answer = json.loads(call("plan", *record, "--people", 10_000, "--epsilon", 1, "--json"))
    told = answer["plan"]
    assert (told["attributes"], told["order"], told["answers"]) == (5, 3, 27)
    assert told["recommended"] == answer["rows"][0]["mechanism"]


def test_strings_that_nobody_listed_are_found_by_prefixes() -> None:
    arguments = ["--strings", "--people", 1_000_000, "--epsilon", 2]
    answer = json.loads(call("plan", *arguments, "--json"))
    names = [row["mechanism"] for row in answer["rows"]]
    assert answer["plan"]["recommended"] == names[0] == "prefixes"
    assert names[1] == "ngrams"
    assert {"pgr", "olh", "hcms", "rappor"} < set(names)
    prefixes, ngrams = answer["rows"][:2]
    assert prefixes["answers_learned"] == int(1 / prefixes["smallest_share"]) > 50
    assert ngrams["smallest_share"] > prefixes["smallest_share"]
    text = call("plan", *arguments)
    assert "that nobody listed" in text
    assert "prefixes finds strings that nobody listed; so does ngrams" in text
    short = json.loads(call("plan", *arguments, "--alphabet", "abcd", "--length", 6, "--json"))
    assert short["rows"][0]["smallest_share"] < prefixes["smallest_share"]


def test_a_list_makes_auto_choose_and_an_alphabet_adds_what_finds() -> None:
    arguments = ["--strings", "--candidates", 500, "--people", 100_000, "--epsilon", 2, "--json"]
    listed = json.loads(call("plan", *arguments))
    assert "prefixes" not in [row["mechanism"] for row in listed["rows"]]
    both = json.loads(call("plan", *arguments, "--length", 8))
    assert both["plan"]["recommended"] == listed["plan"]["recommended"]
    assert [row["mechanism"] for row in both["rows"]][-2:] == ["prefixes", "ngrams"]


def test_how_many_people_finding_needs(tmp_path: Path) -> None:
    text = call("plan", "--strings", "--epsilon", 2, "--error", 0.005, "-o", tmp_path / "p.svg")
    assert "Recommended: prefixes" in text
    few = call("plan", "--strings", "--people", 500, "--epsilon", 1)
    assert "Nothing can be learned" in few


@pytest.mark.parametrize("bad", [["--alphabet", "a"], ["--length", 300]])
def test_impossible_strings_are_refused(bad: list[object]) -> None:
    with pytest.raises(InvalidParameter, match="parameter of plan"):
        call("plan", "--strings", "--people", 1_000, "--epsilon", 1, *bad)
    with pytest.raises(InvalidParameter, match="belong to --strings"):
        call("plan", "--yes-no", "--people", 1_000, "--epsilon", 1, *bad)


def test_answers_and_order_belong_to_attributes() -> None:
    with pytest.raises(InvalidParameter, match="belong to --attributes"):
        call("plan", "--yes-no", "--order", 2, "--people", 10, "--epsilon", 1)


def test_both_ways_to_spend_a_budget_per_window() -> None:
    text = call("plan", *HUNDRED, "--window", 7)
    assert "at most epsilon 1 in any 7 epochs" in text
    assert "1 epoch in 7" in text
    assert "every epoch" in text
    assert "times less variance" in text
    answer = json.loads(call("plan", *HUNDRED, "--window", 7, "--mechanism", "oue", "--json"))
    told = answer["plan"]
    assert (told["window"], told["better"]) == (7, "one epoch in w")
    assert answer["epsilon_once"] == 1.0
    assert {way["mechanism"] for way in answer["rows"]} == {"oue"}
    assert [way["people_per_epoch"] for way in answer["rows"]] == [14_285, 100_000]


def test_the_schedule_of_a_budget_for_ever() -> None:
    text = call("plan", "--categories", 10, "--people", 100_000, "--epsilon", 2, "--reports", 6)
    assert "0.731059" in text
    assert "Useful reports: 5" in text
    arguments = ("--yes-no", "--people", 100_000, "--epsilon", 2, "--reports", 60, "--json")
    answer = json.loads(call("plan", *arguments, "--keep", 0.25, "--error", 0.1))
    told = answer["plan"]
    assert (told["keep"], told["p"], len(answer["rows"])) == (0.25, 0.5, 60)
    assert answer["rows"][-1]["error"] is None
    assert told["useful"] == sum(row["useful"] for row in answer["rows"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--window", 7, "--reports", 3], "neither"),
        (["--window", 7, "--delta", 1e-8], "neither"),
        (["--window", 7, "--error", 0.01], "neither"),
        (["--reports", 7, "--output", "plan.pdf"], "pdf"),
        (["--window", 7, "--keep", 0.5], "--keep belongs"),
        (["--keep", 0.5], "--keep belongs"),
        (["--reports", 3, "--mechanism", "oue"], "mechanism of its own"),
    ],
)
def test_budgets_that_do_not_go_together(more: list[object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call("plan", *HUNDRED, *more)


def test_a_survey_has_no_budget_of_its_own(started: Path) -> None:
    with pytest.raises(InvalidParameter, match="takes --people and --delta only"):
        call("plan", "--survey", started, "--people", 100, "--window", 7)


def test_a_central_epsilon_says_how_near_it_is() -> None:
    text = call("plan", "--yes-no", "--people", 1_000, "--epsilon", 1, "--delta", 1e-8)
    assert "The central epsilon of krr is at least 0.16" in text
    assert "at least" not in call("plan", *HUNDRED, "--delta", 1e-8)  # pgr: no such crowd is known
