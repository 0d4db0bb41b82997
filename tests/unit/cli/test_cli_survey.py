"""init, check, publish and explain, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.cli import init
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import Survey
from material.commands import call, run
from material.surveys import STARTER


@pytest.fixture
def started(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_bytes(STARTER.read_bytes())
    return path


def test_the_starter_survey_has_no_problem_and_no_warning(started: Path) -> None:
    answer = json.loads(call("check", started, "--json"))
    assert (answer["ok"], answer["problems"], answer["warnings"]) == (True, [], [])


def test_init_does_not_overwrite_unless_forced(started: Path) -> None:
    started.write_text("precious")
    with pytest.raises(InvalidParameter, match="--force"):
        call("init", started)
    assert started.read_text() == "precious"
    call("init", started, "--force")
    assert started.read_bytes() == init.STARTER.read_bytes()


def test_check_says_everything_at_once_and_exits_with_1(started: Path) -> None:
    broken = (
        STARTER.read_text().replace("epsilon = 1.5", "epsilon = nan").replace('"boolean"', '"bool"')
    )
    started.write_text(broken)
    result = run("check", str(started), "--json")
    assert result.exit_code == 1
    keys = [problem["key"] for problem in json.loads(result.stdout)["problems"]]
    assert keys == ["questions[0](dark-mode).domain", "questions[3](memory).parameters.epsilon"]
    text = run("check", str(started))
    assert text.exit_code == 1
    assert "Got nan" in text.stdout
    assert "2 to mend" in text.stdout


def test_check_of_a_missing_file_names_it(tmp_path: Path) -> None:
    result = run("check", str(tmp_path / "none.toml"))
    assert result.exit_code == 1
    assert "none.toml" in result.stdout


def test_publish_writes_the_canonical_survey_with_its_epsilons(started: Path) -> None:
    target = started.with_suffix(".json")
    answer = json.loads(call("publish", started, "-o", target, "--json"))
    survey = Survey.load(target)
    assert survey.published() == target.read_bytes()
    by_id = {question["id"]: question for question in answer["questions"]}
    assert by_id["homepage"]["epsilon"] == 1.074286
    assert by_id["homepage"]["epsilon_forever"] == 4.39445
    assert by_id["dark-mode"]["epsilon"] == 1.0
    question = survey.question("homepage")
    assert question is not None
    assert by_id["homepage"]["digest"] == question.digest.hex()
    assert "homepage" in call("publish", started, "-o", target)


def test_publish_refuses_a_changed_question_under_the_same_version(started: Path) -> None:
    target = started.with_suffix(".json")
    call("publish", started, "-o", target)
    before = target.read_bytes()
    changed = STARTER.read_text().replace("{ epsilon = 1.5 }", "{ epsilon = 1.6 }")
    started.write_text(changed)
    with pytest.raises(InvalidParameter, match="raise its version"):
        call("publish", started, "-o", target)
    warned = run("check", started, "-o", target, "--json")
    (problem,) = json.loads(warned.stdout)["problems"]
    assert (warned.exit_code, problem["fix"]) == (1, "Use version 2.")
    assert "raise its version" in problem["message"]
    said = run("check", started, "-o", target).stdout
    assert "1 to mend." in said
    assert "ready to be published" not in said
    assert target.read_bytes() == before
    started.write_text(changed.replace('id = "memory"', 'id = "memory"\nversion = 2'))
    assert "ready to be published" in call("check", started, "-o", target)
    call("publish", started, "-o", target)
    started.write_text(changed.replace('id = "memory"', 'id = "memory"\nversion = 2\nowner = "x"'))
    call("publish", started, "-o", target)  # an owner may change: it is not in the digest


def test_publish_of_a_broken_survey_writes_nothing(started: Path) -> None:
    started.write_text("name = 1")
    with pytest.raises(InvalidSurvey, match="owner"):
        call("publish", started, "-o", started.with_suffix(".json"))
    assert not started.with_suffix(".json").exists()


def test_explain_names_every_epsilon_and_what_it_means(started: Path) -> None:
    text = " ".join(call("explain", started).split())
    assert "multiply the odds of any guess about the answer by at most 2.93" in text
    assert "together, for ever, have epsilon 4.395 (odds times 81.00)" in text
    assert "one of 16" in text
    answer = json.loads(call("explain", started, "--json", "--people", 1_000_000))
    errors = {q["id"]: q["std_error"]["value"] for q in answer["questions"]}
    few = json.loads(call("explain", started, "--json", "--people", 10_000))
    for question in few["questions"]:
        assert question["std_error"]["value"] == pytest.approx(10 * errors[question["id"]])


def test_explain_reads_a_published_survey_too(started: Path) -> None:
    target = started.with_suffix(".json")
    call("publish", started, "-o", target)
    assert "dark-mode" in call("explain", target)


def test_explain_warns_where_each_report_adds_up_and_where_reports_are_linked(
    started: Path,
) -> None:
    started.write_text(
        STARTER.read_text()
        .replace('mechanism = "krr"                    #', 'mechanism = "krr"\nrepeat = "epoch" #')
        .replace("f = 0.5, p = 0.5, q = 0.75", "f = 0.5, p = 0.0, q = 1.0")
        .replace('domain = { type = "numbers"', 'send = "always"\ndomain = { type = "numbers"')
    )
    text = " ".join(call("explain", started).split())
    assert "every report adds 1: a year of them adds up to 365.0" in text
    assert "can be linked to each other" in text
    assert "sending says nothing" in text
    assert json.loads(call("check", started, "--json"))["warnings"]


def test_the_retention_of_each_question_is_said(started: Path) -> None:
    text = STARTER.read_text().replace("[[questions]]", "[[questions]]\nretention_days = 30", 1)
    started.write_text(f"retention_days = 400\nkeep_counts = true\n{text}")
    shown = call("check", started)
    assert "dark-mode: Reports are deleted 30 days after" in shown
    assert "browser: Reports are deleted 400 days after" in shown
    told = json.loads(call("check", started, "--json"))["questions"]
    assert [q["retention_days"] for q in told] == [30, 400, 400, 400]
    assert all(q["keep_counts"] for q in told)
    told = json.loads(call("explain", started, "--json"))["questions"]
    assert [q["retention_days"] for q in told] == [30, 400, 400, 400]
    assert any("deleted 30 days after" in sentence for sentence in told[0]["sentences"])
    public = call("explain", started, "--public")
    assert public.count("## How long reports are kept") == 4
    # Where nobody says a number, check has nothing to say.
    started.write_bytes(STARTER.read_bytes())
    assert "deleted" not in call("check", started)


def test_a_longer_retention_is_refused_by_check_and_publish(started: Path, tmp_path: Path) -> None:
    output = tmp_path / "survey.json"
    text = STARTER.read_text()
    started.write_text(f"retention_days = 30\n{text}")
    call("publish", started, "--output", output)
    assert json.loads(output.read_bytes())["deniable"] == 1
    started.write_text(f"retention_days = 31\n{text}")
    with pytest.raises(InvalidParameter, match="on that promise"):
        call("publish", started, "--output", output)
    result = run("check", str(started), "--output", str(output))
    assert result.exit_code == 1
    assert "Raise its version" in result.stdout
