"""The command line helps: it fits a terminal, guesses, names options, and says what to do next."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from deniable.authoring import read_authored
from deniable.authoring.field import fitting_mechanisms
from deniable.cli.app import VERBS
from deniable.cli.init import TEMPLATES, candidate_files
from deniable.cli.output import wrapped
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.mechanisms import MECHANISMS
from deniable.protocol import Boolean, Strings, Survey
from material.commands import RUNNER, call, commands, run
from material.surveys import asked, categories, listed, several, survey

NAMES = ("web", "cli", "research")
DENIABLE = [sys.executable, "-m", "deniable"]
SCRIPT = Path(sys.executable).with_name("deniable")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("template", NAMES)
def test_a_template_runs_from_init_to_an_estimate(folder: Path, template: str) -> None:
    told = json.loads(call("init", "--template", template, "--json"))
    assert [Path(file).name for file in told["files"]] == [
        "survey.toml",
        *candidate_files((TEMPLATES / f"{template}.toml").read_bytes()),
    ]
    assert len(told["files"]) == 2
    assert "ready to be published" in call("check", "survey.toml")
    assert re.search(r'owner = "\w+@example\.org"', Path("survey.toml").read_text())
    call("publish", "survey.toml")
    for question in Survey.load("survey.json").questions:
        call("simulate", question.id, "--people", 300, "--seed", 1)
        assert question.id in call("estimate", question.id, "--data", "simulated")
    assert "exists already" in str(run("init", "--template", template).exception)


@pytest.mark.parametrize("template", NAMES)
def test_a_template_costs_at_most_epsilon_4_for_ever(template: str) -> None:
    found = read_authored(TEMPLATES / f"{template}.toml").require()
    forever = [question.epsilon_forever for question in found.questions]
    assert None not in forever
    assert sum(one or 0 for one in forever) <= 4_000_000
    page = call("explain", TEMPLATES / f"{template}.toml", "--public")
    assert found.owner.endswith("@example.org")
    assert found.owner in page
    assert "come to believe 55 in 56 about any one thing" in page


def test_every_template_is_offered() -> None:
    assert {path.stem for path in TEMPLATES.glob("*.toml")} == set(NAMES)


@pytest.mark.parametrize("name", ["", *VERBS, *commands()])
def test_help_fits_a_terminal_and_is_not_cut(name: str) -> None:
    environment = {"COLUMNS": "80", "TERMINAL_WIDTH": "80"}
    told = RUNNER.invoke(_app(), [*name.split(), "--help"], env=environment).output
    assert "Usage" in told
    assert max(map(len, told.splitlines())) <= 80
    listing = told.partition("Commands:")[2]
    assert "..." not in listing


def _app() -> object:
    from material.commands import APP

    return APP


@pytest.mark.parametrize("name", commands())
def test_the_first_line_of_a_verb_is_a_sentence(name: str) -> None:
    first = (commands()[name].help or "").strip().partition("\n\n")[0].replace("\n", " ")
    assert first.endswith(".")
    assert ". " not in first.rstrip(".").replace("e.g. ", "")


def in_terminal(*arguments: str, columns: int) -> str:
    """Run a command in a terminal of some columns; return what it shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb"}
    with subprocess.Popen([*DENIABLE, *arguments], stdout=theirs, env=environment) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65_536):
                parts.append(part)
        except OSError:  # the other end is closed
            pass
        process.wait(60)
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_output_wraps_at_words_in_a_terminal(folder: Path) -> None:
    call("init")
    narrow = in_terminal("explain", "survey.toml", columns=80)
    assert max(map(len, narrow.splitlines())) <= 80
    piped = call("explain", "survey.toml")
    assert max(map(len, piped.splitlines())) > 80
    assert narrow.split() == piped.split()


def test_a_wide_table_fits_a_narrow_terminal(folder: Path) -> None:
    call("init")
    call("publish", "survey.toml")
    (folder / "homepages.txt").write_text("".join(f"https://{'long' * 12}.{i}\n" for i in "abc"))
    call("simulate", "homepage", "--people", 500, "--seed", 1, "--data", "data")
    narrow = in_terminal("estimate", "homepage", columns=80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "95% interval" in narrow


def test_wrapped_text_keeps_its_indent() -> None:
    text = "  - " + "word " * 30
    lines = wrapped(text.rstrip(), 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("    ") for line in lines[1:])
    assert wrapped("x" * 50, 40) == "x" * 50


def problems(folder: Path, text: str) -> str:
    (folder / "survey.toml").write_text(text)
    with pytest.raises(InvalidSurvey) as caught:
        read_authored(folder / "survey.toml").require()
    return str(caught.value)


def test_a_key_and_a_mechanism_are_guessed(folder: Path) -> None:
    told = problems(folder, survey(asked("dark").replace("expires", "expire")))
    assert "unknown key. Did you mean 'expires'?" in told
    told = problems(folder, survey(asked("dark", mechanism="kkr")))
    assert "unknown mechanism 'kkr'. Did you mean 'krr'?" in told


def test_only_mechanisms_that_fit_the_domain_are_named(folder: Path) -> None:
    told = problems(folder, survey(asked("dark", mechanism="nothing")))
    named = told.partition("use one of: ")[2].partition(";")[0].split(", ")
    assert {"krr", "oue", "auto"} <= set(named)
    assert not {"marg_ps", "prefixes", "ngrams", "inp_ht"} & set(named)
    assert set(fitting_mechanisms(None, False)) == set(MECHANISMS)
    strings = fitting_mechanisms(Strings(), False)
    assert {"rappor", "olh"} <= set(strings)
    assert not {"krr", "inp_ht"} & set(strings)
    assert set(fitting_mechanisms(Strings("abc", 4), False)) >= {"prefixes", "ngrams"}
    assert "krr" in fitting_mechanisms(Boolean(), True)


SEGMENTED = survey(
    asked("dark", more='segments = ["platform"]\nrepeat = "epoch"\n'),
    head='people = 1000000\n[[segments]]\nname = "platform"\nvalues = ["linux", "mac"]\n',
)


def test_questions_and_segments_are_guessed(folder: Path) -> None:
    (folder / "survey.toml").write_text(SEGMENTED)
    call("publish", "survey.toml")
    call("simulate", "dark", "--people", 300, "--data", "data")
    for arguments, words in (
        (("estimate", "drak"), "Did you mean 'dark'"),
        (("estimate", "dark", "--where", "platfrom=mac"), "Did you mean 'platform'"),
        (("estimate", "dark", "--where", "platform=linus"), "Did you mean 'linux'"),
    ):
        assert words in str(run(*arguments).exception)


def test_an_error_names_the_option_that_mends_it(folder: Path) -> None:
    (folder / "survey.toml").write_text(
        survey(asked("page", '{ type = "strings" }', "olh", "epsilon = 1.0"))
    )
    call("publish", "survey.toml")
    (folder / "pages.txt").write_text("a\nb\n")
    call("simulate", "page", "--people", 10, "--candidates", "pages.txt", "--data", "data")
    for verb in ("simulate", "estimate"):
        found = run(verb, "page")
        assert isinstance(found.exception, InvalidParameter)
        assert "--candidates" in str(found.exception)


def test_estimate_without_a_question_lists_all_with_their_answers(folder: Path) -> None:
    (folder / "survey.toml").write_text(
        survey(
            asked("dark"),
            asked("size", '{ type = "numbers", edges = [0, 1, 2] }', "krr", "epsilon = 4.0"),
            several(
                "two",
                ("a", '"boolean"', "krr", "epsilon = 3.0"),
                ("b", categories("x", "y"), "krr", "epsilon = 3.0"),
            ),
            asked("page", listed("gone.txt"), "olh", "epsilon = 1.0"),
            asked("late"),
        )
    )
    (folder / "gone.txt").write_text("a\nb\n")
    call("publish", "survey.toml")
    call(
        "simulate", "dark", "size", "two", "page", "--people", 2_000, "--seed", 1, "--data", "data"
    )
    (folder / "gone.txt").unlink()
    told = call("estimate")
    lines = {line.split()[0]: line for line in told.splitlines() if line.strip()}
    assert re.search(r"dark +2,000 +true \d+%", lines["dark"])
    assert "median" in lines["size"]
    assert "a: " in lines["two"]
    assert "cannot be read" in told
    assert re.search(r"late +0", lines["late"])
    whole = json.loads(call("estimate", "--json"))
    schema = Path(__file__).parents[3] / "spec/schemas/table.json"
    jsonschema.validate(whole, json.loads(schema.read_text()))
    rows = whole["rows"]
    assert [row["reports"] for row in rows][:3] == [2_000] * 3


@pytest.mark.parametrize("verb", ["estimate", "discover"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_reports_is_said_and_is_exit_1(folder: Path, verb: str, form: tuple[str, ...]) -> None:
    word = '{ type = "strings", alphabet = "abcd", length = 4, candidates = "w.txt" }'
    (folder / "w.txt").write_text("abba\n")
    (folder / "survey.toml").write_text(survey(asked("word", word, "prefixes", "epsilon = 4.0")))
    call("publish", "survey.toml")
    call("simulate", "word", "--people", 10, "--data", "data")
    call("simulate", "--remove", "--data", "data")
    found = run(verb, "word", *form)
    assert found.exit_code == 1
    assert "There are no reports to 'word'" in found.stderr
    assert run("estimate", *form).exit_code == 1


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (("--categories", 5, "--people", 10_000), "Worth asking: with krr"),
        (("--categories", 500, "--people", 1_000), "Not worth asking like this"),
        (("--yes-no", "--people", 1), "far more people|That needs about"),
        (("--attributes", 4, "--people", 100_000), "Worth asking"),
        (("--strings", "--candidates", 50, "--people", 1_000), "Not worth asking like this"),
    ],
)
def test_a_plan_ends_in_a_sentence(wanted: tuple[object, ...], words: str) -> None:
    last = call("plan", *wanted, "--epsilon", 1).strip().splitlines()[-1]
    assert re.search(words, last)
    assert last.endswith(".")


def test_the_plan_of_a_survey_ends_in_a_sentence() -> None:
    told = call("plan", "--survey", TEMPLATES / "web.toml", "--people", 50)
    assert "Not worth asking like this: dark-mode" in told.strip().splitlines()[-1]


def test_formulas_stand_apart_from_plain_words() -> None:
    for template in NAMES:
        for part in call("explain", TEMPLATES / f"{template}.toml").split("\n\n"):
            plain = part.partition("In numbers, for engineers:")[0]
            assert not re.search(r"\^|/ n\b|\bwork n|n k\b|log K", plain), plain


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("deniable est", "estimate"), ("deniable estimate --cand", "--candidates")],
)
def test_a_shell_completes_verbs_and_options(words: str, wanted: str) -> None:
    environment = {
        **os.environ,
        "_DENIABLE_COMPLETE": "complete_zsh",
        "_TYPER_COMPLETE_ARGS": words,
    }
    done = subprocess.run(
        [SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert wanted in done.stdout


def test_the_completion_of_a_shell_is_shown() -> None:
    # The shell that asks is found among the parents; with nothing after it, bash would vanish.
    done = subprocess.run(
        ["bash", "-c", '"$0" --show-completion; true', str(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "complete -o default -F _deniable_completion deniable" in done.stdout, done.stderr
