"""Docstrings and help have subjects, and "record" is the wire's word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable
from material.commands import commands

PACKAGE = Path(deniable.__file__).parent
ROOT = Path(__file__).parents[2]
FOLDERS = [
    *(path for path in PACKAGE.iterdir() if path.is_dir()),
    ROOT / "papers",
    ROOT / "benchmarks",
]
HANGING = re.compile(r"^What |\b[Ss]o many\b|\bunless said\b")


def docstrings(source: str) -> Iterator[str]:
    """Yield the strings that stand by themselves: docstrings, also those of attributes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def hanging(source: str) -> list[str]:
    """Return the first lines of docstrings that say a pronoun where a noun belongs."""
    return [text.splitlines()[0] for text in docstrings(source) if HANGING.search(text)]


@pytest.mark.parametrize("folder", sorted(FOLDERS), ids=lambda folder: folder.name)
def test_docstrings_have_subjects(folder: Path) -> None:
    assert [line for path in folder.rglob("*.py") for line in hanging(path.read_text())] == []


def test_a_hanging_docstring_is_noticed() -> None:
    assert hanging('"""What it is."""\nMOST = 3\n"""Up to so many are kept."""\n') == [
        "What it is.",
        "Up to so many are kept.",
    ]


@pytest.mark.parametrize("name", commands())
def test_help_has_subjects(name: str) -> None:
    command = commands()[name]
    texts = [command.help, *(getattr(one, "help", "") or "" for one in command.params)]
    assert [text for text in texts if HANGING.search(text)] == []
