"""Every block of code on the pages that teach is run as it stands, and prints what it says."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.protocol.odds import believed, in_parts
from material.snippets import HIDDEN, ROOT, Reader, blocks, compare

PAGES = sorted(
    [
        *ROOT.glob("docs/tutorials/*.md"),
        *map(ROOT.joinpath, ("docs/epsilon.md", "docs/decoders.md", "docs/migrate.md")),
    ]
)


@pytest.fixture(autouse=True)
def _no_word_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HIDDEN:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_can_be_followed(path: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        assert reader.follow(path.read_text("utf-8")) > 0
    finally:
        reader.close()


def test_a_snippet_that_prints_something_else_is_noticed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow("```python\nprint('one  two')\n```\n\n```text\none two\n```\n")
    with pytest.raises(AssertionError, match="not printed"):
        reader.follow("```python\nprint('one')\n```\n\n```text\ntwo\n```\n")
    with pytest.raises(AssertionError, match="nobody follows"):
        reader.follow("```cobol\nDISPLAY 'one'.\n```\n")
    with pytest.raises(AssertionError):
        reader.follow("```sh\nfalse\n```\n")


def test_marks_stand_for_anything_and_lines_keep_their_order() -> None:
    compare("a … c\nd", "a b c\nx\nd\n")
    with pytest.raises(AssertionError):
        compare("d\na", "a\nd\n")


def test_blocks_have_a_language_and_perhaps_a_name() -> None:
    (block,) = blocks("text\n\n```toml survey.toml\nname = 1\n```\n")
    assert (block.language, block.name, block.text) == ("toml", "survey.toml", "name = 1\n")


def test_the_table_of_epsilons_is_computed() -> None:
    page = (ROOT / "docs/epsilon.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (.+?) \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, truth, half, rare in rows:
        micros = round(float(epsilon) * 1e6)
        assert truth == f"{1 / (1 + math.exp(-float(epsilon))):.1%}"
        assert half == in_parts(believed(micros, Fraction(1, 2)))
        assert rare == in_parts(believed(micros, Fraction(1, 100)))
