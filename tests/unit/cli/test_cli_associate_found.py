"""Strings that nobody listed go from discovery to association, on people kept apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.ask import Options
from deniable.ask.associate.field_reports import read_fields
from deniable.ask.associate.found_apart import find_apart
from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from deniable.store import open_store
from material.commands import call
from material.surveys import BOOLEAN, profile, several, survey, unlisted

PEOPLE = 20_000
LETTERS = unlisted("abcdefgh", 4)
SURVEY = survey(
    several(
        "adware",
        ("ext", LETTERS, "prefixes", "epsilon = 5.0, cohorts = 4"),
        ("site", LETTERS, "prefixes", "epsilon = 5.0, cohorts = 4"),
        ("dark", BOOLEAN, "krr", "epsilon = 2.0"),
    ),
    profile("trips", "inp_ht", "epsilon = 1.0", ("tip", BOOLEAN), ("card", BOOLEAN)),
    head=f"people = {PEOPLE}\n",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("found")
    (folder / "survey.toml").write_text(SURVEY)
    (folder / "words.txt").write_text("abba\nhead\nfade\n")
    call("publish", folder / "survey.toml", "-o", folder / "survey.json")
    crowd = ("--people", PEOPLE, "--seed", 4, "--together", 0.6)
    call("simulate", "adware", *crowd, "--candidates", folder / "words.txt", *where(folder))
    return folder


def where(folder: Path) -> tuple[object, ...]:
    return ("--survey", folder / "survey.json", "--data", folder / "data")


def test_two_unknown_fields_are_found_and_then_associated(project: Path) -> None:
    fields = ("--fields", "ext,site", "--candidates", "discovered", "--top", 2)
    read = json.loads(call("associate", "adware", *fields, "--json", *where(project)))
    assert read["n"] == PEOPLE / 2
    assert read["labels"]["ext"] == ["abba", "head", "(other)"]
    assert read["labels"]["site"] == ["abba", "head", "(other)"]
    assert read["parts"]["tests"]["rows"][0]["p_value"] < 1e-9
    assert any("had no say in them" in note for note in read["notes"])
    one = ("--fields", "ext,dark", "--candidates", "ext=discovered")
    again = json.loads(call("associate", "adware", *one, "--json", *where(project)))
    assert "abba" in again["labels"]["ext"]


def test_nobody_is_on_both_sides(project: Path) -> None:
    (asked, _) = Survey.load(project / "survey.json").questions
    with open_store(project / "data", create=False) as store:
        read = read_fields(store, asked, asked.fields)
    apart = find_apart(read, asked.fields, Options(discovered=["ext"]), 5)
    assert apart.read.n == PEOPLE // 2
    assert sum(apart.read.accumulated.epochs.values()) == PEOPLE // 2
    for field in asked.fields:
        assert len(apart.read.reports[field.name]) == PEOPLE // 2
    whole, half = (np.sort(r.reports["ext"]["group"]) for r in (read, apart.read))
    counted = np.bincount(whole, minlength=8) - np.bincount(half, minlength=8)
    assert counted.min() >= 0
    assert apart.read.accumulated.counts["ext"].n == PEOPLE // 2


def test_what_cannot_be_found(project: Path) -> None:
    with pytest.raises(InvalidParameter, match="tests for those of a list"):
        call("associate", "adware", "--candidates", "dark=discovered", *where(project))
    with pytest.raises(InvalidParameter, match="--candidates discovered"):
        call("associate", "adware", "--fields", "ext,dark", *where(project))
    with pytest.raises(InvalidParameter, match="deniable marginals trips --pairs"):
        call("associate", "trips", "--fields", "tip,card", *where(project))


def test_one_name_is_a_field_and_an_unknown_one_is_refused(project: Path) -> None:
    data = dn.open(project / "data", survey=project / "survey.json")
    table = data["adware"].associate("ext", "dark", discovered="ext", top=1, given="dark")
    assert "P(ext | dark)" in table.parts
    with pytest.raises(InvalidParameter, match="found of 'site', which is not among"):
        data["adware"].associate("ext", "dark", discovered=["ext", "site"])


def test_where_no_string_matches_nothing_is_said_about_shares(project: Path) -> None:
    none = json.loads(call("discover", "adware", "--matching", "zzz", "--json", *where(project)))
    table = none["fields"]["ext"]
    assert table["rows"] == []
    assert "No string stands out from the noise." in table["notes"]
    assert not any("Nothing was learned" in text for text in (*table["notes"], str(table)))
    with pytest.raises(InvalidParameter, match="parameter of discover must be a regular"):
        call("discover", "adware", "--matching", "[", *where(project))


def test_strings_that_do_not_match_are_not_tested(project: Path) -> None:
    every = json.loads(call("discover", "adware", "--beam", 50, "--json", *where(project)))
    some = json.loads(
        call("discover", "adware", "--beam", 50, "--matching", ".*e.*", "--json", *where(project))
    )
    found = [row["value"] for row in some["fields"]["ext"]["rows"]]
    assert found[:2] == ["head", "fade"]
    assert all("e" in value for value in found)
    assert some["fields"]["ext"]["tested"] < every["fields"]["ext"]["tested"]
    # Strings that are not tested are taken out like the others: shares do not change.
    shares = {row["value"]: row["frequency"] for row in every["fields"]["ext"]["rows"]}
    for row in some["fields"]["ext"]["rows"]:
        assert row["frequency"] == pytest.approx(shares.get(row["value"], row["frequency"]))
