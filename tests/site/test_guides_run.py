"""Every command and every line of Python of the guides runs, or says why it does not."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from material.commands import call
from material.guides import (
    GUIDES,
    REASONS,
    SMALL,
    Guided,
    has_shape,
    loads,
    make_world,
    reason_of,
)
from material.snippets import HIDDEN, ROOT, blocks

FOLLOWED = ("docs/decoders.md", "docs/epsilon.md", "docs/migrate.md")  # tests/site/test_snippets.py
PAGES = [
    path
    for path in GUIDES
    if not reason_of(path.read_text("utf-8"))
    and str(path.relative_to(ROOT)) not in FOLLOWED
    and blocks(path.read_text("utf-8"))
]
ONE_QUESTION = {"audit.md", "privacy.md", "mechanism.md"}
COMMAND = re.compile(
    r"\s*(?:\$ )?(?:\w+=\S+ )*"
    r"(?:deniable [a-z]|python |pip |curl |\./|from \w+ import|import \w|\[\[)"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    return folder


@pytest.fixture(autouse=True)
def _no_word_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HIDDEN:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_block_of_a_guide_runs(
    path: Path, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "page"
    monkeypatch.syspath_prepend(str(folder))
    shutil.copytree(world, folder, symlinks=True)
    if path.name in ONE_QUESTION:
        (folder / "survey.toml").write_text(SMALL, "utf-8")
        (folder / "survey.json").unlink()
        call("publish", folder / "survey.toml", "-o", folder / "survey.json")
    reader = Guided(folder)
    reader.names |= {"secret": os.urandom(32)}
    try:
        for block in blocks(path.read_text("utf-8")):
            if block.language == "json" and not block.name:
                assert has_shape(loads(block.text), loads(reader.printed)), reader.printed
            elif block.language == "toml" and not block.name:
                continue  # test_every_survey_of_a_page_is_accepted reads it
            else:
                reader.take(block)
            client = reader.names.get("client")
            if hasattr(client, "close"):
                client.close()
    finally:
        reader.close()


def reasons() -> list[tuple[str, str]]:
    """Return every reason on a guide, with its page."""
    found = []
    for path in GUIDES:
        text = path.read_text("utf-8")
        if reason_of(text):
            found.append((path.name, reason_of(text)))
        for block in blocks(text):
            if block.name.startswith("not run: "):
                found.append((path.name, block.name.removeprefix("not run: ")))
    return found


@pytest.mark.parametrize(("page", "reason"), sorted(set(reasons())), ids=str)
def test_a_block_that_is_not_run_has_a_known_reason(page: str, reason: str) -> None:
    assert reason in REASONS or (reason.startswith("tests/") and (ROOT / reason).is_file())


def test_every_reason_is_used_and_there_are_few() -> None:
    given = {reason for _, reason in reasons() if not reason.startswith("tests/")}
    assert given == set(REASONS)
    assert len(REASONS) <= 5


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_no_command_hides_in_an_indented_block(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"(?<=\n\n) {4}(\S.*)", text)
    assert [line for line in lines if COMMAND.match(line)] == []
