"""Records as nobody should ask about them: each from survey.toml to what the command says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number, epoch_of
from deniable.store import Batch, open_store
from material.commands import call, run

YES_NO = '"boolean"'
ONE_LEVEL = '{ type = "categories", values = ["only"] }'
HEAD = """
name = "n"
owner = "o"
{people}
[[questions]]
id = "trips"
description = "d"
expires = 2099-01-01
mechanism = "{mechanism}"
parameters = {{ epsilon = {epsilon}, order = {order} }}
"""


def write(
    folder: Path,
    domains: list[str],
    mechanism: str = "auto",
    order: int = 2,
    epsilon: float = 2.0,
    people: int | None = None,
) -> Path:
    said = "" if people is None else f"people = {people}"
    text = HEAD.format(people=said, mechanism=mechanism, epsilon=epsilon, order=order)
    for i, domain in enumerate(domains):
        text += f'[[questions.fields]]\nname = "a{i}"\ndomain = {domain}\n'
    (folder / "survey.toml").write_text(text)
    return folder / "survey.toml"


def published(folder: Path, domains: list[str], **how: Any) -> None:
    call("publish", write(folder, domains, **how), "--output", folder / "survey.json")


def places(folder: Path) -> tuple[object, ...]:
    return ("--survey", folder / "survey.json", "--data", folder / "data")


def asked(folder: Path, *arguments: object) -> dict[str, Any]:
    found = json.loads(call("marginals", "trips", *arguments, "--json", *places(folder)))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("domains", "how", "problem", "fix"),
    [
        ([YES_NO], {"order": 1}, "2 to 32 fields. Got 1", "as a plain question"),
        ([YES_NO] * 64, {}, "2 to 32 fields. Got 64", "into several profiles"),
        ([YES_NO] * 3, {"order": 4}, "at most 3, the number of fields. Got 4", "Lower it"),
        ([YES_NO, YES_NO, ONE_LEVEL], {}, "2 to 65,536 names. Got 1", "always the same"),
        ([YES_NO] * 32, {"mechanism": "inp_rr"}, "4,294,967,296 bits: at most", "coefficients"),
        ([YES_NO] * 21, {"mechanism": "inp_ps"}, "2,097,152 cells: at most", "coefficients"),
        ([YES_NO] * 32, {"mechanism": "inp_olh"}, "4,294,967,296 possible", "coefficients"),
        ([YES_NO] * 32, {"order": 16}, "2,448,023,842 coefficients: at most", "Lower 'order'"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_starts(
    tmp_path: Path, domains: list[str], how: dict[str, Any], problem: str, fix: str
) -> None:
    """`check` says the figure and what to do; `publish` leaves what was published as it was."""
    published(tmp_path, [YES_NO] * 2)
    before = (tmp_path / "survey.json").read_bytes()
    survey = write(tmp_path, domains, **how)
    checked = run("check", str(survey), "--json")
    assert checked.exit_code == 1
    (found,) = json.loads(checked.stdout)["problems"]
    assert problem in found["message"]
    assert fix in found["fix"]
    refused = run("publish", str(survey), "-o", str(tmp_path / "survey.json"))
    assert refused.exit_code != 0
    assert (tmp_path / "survey.json").read_bytes() == before


def test_order_of_all_attributes(tmp_path: Path) -> None:
    """k = d: the whole profile is one table; a table of more attributes there cannot be."""
    published(tmp_path, [YES_NO] * 3, order=3)
    call("simulate", "trips", "--people", 5_000, "--seed", 1, *places(tmp_path))
    found = asked(tmp_path, "--attributes", "a0", "a1", "a2")
    assert len(found["rows"]) == 8
    assert sum(row["smoothed"] for row in found["rows"]) == pytest.approx(1)
    with pytest.raises(InvalidParameter, match=r"tables of 1 to 3 of its 3 attributes\. Got 4"):
        asked(tmp_path, "--order", 4)


def test_more_attributes_than_collected_are_refused_and_the_reports_stay(tmp_path: Path) -> None:
    published(tmp_path, [YES_NO] * 4, order=2)
    call("simulate", "trips", "--people", 5_000, "--seed", 1, *places(tmp_path))
    with pytest.raises(InvalidParameter, match=r"hold tables of 1 to 2 of its 4 .* Got 3") as told:
        asked(tmp_path, "--attributes", "a0", "a1", "a2")
    assert "--tree" in str(told.value)
    assert asked(tmp_path, "--attributes", "a0", "a1")["n"] == 5_000
    assert asked(tmp_path, "--tree", "--attributes", "a0", "a1", "a2")["n"] == 5_000


def test_fewer_people_than_numbers_to_tell(tmp_path: Path) -> None:
    """`check` warns with both figures; tables say so, and have no raw share out of thin air."""
    survey = write(tmp_path, [YES_NO] * 16, order=3, people=50)
    warned = json.loads(call("check", survey, "--json"))
    assert warned["ok"]
    (warning,) = warned["warnings"]
    assert "50 people for tables of 3 of 16 attributes" in warning["message"]
    assert "made of 696 numbers" in warning["message"]
    call("publish", survey, "--output", tmp_path / "survey.json")
    call("simulate", "trips", "--people", 50, "--seed", 1, *places(tmp_path))
    found = asked(tmp_path, "--attributes", "a0", "a1", "a2")
    assert all(row["raw"] is None for row in found["rows"])
    assert any("Too few reports: 50 for 696 numbers" in note for note in found["notes"])
    for how in (["--pairs"], ["--tree"], ["--order", 2], ["--sample", 3]):
        assert asked(tmp_path, *how)["n"] == 50


def test_enough_people_are_not_warned_about(tmp_path: Path) -> None:
    survey = write(tmp_path, [YES_NO] * 16, order=3, people=696)
    assert json.loads(call("check", survey, "--json"))["warnings"] == []
    published(tmp_path, [YES_NO] * 4)
    call("simulate", "trips", "--people", 5_000, "--seed", 1, *places(tmp_path))
    assert not any("Too few" in note for note in asked(tmp_path, "-a", "a0", "a1")["notes"])


def test_people_who_are_all_the_same(tmp_path: Path) -> None:
    """Constant attributes: no correlation, no table of a condition that nobody meets."""
    published(tmp_path, [YES_NO] * 4, epsilon=4.0)
    question = Survey.load(tmp_path / "survey.json").questions[0]
    mechanism = mechanism_of(question.fields[0], question.absent)
    codes = np.tile([0, 1, 0, 1], (20_000, 1))
    reports = mechanism.simulate(codes, np.random.default_rng(3))
    batch = Batch(question.id, 1, question.digest, epoch_of(day_number(), question.epoch))
    with open_store(tmp_path / "data") as store:
        store.append_records(batch, reports.tobytes(), question.record_size)
    found = asked(tmp_path, "--attributes", "a0", "a1")
    shares = {(row["value_1"], row["value_2"]): row["smoothed"] for row in found["rows"]}
    assert shares["false", "true"] > 0.95
    given = asked(tmp_path, "--attributes", "a0", "--given", "a1=false")
    assert all(row["raw"] is None for row in given["rows"])
    pairs = asked(tmp_path, "--pairs")["rows"]
    assert len(pairs) == 6
    sizes = [row["smoothed_correlation"] for row in pairs]
    assert all(size is None or abs(size) <= 1 for size in sizes)
    assert not any(row["holm"] for row in pairs)
    assert "does not vary" in call("marginals", "trips", "--pairs", *places(tmp_path))
    records = asked(tmp_path, "--sample", 5, "--seed", 1)["rows"]
    assert len(records) == 5
    assert asked(tmp_path, "--tree")["n"] == 20_000


def test_another_number_of_people_that_changes_the_choice_needs_a_new_version(
    tmp_path: Path,
) -> None:
    """What was published keeps its meaning: "auto" never changes under reports."""
    published(tmp_path, [YES_NO] * 8, epsilon=0.5, people=5_000)
    before = (tmp_path / "survey.json").read_bytes()
    survey = write(tmp_path, [YES_NO] * 8, epsilon=0.5, people=5_000_000)
    refused = run("publish", str(survey), "-o", str(tmp_path / "survey.json"))
    assert refused.exit_code != 0
    assert "version" in str(refused.exception) + refused.output
    assert (tmp_path / "survey.json").read_bytes() == before


@pytest.mark.parametrize(("people", "chosen"), [(5_000, "views of 2"), (5_000_000, "coefficients")])
def test_explain_and_plan_say_for_how_many_people(tmp_path: Path, people: int, chosen: str) -> None:
    survey = write(tmp_path, [YES_NO] * 8, epsilon=0.5, people=people)
    told = " ".join(call("explain", survey).split())
    assert f"The mechanism is {chosen}" in told
    assert f'what "auto" chooses (the least error of smoothed tables with {people:,} peopl' in told
    planned = json.loads(
        call("plan", "--people", people, "--epsilon", 0.5, "--attributes", 8, "--json")
    )
    assert planned["plan"]["recommended"] == chosen.split()[0]
    assert f"with {people:,} people" in planned["plan"]["reason"]


def test_explain_says_what_another_number_of_people_would_choose(tmp_path: Path) -> None:
    published(tmp_path, [YES_NO] * 8, epsilon=0.5, people=5_000)
    survey = tmp_path / "survey.json"
    other = " ".join(call("explain", survey, "--people", 5_000_000).split())
    assert 'where "auto" would choose coefficients' in other
    said = Survey.load(survey)
    survey.write_bytes(replace(said, people=None).published())
    unsaid = " ".join(call("explain", survey).split())
    assert "with 1,000,000 people, the default where a survey does not say" in unsaid
