"""deniable audit, as a person calls it; and the second error bar of deniable estimate."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.client.encoders.base import Draws
from deniable.client.encoders.krr import KRREncoder

SURVEY = """\
name = "audited"
owner = "a@example.org"

[[questions]]
id = "dark-mode"
description = "Is dark mode on?"
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "browser"
description = "Which?"
expires = 2099-12-31
domain = { type = "categories", values = ["firefox", "chrome", "safari"] }
mechanism = "oue"
parameters = { epsilon = 1.0, epsilon_forever = 3.0 }
"""
runner = CliRunner()
app = make_app(["audit", "publish", "simulate", "estimate"])


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY)
    return path


def call(*arguments: object, code: int = 0) -> str:
    result = runner.invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def found(*arguments: object, code: int = 0) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(call("audit", *arguments, "--json", code=code))
    return answer


def either(*arguments: object) -> dict[str, Any]:
    """Return the findings of an audit of fresh randomness, whichever they are."""
    result = runner.invoke(app, ["audit", *map(str, arguments), "--json"])
    answer: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if answer["holds"] else 1)
    return answer


def test_exact(survey: Path) -> None:
    answer = found("exact", survey)
    assert answer["holds"]
    assert [finding["epsilon"] for finding in answer["findings"][1:]] == [1.0, 1.0, 3.0]
    text = call("audit", "exact", survey)
    assert "holds epsilon of one report: worst ratio 2.718281" in text
    assert "All 4 hold." in text


def test_exact_of_a_published_survey(survey: Path, tmp_path: Path) -> None:
    published = tmp_path / "survey.json"
    call("publish", survey, "-o", published)
    assert found("exact", published) == found("exact", survey)


def test_a_failed_finding_is_exit_code_1(survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = KRREncoder._stage

    def stage(self: KRREncoder, symbol: int, keep: int, draws: Draws) -> int:
        return right(self, symbol, min(2**64, keep + 2**50), draws)

    monkeypatch.setattr(KRREncoder, "_stage", stage)
    answer = found("exact", survey, code=1)
    assert not answer["holds"]
    assert "3 of 4 findings hold." in call("audit", "exact", survey, code=1)


def test_sample(survey: Path) -> None:
    answer = either("sample", survey, "--trials", 300)
    checks = [(finding["about"], finding["check"]) for finding in answer["findings"]]
    assert checks == [
        ("dark-mode", "lower bound on epsilon"),
        ("dark-mode", "the exact channel"),
        ("dark-mode", "every probability"),
        ("browser", "lower bound on epsilon"),
        ("browser", "the exact channel"),
        ("browser", "every probability"),
        ("browser", "permanent response"),
    ]


def test_wire(survey: Path) -> None:
    answer = found("wire", survey)
    assert answer["holds"], answer
    assert len(answer["findings"]) == 9


def test_store(survey: Path, tmp_path: Path) -> None:
    published, data = tmp_path / "survey.json", tmp_path / "data"
    call("publish", survey, "-o", published)
    call("simulate", "browser", "--survey", published, "--data", data, "--people", 2_000)
    answer = either("store", "--data", data, "--survey", published)
    checks = [finding["check"] for finding in answer["findings"]]
    assert checks[:4] == [
        "no column for a sender",
        "no ids of closed epochs",
        "no sender in any byte",
        "advice on crafted reports",
    ]
    (data / "log").write_text("GET / from 192.0.2.1")
    assert not found("store", "--data", data, code=1)["holds"]


def test_attack(survey: Path, tmp_path: Path) -> None:
    answer = found("attack", survey, "--devices", 500, "--out", tmp_path / "charts")
    assert answer["holds"]
    assert len(answer["files"]) == 12
    assert all(Path(file).is_file() for file in answer["files"])
    assert [field["about"] for field in answer["fields"]] == ["dark-mode", "browser"]
    text = call("audit", "attack", survey, "--devices", 500, "--seed", 3)
    assert "three attackers: epsilon 1 of one report" in text


def test_estimate_with_attackers(survey: Path, tmp_path: Path) -> None:
    published, data = tmp_path / "survey.json", tmp_path / "data"
    call("publish", survey, "-o", published)
    call("simulate", "browser", "--survey", published, "--data", data, "--people", 2_000)
    options = ("--survey", published, "--data", data, "--crafted", 0.01)
    answer = json.loads(call("estimate", "browser", *options, "--json"))
    assert answer["crafted"] == 0.01
    assert "with 0.01 crafted" in call("estimate", "browser", *options)
    call("estimate", "--google-rappor", tmp_path, "--crafted", 0.01, code=2)


def test_the_group_is_read_without_what_its_audits_need() -> None:
    code = (
        "import sys, deniable.cli.audit; "
        "print([m for m in ('numpy', 'scipy', 'starlette', 'altair') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
