"""Every snippet of the guides: commands are understood, surveys are accepted, Python runs.

The tutorials are followed step by step in tests/site. The guides show single commands about stores
that a reader has: tests/site/test_guides_run.py runs them. Here each is read by the real command
line, and every survey by the real reader.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from deniable.authoring import read_authored
from material.commands import commands

ROOT = Path(__file__).parents[2]
GUIDES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "SECURITY.md"])
_FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)((?: {4}[^\n]*\n)(?:(?: {4}[^\n]*)?\n)*)")
_HEAD = 'name = "t"\nowner = "t"\npeople = 1_000_000\n'


def blocks(page: str) -> Iterator[str]:
    """Yield the blocks of a page, fenced ones and indented ones."""
    for _, text in _FENCED.findall(page):
        yield text
    for text in _INDENTED.findall(re.sub(_FENCED, "", page)):
        yield "\n".join(line[4:] for line in text.rstrip().splitlines())


def calls(page: str) -> Iterator[list[str]]:
    """Yield every call of the command line in the blocks of a page, as words."""
    for block in blocks(page):
        for line in block.splitlines():
            found = re.match(r"(?:\$ )?(?:\w+=\S+ )*deniable ([a-z].*)", line)
            if found and "|" not in found[1]:
                told = re.sub(r"\s{2,}.*$| > \S+", "", found[1])
                for part in told.split("&& deniable "):
                    yield shlex.split(part.rstrip("& "), comments=True)


ALL = [(path.name, words) for path in GUIDES for words in calls(path.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "words"), ALL, ids=lambda given: " ".join(given)[:60])
def test_every_command_of_a_page_is_understood(page: str, words: list[str]) -> None:
    known = commands()
    name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
    assert name in known, f"{page}: there is no command {words[0]}"
    rest = words[len(name.split()) :]
    if name == "explain" and not any(word.endswith((".toml", ".json")) for word in rest):
        rest = ["survey.toml", *rest]
    if "--plugin" in rest:  # it would be registered for good, in this process
        place = rest.index("--plugin")
        assert Path(ROOT, rest[place + 1]).is_file()
        del rest[place : place + 2]
    try:
        known[name].make_context(name, list(rest), resilient_parsing=False)
    except click.exceptions.BadParameter as error:
        # A reader has the file; that it is not here is no mistake of the page.
        if "does not exist" not in error.format_message():
            raise


def test_pages_have_commands_and_a_wrong_one_is_noticed() -> None:
    assert len(ALL) > 60
    with pytest.raises(Exception, match="No such option: --sinse"):
        commands()["estimate"].make_context("estimate", ["q", "--sinse", "2026-01-01"])


SURVEYS = [
    (path.name, block)
    for path in GUIDES
    for block in blocks(path.read_text("utf-8"))
    if "[[questions]]" in block and "expires" in block
]


@pytest.mark.parametrize(("page", "block"), SURVEYS, ids=lambda given: given[:20])
def test_every_survey_of_a_page_is_accepted(page: str, block: str, tmp_path: Path) -> None:
    for name in re.findall(r'(?:candidates|model) = "([^"]+\.txt)"', block):
        (tmp_path / name).write_text("a\nb\n")
    if 'model = "' in block:
        pytest.fail(f"{page} names a model: train one here")
    told = set(re.findall(r"^(\w+) =", block.partition("[[")[0], re.MULTILINE))
    head = "".join(line for line in _HEAD.splitlines(True) if line.split()[0] not in told)
    (tmp_path / "survey.toml").write_text(head + block)
    read_authored(tmp_path / "survey.toml").require()


def test_pages_have_surveys() -> None:
    assert {"associate.md", "marginals.md", "survey.md"} <= {page for page, _ in SURVEYS}
