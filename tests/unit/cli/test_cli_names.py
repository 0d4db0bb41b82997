"""deniable names: a module in which a misspelt question or value does not compile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api

from deniable.authoring import read_authored
from material.commands import call, run
from material.node import program
from material.surveys import BOOLEAN, asked, categories, profile, several, survey, unlisted

ROOT = Path(__file__).parents[3]
COMPILER = ROOT / "js/tests/types/node_modules/typescript/bin/tsc"
COLOURS = categories("red", "it's blue")
SURVEY = survey(
    asked("dark-mode"),
    asked("colour", categories("red", "blue"), description="A 'so-called' colour"),
    asked("size", '{ type = "numbers", edges = [0, 1] }'),
    asked("tools", '{ type = "set", values = ["a", "b", "c"], most = 2 }', "krr", "epsilon = 4.0"),
    asked("word", unlisted("abcd"), "prefixes", "epsilon = 4.0"),
    several(
        "two", ("class", BOOLEAN, "krr", "epsilon = 3.0"), ("b", COLOURS, "krr", "epsilon = 3.0")
    ),
    profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", COLOURS)),
    head="ceiling = 50.0\n",
)
GOOD = """
from deniable import Client
from questions import Questions

def use(client: Client) -> None:
    q = Questions(client)
    q.dark_mode(True, wait=True)
    q.colour("red")
    q.size(1.5)
    q.tools(["a", "b"])
    q.word("abba")
    q.two({"class": True, "b": "red"})
    q.many({"x": True, "y": "red"})
"""
BAD = (
    "q.dark_mod(True)",
    'q.dark_mode("yes")',
    'q.colour("green")',
    'q.size("1")',
    'q.tools(["a", "d"])',
    'q.two({"class": True})',
    'q.many({"x": True, "z": "red"})',
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "survey.json").write_bytes(
        read_authored(tmp_path / "survey.toml").require().published()
    )
    call("names", tmp_path / "survey.json", "-o", tmp_path / "questions.py")
    call("names", tmp_path / "survey.toml", "-o", tmp_path / "questions.d.ts")
    return tmp_path


def test_a_typo_does_not_compile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*GOOD.rstrip().splitlines(), *(f"    {line}" for line in BAD)]
    (folder / "app.py").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    told, problems, _ = api.run(
        ["--strict", "--follow-imports=silent", "--cache-dir", str(folder / "cache"), "app.py"]
    )
    assert problems == ""
    wrong = {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line}
    first = len(GOOD.rstrip().splitlines())
    assert wrong == set(range(first + 1, first + 1 + len(BAD))), told


def test_the_module_runs_and_records(folder: Path) -> None:
    program_text = (
        "from deniable import Client\nfrom questions import Questions\n"
        "client = Client('survey.json', 'state', strict=True)\nclient.opt_in()\n"
        "Questions(client).dark_mode(True)\nQuestions(client).two({'class': True, 'b': 'red'})\n"
        "print(*[report.question for report in client.pending()])\nclient.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program_text],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{folder}"},
    )
    assert sorted(done.stdout.split()) == ["dark-mode", "two"]


def test_a_typo_does_not_compile_in_typescript(folder: Path) -> None:
    good = 'import type { SurveyClient } from "./questions.js";\ndeclare const c: SurveyClient;\n'
    good += 'c.record("dark-mode", true);\nc.record("two", { class: true, b: "red" });\n'
    good += 'c.record("tools", ["a"]);\nc.record("many", { x: true, y: "red" });\n'
    bad = ['c.record("dark-mod", true);', 'c.record("colour", "green");', 'c.record("size", "1");']
    (folder / "app.ts").write_text(good + "\n".join(bad) + "\n")
    done = subprocess.run(
        [program("node"), COMPILER, "--noEmit", "--strict", "--module", "nodenext", "app.ts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if line.startswith("app.ts(")]
    wrong = {int(line.split("(")[1].split(",")[0]) for line in errors}
    first = len(good.splitlines())
    assert wrong == set(range(first + 1, first + 1 + len(bad))), done.stdout


def test_names_that_collide_and_files_of_other_kinds_are_refused(folder: Path) -> None:
    (folder / "survey.toml").write_text(survey(asked("a-b"), asked("a.b")))
    found = run("names", folder / "survey.toml")
    assert "both be called 'a_b'" in str(found.exception)
    wrong = run("names", folder / "survey.json", "-o", folder / "names.txt")
    assert "must end in .py or .d.ts" in str(wrong.exception)
    assert "There is no survey" in str(run("names", folder / "gone.json").exception)
    assert "class Questions" in call("names", folder / "survey.json")
