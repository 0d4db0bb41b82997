"""Segments and levels on the command line, in explanations and on the page for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.results.disclosure import disclose
from deniable.results.disclosure.page import page_html
from deniable.results.explain import explain_question
from material.segmented import SURVEY, published


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(SURVEY)
    assert _run("publish", "survey.toml").exit_code == 0
    return tmp_path


def _run(*words: str) -> Any:
    return CliRunner().invoke(make_app(), list(words))


def _told(*words: str) -> Any:
    result = _run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_check_prints_the_people_of_each_clear_cell(folder: Path) -> None:
    told = _told("check", "survey.toml")["clear_cells"]
    assert len(told) == 16
    assert {"level": "strict", "people": 25_000.0}.items() <= told[11].items()
    assert (
        "colour, platform (other), level strict: about 25,000"
        in _run("check", "survey.toml").output
    )


def test_simulate_makes_segments_and_levels_with_the_stated_shares(folder: Path) -> None:
    told = _told("simulate", "colour", "--people", "20000", "--seed", "3")
    assert sum(cell["people"] for cell in told["cells"]) == 20_000
    strict = sum(cell["people"] for cell in told["cells"] if cell["level"] == "strict")
    assert abs(strict - 5_000) < 500
    counted = _told("count", "colour", "--level", "open", "--data", "simulated")
    assert sum(part["reports"] for part in counted["segments"]) == 20_000 - strict
    words = _run("count", "colour", "--level", "open", "--data", "simulated").output
    first = counted["segments"][0]
    assert "colour (open).value: " in words
    assert f"platform {first['segments']['platform']}: {first['reports']:,} reports" in words
    again = _run("simulate", "colour", "--people", "9", "--seed", "3")
    assert again.exit_code != 0


@pytest.mark.parametrize("verb", ["count", "export"])
def test_a_verb_that_writes_a_file_asks_for_the_level(folder: Path, verb: str) -> None:
    assert _run("simulate", "colour", "--people", "100").exit_code == 0
    more = ("-o", "out.ndjson")
    refused = _run(verb, "colour", "--data", "simulated", *more)
    assert refused.exit_code != 0
    assert "Name one of them: --level" in f"{refused.output} {refused.exception}"
    assert _run(verb, "colour", "--level", "open", "--data", "simulated", *more).exit_code == 0
    wrong = _run(verb, "plain", "--level", "open", "--data", "simulated", *more)
    assert "no levels" in f"{wrong.output} {wrong.exception}"


def test_levels_are_pooled_and_said_to_agree(folder: Path) -> None:
    truth = _told("simulate", "colour", "--people", "20000", "--seed", "5")["truth"]["value"]
    told = _told("estimate", "colour", "--data", "simulated")
    assert [part["level"] for part in told["pooled"]] == ["strict", "open"]
    assert told["n"] == sum(part["n"] for part in told["pooled"]) == 20_000
    alone = _told("estimate", "colour", "--level", "open", "--data", "simulated")
    errors = {row["value"]: row["std_error"] for row in alone["rows"]}
    for row in told["rows"]:
        assert row["std_error"] < errors[row["value"]]
        assert abs(row["frequency"] - truth[row["value"]]) < 6 * row["std_error"]
        assert row["interval"][0] < row["frequency"] < row["interval"][1]
    assert told["agreement"]["degrees"] == 2
    assert told["description"] == "Which colour? (levels strict, open)"


def test_versions_with_the_same_answers_are_pooled_and_others_left_out(folder: Path) -> None:
    assert _run("simulate", "plain", "--people", "4000", "--seed", "1").exit_code == 0
    newer = SURVEY.replace('id = "plain"', 'id = "plain"\nversion = 2')
    place = newer.rindex("epsilon = 1.0")
    (folder / "survey.toml").write_text(newer[:place] + "epsilon = 2.0" + newer[place + 13 :])
    assert _run("publish", "survey.toml").exit_code == 0
    assert _run("simulate", "plain", "--people", "3000", "--seed", "2").exit_code == 0
    told = _told("estimate", "plain", "--version", "all", "--data", "simulated")
    assert [(part["version"], part["n"]) for part in told["pooled"]] == [(1, 4_000), (2, 3_000)]
    new = _told("estimate", "plain", "--data", "simulated")
    assert told["rows"][0]["std_error"] < new["rows"][0]["std_error"]
    assert any("they agree" in note for note in told["notes"])
    wrong = _run("estimate", "plain", "--version", "some", "--data", "simulated")
    assert "or 'all'" in f"{wrong.output} {wrong.exception}"


def test_explanations_say_what_is_in_clear(tmp_path: Path) -> None:
    survey = published(tmp_path, SURVEY.replace('id = "plain"', 'id = "plain"\nasked = 0.1'))
    texts = {q.title: " ".join(explain_question(q).sentences) for q in survey.questions}
    assert "in clear (platform: linux" in texts["dark"]
    assert "level 'open', visible in clear" in texts["colour (open)"]
    assert "About 0.1 of all devices" in texts["plain"]
    assert "in clear" not in texts["plain"]


def test_the_page_for_people_says_it_too(tmp_path: Path) -> None:
    survey = published(tmp_path, SURVEY.replace('id = "plain"', 'id = "plain"\nasked = 0.1'))
    page = disclose(survey)
    seen = {asked.title: asked.sections[1] for asked in page.questions}
    assert all("everybody on the way" in section.heading for section in seen.values())
    dark = " ".join(seen["Is the dark mode on?"].points)
    assert "Chance does not protect this" in dark
    assert "one limit for everybody" in dark
    strict = " ".join(seen["Which colour? (level “strict”)"].points)
    assert "limit 0.5 per report" in strict
    assert "Only about 10.0% of devices" in " ".join(seen["Nothing in clear."].points)
    html = page_html(page).decode()
    assert html.count('id="colour-1-') == 2
    # 365 days of the costlier level, not of both: 365 (1 + 2) + 1.
    assert page.numbers["epsilon_of_a_year"] == 365 * 3 + 1
