"""A survey with every mechanism and every kind of question, through every audit and the plan.

As a person calls them: written, published, answered by simulated people, audited.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.protocol import MECHANISMS, PROFILE_MECHANISMS, Survey

HEAD = 'name = "every"\nowner = "a@example.org"\npeople = 50000\n'
QUESTION = """
[[questions]]
id = "{id}"
description = "?"
expires = 2099-12-31
"""
PLAIN = 'domain = {domain}\nmechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n{more}'
COLOURS = '{ type = "categories", values = ["a", "b", "c", "d", "e"] }'
SET = '{ type = "set", values = ["a", "b", "c"], most = 2 }'
NAMES = '{ type = "strings", alphabet = "abcd", length = 4 }'
BLOOM = "k = 32, h = 2, m = 4, f = 0.5, p = 0.5, q = 0.75"
PER_BIT = 'epsilon = 1.0, epsilon_forever = 3.0, per = "bit"'
ATTRIBUTES = """
[[questions.fields]]
name = "card"
domain = "boolean"

[[questions.fields]]
name = "zone"
domain = { type = "categories", values = ["inner", "middle", "outer"] }

[[questions.fields]]
name = "tip"
domain = "boolean"
"""
FIELDS = """
[[questions.fields]]
name = "colour"
domain = { type = "categories", values = ["a", "b", "c"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions.fields]]
name = "text"
domain = "strings"
mechanism = "olh"
parameters = { epsilon = 1.0 }
"""
CLOSED = ("krr", "orr", "pgr", "hcms", "oue", "olh", "hadamard", "subset")
OTHERS = [
    ("bloom", '"strings"', "rappor", BLOOM, ""),
    ("prefixes", NAMES, "prefixes", "epsilon = 2.0", ""),
    ("ngrams", NAMES, "ngrams", "epsilon = 4.0, k = 16, m = 4", ""),
    ("set", SET, "krr", "epsilon = 1.0", ""),
    ("set-bits", SET, "oue", PER_BIT, ""),
    ("always", '"boolean"', "krr", "epsilon = 1.0, epsilon_forever = 2.0", 'send = "always"\n'),
    ("permanent", NAMES, "ngrams", "epsilon = 4.0, k = 16, m = 4", 'repeat = "permanent"\n'),
    ("bins", '{ type = "numbers", edges = [1, 10] }', "subset", "epsilon = 1.0", ""),
]
runner = CliRunner()
app = make_app(["audit", "publish", "simulate", "plan"])


def written() -> str:
    parts = [HEAD]
    plain = [(name, COLOURS, name, "epsilon = 1.0", "") for name in CLOSED]
    for name, domain, mechanism, parameters, more in (*plain, *OTHERS):
        parts.append(QUESTION.format(id=name))
        parts.append(
            PLAIN.format(domain=domain, mechanism=mechanism, parameters=parameters, more=more)
        )
    for mechanism in PROFILE_MECHANISMS:
        parts.append(QUESTION.format(id=mechanism.replace("_", "-")))
        parts.append(f'mechanism = "{mechanism}"\nparameters = {{ epsilon = 1.0 }}\n{ATTRIBUTES}')
    return "".join([*parts, QUESTION.format(id="fields"), FIELDS])


def call(*arguments: object) -> str:
    result = runner.invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with survey.toml, survey.json and a data directory with reports to each question."""
    folder = tmp_path_factory.mktemp("every")
    (folder / "survey.toml").write_text(written())
    (folder / "names.txt").write_text("abcd\nbcda\ndddd\na\n")
    call("publish", folder / "survey.toml", "-o", folder / "survey.json")
    for question in Survey.load(folder / "survey.json").questions:
        where = ("--survey", folder / "survey.json", "--data", folder / "data")
        strings = any(field.domain.size is None for field in question.fields)
        listed = strings and question.fields[0].parameters.mechanism not in PROFILE_MECHANISMS
        more = ("--candidates", folder / "names.txt") if listed else ()
        call("simulate", question.id, *where, "--people", 1_500, *more)
    return folder


def found(*arguments: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(call(*arguments, "--json"))
    return answer


def abouts(answer: dict[str, Any], check: str) -> set[str]:
    return {finding["about"] for finding in answer["findings"] if finding["check"] == check}


def names(folder: Path) -> set[str]:
    survey = Survey.load(folder / "survey.json")
    return {
        question.id if question.plain else f"{question.id}.{field.name}"
        for question in survey.questions
        for field in question.fields
    }


def test_every_mechanism_is_asked(folder: Path) -> None:
    survey = Survey.load(folder / "survey.json")
    asked = {field.parameters.mechanism for q in survey.questions for field in q.fields}
    assert asked == set(MECHANISMS)


def test_exact(folder: Path) -> None:
    answer = found("audit", "exact", folder / "survey.toml")
    assert answer["holds"]
    assert abouts(answer, "epsilon of one report") == names(folder) | {"fields"}  # and their sum


def test_sample(folder: Path) -> None:
    """Findings of right encoders fail once in a million: asserted is that each is there."""
    result = runner.invoke(
        app, ["audit", "sample", str(folder / "survey.json"), "--trials", "250", "--json"]
    )
    answer = json.loads(result.stdout)
    for check in ("lower bound on epsilon", "the exact channel", "every probability"):
        assert abouts(answer, check) == names(folder)


def test_wire(folder: Path) -> None:
    assert found("audit", "wire", folder / "survey.toml")["holds"]


def test_store_with_advice(folder: Path) -> None:
    """Advice never fails; what is strange about 1,500 honest reports has one chance in 10^6."""
    arguments = ("store", "--data", folder / "data", "--survey", folder / "survey.json", "--json")
    answer = json.loads(runner.invoke(app, ["audit", *map(str, arguments)]).stdout)
    assert abouts(answer, "advice on crafted reports") == names(folder)
    assert abouts(answer, "no sender in any byte") == {"the data directory"}


def test_attack(folder: Path) -> None:
    answer = found("audit", "attack", folder / "survey.toml", "--devices", 500)
    assert answer["holds"]
    for check in ("averaging", "targeting", "linking and change", "crafted reports"):
        assert abouts(answer, check) == names(folder)


def test_plan(folder: Path) -> None:
    answer = found("plan", "--survey", folder / "survey.toml")
    planned = {
        row["question"] if row["field"] == "value" else f"{row['question']}.{row['field']}"
        for row in answer["rows"]
    }
    assert planned == names(folder)
    assert all(row["smallest_share"] > 0 and row["mean_error"] > 0 for row in answer["rows"])
    few = found("plan", "--survey", folder / "survey.json", "--people", 60)
    warned = [note for note in few["notes"] if "Nothing can be learned" in note]
    assert len(warned) > 10
    assert "warning: prefixes: Nothing can be learned" in call(
        "plan", "--survey", folder / "survey.toml", "--people", 60
    )
