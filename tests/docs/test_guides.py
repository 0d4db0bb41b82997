"""Every snippet of the guides: commands are understood, surveys are accepted, Python runs.

The tutorials are followed step by step in tests/site. The guides show single commands about stores
that a reader has; here each is read by the real command line, every survey by the real reader, and
Python is run against a small store.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from deniable import Client
from deniable.authoring import read_authored
from deniable.store import open_store
from material.commands import call, commands

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
                for part in re.split(r"&& deniable | > ", re.sub(r"\s{2,}.*$", "", found[1])):
                    if not part.endswith((".json", ".toml")) or " " in part:
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


WORLD = (
    _HEAD
    + """
[[questions]]
id = "dark-mode"
description = "Dark?"
expires = 2099-12-31
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "crash"
description = "Why?"
expires = 2099-12-31
domain = { type = "categories", values = ["out-of-memory", "bug"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }

[[questions]]
id = "both"
description = "Both?"
expires = 2099-12-31
[[questions.fields]]
name = "a"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 2.0 }
[[questions.fields]]
name = "b"
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 2.0 }

[[questions]]
id = "homepage"
description = "Which?"
expires = 2099-12-31
domain = { type = "strings", candidates = "pages.txt" }
mechanism = "rappor"
parameters = { epsilon = 2.0 }

[[questions]]
id = "trips"
description = "How was the trip?"
expires = 2099-12-31
mechanism = "views"
parameters = { epsilon = 2.0, order = 2 }
[[questions.fields]]
name = "card"
domain = "boolean"
[[questions.fields]]
name = "tip"
domain = "boolean"
[[questions.fields]]
name = "zone"
domain = { type = "categories", values = ["inner", "outer", "airport"] }
"""
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a survey and reports of a few people to each of its questions."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "survey.toml").write_text(WORLD)
    (folder / "pages.txt").write_text("news\nmail\n")
    survey = folder / "survey.json"
    call("publish", folder / "survey.toml", "-o", survey)
    for name in ("dark-mode", "both", "homepage", "trips"):
        place = ("--survey", survey, "--data", folder / "data", "--into-real-store")
        call("simulate", name, "--people", 3000, "--seed", 1, *place)
    return folder


def is_python(block: str) -> bool:
    """Tell whether a block is Python."""
    return bool(re.match(r"from deniable|import deniable|client = Client\(", block))


ELSEWHERE = {
    "README.md": "tests/docs/test_docs.py",
    "privacy.md": "tests/docs/test_docs_privacy.py",
    "decoders.md": "tests/site/test_snippets.py",
    "epsilon.md": "tests/site/test_snippets.py",
    "migrate.md": "tests/site/test_snippets.py",
    "scale.md": "tests/unit/engines",  # it names a cluster
}
"""Pages whose Python is run by other tests."""

PYTHON = [
    (path.name, block)
    for path in GUIDES
    if path.name not in ELSEWHERE
    for block in blocks(path.read_text("utf-8"))
    if is_python(block)
]

ASKED = {"results.md": "dark-mode", "associate.md": "both", "marginals.md": "trips"}


@pytest.mark.parametrize(("page", "block"), PYTHON, ids=lambda given: given[:20])
def test_python_of_a_page_runs(
    page: str, block: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DO_NOT_TRACK", "DENIABLE_CONSENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(world)
    survey = read_authored(world / "survey.toml").require()
    nobody = "http://127.0.0.1:9"
    names: dict[str, object] = {
        "Client": Client,
        "survey": survey,
        "folder": tmp_path / "account" if page == "client.md" else world,
        "directory": tmp_path / "state",
        "endpoint": nobody,
        "secret": os.urandom(32),
    }
    block = block.replace("https://telemetry.example.org", nobody).replace('"people.csv"', "people")
    block = block.replace('["colour"]', '["dark-mode"]')
    names["people"] = {"dark-mode": [True, False] * 50}
    with open_store(world / "data") as store, contextlib.redirect_stdout(io.StringIO()):
        if page in ASKED:
            (names["question"],) = [q for q in survey.questions if q.id == ASKED[page]]
            names["store"] = store
        exec(compile(block, page, "exec"), names)  # noqa: S102 - our own pages
    client = names.get("client")
    if isinstance(client, Client):
        client.close()


def test_pages_have_python() -> None:
    assert {"client.md", "results.md", "associate.md", "marginals.md"} <= {p for p, _ in PYTHON}
