"""Raising a version loses nothing: every verb takes --version, and what is elsewhere is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable.cli.app import make_app
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import Survey

runner, app = CliRunner(), make_app()

TEXT = """name = "n"
owner = "o"
people = 100000
[[questions]]
id = "browser"
version = {version}
description = "Which?"
expires = 2035-12-31
domain = {{ type = "categories", values = [{values}] }}
mechanism = "krr"
parameters = {{ epsilon = 3.0 }}
[[questions]]
id = "pair"
version = {version}
description = "Two?"
expires = 2035-12-31
[[questions.fields]]
name = "one"
domain = {{ type = "categories", values = [{values}] }}
mechanism = "krr"
parameters = {{ epsilon = 3.0 }}
[[questions.fields]]
name = "two"
domain = "boolean"
mechanism = "krr"
parameters = {{ epsilon = 3.0 }}
[[questions]]
id = "trip"
version = {version}
description = "Many?"
expires = 2035-12-31
mechanism = "marg_ps"
parameters = {{ epsilon = {many}, order = 2 }}
fields = [{{ name = "toll", domain = "boolean" }}, {{ name = "night", domain = "boolean" }}]
[[questions]]
id = "words"
version = {version}
description = "Which strings?"
expires = 2035-12-31
domain = {{ type = "strings", alphabet = "ab", length = 4 }}
mechanism = "prefixes"
parameters = {{ epsilon = {many} }}
"""


def toml(version: int) -> str:
    values = '"a", "b", "c"' if version == 1 else '"a", "b", "c", "d"'
    return TEXT.format(version=version, values=values, many=3.0 + version)


def run(*arguments: object) -> Result:
    result = runner.invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def call(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def raised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which version 1 has 3,000 reports to each question and version 2 none."""
    folder = tmp_path_factory.mktemp("raised")
    source, target = folder / "survey.toml", folder / "survey.json"
    source.write_text(toml(1))
    call("publish", source, "-o", target)
    for name in ("browser", "pair", "trip"):
        call("simulate", name, *at(folder), "--people", 3_000, "--seed", 1)
    (folder / "list.txt").write_text("abab\nbaba\naaaa\n")
    crowd = ("--candidates", folder / "list.txt", "--people", 3_000, "--seed", 1)
    call("simulate", "words", *at(folder), *crowd)
    source.write_text(toml(2))
    call("publish", source, "-o", target)
    return folder


def at(folder: Path) -> tuple[object, ...]:
    return ("--survey", folder / "survey.json", "--data", folder / "data")


VERBS: list[tuple[str, ...]] = [
    ("estimate", "browser"),
    ("count", "browser"),
    ("associate", "pair"),
    ("marginals", "trip"),
    ("discover", "words"),
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_every_asking_verb_reads_the_version_that_is_named(
    raised: Path, verb: tuple[str, ...]
) -> None:
    old = run(*verb, *at(raised), "--version", 1, "--json")
    assert old.exit_code == 0, old.output
    assert "3000" in old.stdout
    assert "There are no reports" not in old.stderr
    new = runner.invoke(app, [*verb, *map(str, at(raised)), "--json"])
    assert "There are no reports of version 2" in new.stderr
    assert "version 1 has 3,000. Add --version 1 to read them." in new.stderr
    with pytest.raises(InvalidParameter, match="has no version 3 in this survey"):
        run(*verb, *at(raised), "--version", 3)


def test_export_encode_simulate_and_explain_take_a_version(raised: Path, tmp_path: Path) -> None:
    target = tmp_path / "reports.ndjson"
    told = json.loads(
        call("export", "browser", "-o", target, *at(raised), "--version", 1, "--json")
    )
    assert (told["version"], told["reports"]) == (1, 3_000)
    survey = ("--survey", raised / "survey.json")
    report = json.loads(call("encode", "browser", "a", *survey, "--version", 1, "--json"))
    assert report["version"] == 1
    with pytest.raises(InvalidAnswer):
        call("encode", "browser", "d", *survey, "--version", 1)  # a name of version 2
    elsewhere = (*survey, "--data", tmp_path / "data", "--people", 10)
    crowd = json.loads(call("simulate", "browser", *elsewhere, "--version", 1, "--json"))
    assert (crowd["version"], set(crowd["truth"]["value"])) == (1, {"a", "b", "c"})
    named = ("--question", "browser", "--version")
    for version in (1, 2):
        told = json.loads(call("explain", raised / "survey.json", *named, version, "--json"))
        assert [q["title"] for q in told["questions"]] == [f"browser (version {version}): Which?"]
    with pytest.raises(InvalidParameter, match="--version belongs to --question"):
        call("explain", raised / "survey.json", "--version", 1)


def test_publish_keeps_earlier_versions_and_says_what_devices_do(tmp_path: Path) -> None:
    source, target = tmp_path / "survey.toml", tmp_path / "survey.json"
    source.write_text(toml(1))
    assert "No survey was published there before" in call("publish", source, "-o", target)
    source.write_text(toml(2))
    told = json.loads(call("publish", source, "-o", target, "--json"))
    assert {(q["id"], q["version"]) for q in told["earlier"]} == {
        (name, 1) for name in ("browser", "pair", "trip", "words")
    }
    assert {change["kind"] for change in told["changes"]} == {"raised"}
    published = target.read_bytes()
    text = call("publish", source, "-o", target)
    assert target.read_bytes() == published
    assert "Nothing has changed for devices" in text
    assert "1 (earlier)" in text
    gone = json.loads(call("publish", source, "-o", target, "--forget", "pair:1", "--json"))
    assert "pair" not in {q["id"] for q in gone["earlier"]}
    assert Survey.load(target).question("pair", 1) is None
    for wrong in ("pair", "pair:", ":1", "pair:x"):
        with pytest.raises(InvalidParameter, match="ID:VERSION"):
            call("publish", source, "-o", target, "--forget", wrong)
    source.write_text(toml(1))
    before = target.read_bytes()
    with pytest.raises(InvalidParameter, match="goes backwards"):
        call("publish", source, "-o", target)
    assert target.read_bytes() == before


def test_publish_says_that_nothing_is_known_of_earlier_versions(tmp_path: Path) -> None:
    source, target = tmp_path / "survey.toml", tmp_path / "survey.json"
    source.write_text(toml(2))
    told = json.loads(call("publish", source, "-o", target, "--json"))
    assert "Nothing is known of 'browser' before version 2" in str(told["warnings"])
    assert "Nothing is known" in run("publish", source, "-o", target).stderr
    target.write_text("{}")
    with pytest.raises(InvalidParameter, match="is there and is no published survey"):
        call("publish", source, "-o", target)


def many(number: int, ceiling: str = "") -> str:
    questions = "".join(
        f'[[questions]]\nid = "q{i}"\ndescription = "?"\nexpires = 2035-12-31\n'
        f'domain = "boolean"\nmechanism = "krr"\nparameters = {{ epsilon = 2.0 }}\n'
        for i in range(number)
    )
    return f'name = "n"\nowner = "o"\npeople = 100000\n{ceiling}\n{questions}'


def test_check_and_publish_warn_of_questions_beyond_the_ceiling(tmp_path: Path) -> None:
    source, target = tmp_path / "survey.toml", tmp_path / "survey.json"
    source.write_text(many(20))
    told = json.loads(call("check", source, "--json"))
    (warning,) = told["warnings"]
    assert warning["key"] == "ceiling"
    assert "epsilon 40 in all; it discloses at most 16 in its life" in warning["message"]
    assert "leaves out 12.0 of 20 questions" in warning["message"]
    assert told["budget"]["left_out"] == pytest.approx(12)
    assert "leaves out 12.0 of 20" in call("check", source)
    assert "leaves out 12.0 of 20" in run("publish", source, "-o", target).stderr
    source.write_text(many(20, "ceiling = 40"))
    assert json.loads(call("check", source, "--json"))["warnings"] == []
    call("publish", source, "-o", target)
    assert Survey.load(target).ceiling == 40_000_000


@pytest.mark.parametrize("bad", ["0", "-1", "nan", "inf", '"16"', "true", "1e7", "1e-9"])
def test_a_bad_ceiling_is_a_problem(tmp_path: Path, bad: str) -> None:
    (tmp_path / "survey.toml").write_text(many(1, f"ceiling = {bad}"))
    result = run("check", tmp_path / "survey.toml", "--json")
    (problem,) = json.loads(result.stdout)["problems"]
    assert problem["key"] == "ceiling"
    assert "0.000001" in problem["message"]


def test_explain_and_plan_have_the_same_budget(tmp_path: Path) -> None:
    source = tmp_path / "survey.toml"
    source.write_text(many(20))
    explained = json.loads(call("explain", source, "--json"))["budget"]
    planned = json.loads(call("plan", "--survey", source, "--json"))
    parts = planned["parts"]["budget"]["rows"]
    ceiling = {"ceiling": explained["ceiling"]}
    assert parts == [{**line, **ceiling} for line in explained["questions"]]
    assert planned["plan"]["epsilon_of_a_year"] == 16.0
    assert planned["plan"]["epsilon_of_a_year_without_ceiling"] == 40.0
    assert explained["questions"][0]["left_out"] == pytest.approx(0.6)
    for text in (call("explain", source), call("plan", "--survey", source)):
        assert "Budget of a device" in text
        assert "60%" in text
        assert "leaves out 12.0 of 20 questions" in text
