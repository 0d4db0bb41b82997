"""The documentation is true: every command, option, key and reason is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable.authoring import authoring_of, domain, read_authored, survey
from deniable.authoring.field import FIELD_KEYS
from deniable.cli.app import VERBS
from deniable.cli.plugins import WITHOUT
from deniable.client.counters import FITTED, REASONS, UPLOAD_REASONS
from deniable.protocol import MECHANISMS
from material.commands import commands
from material.surveys import STARTER

ROOT = Path(__file__).parents[2]
COMMANDS = (ROOT / "docs/commands.md").read_text()
SURVEY = (ROOT / "docs/survey.md").read_text()


def test_every_verb_has_a_command() -> None:
    assert {name.split()[0] for name in commands()} == set(VERBS)


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help_json_and_a_documented_row(name: str) -> None:
    command = commands()[name]
    assert command.help
    row = re.search(rf"^\| `deniable {name}` \|.*$", COMMANDS, re.MULTILINE)
    assert row, f"docs/commands.md has no row for {name}"
    options = {
        option
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    } - {"--help"}
    assert "--json" in options
    assert ("--plugin" in options) == (name.split()[0] not in WITHOUT)
    assert set(re.findall(r"`(--[a-z-]+)`", row.group())) == options - {"--json", "--plugin"}


def test_the_option_of_every_command_that_reads_a_survey_is_documented() -> None:
    assert "Every command that reads a survey has `--plugin FILE`" in COMMANDS


def test_every_survey_key_is_documented() -> None:
    keys = set(survey._SURVEY_KEYS | survey._QUESTION_KEYS | FIELD_KEYS)
    for allowed in domain._KEYS.values():
        keys |= allowed
    for mechanism in MECHANISMS:
        keys |= {*authoring_of(mechanism).keys, mechanism}
    words = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`\n]+`", SURVEY))))
    assert keys - words == set()


def test_every_counter_of_the_client_is_documented() -> None:
    page = (ROOT / "docs/client.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    words = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert {*REASONS, *UPLOAD_REASONS, FITTED} - words == set()
    assert {"refused_REASON", "waiting_REASON", "status_NNN"} <= words


def test_what_a_crash_and_a_copy_do_is_said_where_app_developers_look() -> None:
    for name in ("README.md", "docs/client.md"):
        page = " ".join((ROOT / name).read_text().split())
        assert "wait=True" in page
        assert re.search(r"may (be lost|lose)", page)
        assert re.search(r"copied or restored( folder)? ", page)
    assert "A copy of the client's folder" in (ROOT / "SECURITY.md").read_text()


@pytest.mark.parametrize(
    "path", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("spec/*.md")], ids=str
)
def test_every_link_to_a_file_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def run_example(word: str, *changes: tuple[str, str]) -> None:
    """Run the example of the README that holds a word."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (example,) = [block for block in blocks if word in block]
    for old, new in changes:
        assert old in example
        example = example.replace(old, new)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own documentation


def test_the_example_for_app_developers_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_bytes(STARTER.read_bytes())
    survey = read_authored(tmp_path / "survey.toml").require()
    (tmp_path / "survey.json").write_bytes(survey.published())
    nobody_listens = "http://127.0.0.1:9"
    run_example("client.record", ("https://telemetry.example.org", nobody_listens))
    told = capsys.readouterr().out
    assert "would like to know how it is used" in told
    assert "'question': 'dark-mode'" in told
    assert "total: epsilon 1 of 16" in told
    assert (tmp_path / "state").is_dir()


def test_the_analyst_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_example("simulate")
    printed = capsys.readouterr().out
    assert printed.startswith("1.074286 4.39445\n")
    assert "news: 0." in printed
