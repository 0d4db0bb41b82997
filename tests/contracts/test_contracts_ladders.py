"""No ladder over the kinds of reports has a silent default: what nobody handled is an error.

A `match` over kinds ends in an error, in its last case or right after it. So does a function that
asks for three or more kinds, one after the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from material.imports import PACKAGE

KINDS = {"Bits", "Symbol", "Sign", "Subset", "Points", "Product"}
FEW = 2
"""A function may ask for two kinds without being a ladder."""


SAFE = {"decode/lasting.py": "errors too large and never too small"}
"""Defaults that are bounds on the safe side, and say so."""


def kinds_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & KINDS


def raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def is_open(case: ast.match_case) -> bool:
    """Tell whether a case takes everything: a name or `_`, without a condition."""
    pattern = case.pattern
    parts = pattern.patterns if isinstance(pattern, ast.MatchSequence) else [pattern]
    names = [part for part in parts if isinstance(part, ast.MatchAs) and part.pattern is None]
    return len(names) == len(parts) and case.guard is None


def is_guard(statement: ast.stmt) -> bool:
    """Tell whether a statement raises for every kind but those that it names."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.UnaryOp):
        return False
    return bool(kinds_in(statement.test)) and raises(statement.body)


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
                yield found


def silent(source: str) -> list[int]:
    """Return the lines of ladders whose end is not an error."""
    tree = ast.parse(source)
    found = []
    for body in bodies(tree):
        for place, node in enumerate(body):
            if isinstance(node, ast.Match) and any(kinds_in(c.pattern) for c in node.cases):
                last = node.cases[-1]
                if not (is_open(last) and raises(last.body)) and not raises(body[place + 1 :][:1]):
                    found.append(node.lineno)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            asked = [
                statement.test
                for statement in node.body
                if isinstance(statement, ast.If) and "isinstance" in ast.unparse(statement.test)
            ]
            guarded = any(is_guard(statement) for statement in node.body)
            if sum(bool(kinds_in(test)) for test in asked) > FEW and not (
                raises(node.body) or guarded
            ):
                found.append(node.lineno)
    return found


def test_every_ladder_over_kinds_ends_in_an_error() -> None:
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (lines := silent(path.read_text()))
    }
    assert found.keys() == SAFE.keys()
    for place, said in SAFE.items():
        assert said in (PACKAGE / place).read_text()


@pytest.mark.parametrize(
    "source",
    [
        "match rest:\n    case Bits():\n        x = 1\n    case _:\n        x = 2",
        "match rest:\n    case Bits():\n        x = 1",
        "match rest, two:\n    case Symbol(), _:\n        x = 1\nx = 2",
        "def f(r):\n    if isinstance(r, Bits):\n        return 1\n    if isinstance(r, Sign):\n"
        "        return 2\n    if isinstance(r, Symbol):\n        return 3\n    return 4",
    ],
)
def test_a_silent_default_is_seen(source: str) -> None:
    assert len(silent(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "match rest:\n    case Bits():\n        x = 1\n    case _:\n        raise KeyError",
        "match rest:\n    case Bits():\n        x = 1\nraise KeyError",
        "match word:\n    case 'a':\n        x = 1",
    ],
)
def test_others_are_not(source: str) -> None:
    assert silent(source) == []
