"""Tests of a mechanism's class or name, outside of its own files: few, and each says why.

What is true of a kind of report is a function of the channel (`protocol/channel.py`). What is left
is mathematics of one mechanism, and a comment says which.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from deniable.mechanisms import Mechanism
from deniable.mechanisms.registry import MECHANISMS as POPULATIONS
from deniable.protocol import MECHANISMS, Parameters
from material.imports import PACKAGE

MOST = 80
ABOVE = 3
"""A comment stands within so many lines above the test, or on its line."""
OWN = {"protocol", "client/encoders", "mechanisms", "authoring"}
"""The folders in which a mechanism has a file of its name."""
REGISTRIES = {"protocol/registry.py", "protocol/built_in.py", "mechanisms/registry.py"}


RESTS = ("deniable.protocol.channel", "deniable.protocol.rest")


class Found(NamedTuple):
    """One test of a class or name: where it stands, and whether a comment says why."""

    place: str
    line: int
    why: bool


@cache
def class_names() -> frozenset[str]:
    """Return the names of all classes of parameters and mechanisms, the interfaces left out."""
    for name in MECHANISMS:
        assert issubclass(MECHANISMS[name], Parameters)
        assert issubclass(POPULATIONS[name], Mechanism)
    found: set[str] = set()
    waiting: list[type] = [Parameters, Mechanism]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind.__module__.startswith("deniable."):
                found.add(kind.__name__)
                waiting.append(kind)
    return frozenset(found)


def is_own(path: str) -> bool:
    """Tell whether a file is the registry, or a mechanism's own."""
    folder, _, file = path.rpartition("/")
    return path in REGISTRIES or (folder in OWN and file.removesuffix(".py") in MECHANISMS)


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }


def texts_in(node: ast.AST) -> set[object]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}


def is_test(node: ast.AST, kinds: frozenset[str]) -> bool:
    """Tell whether a node tests the class or the name of a mechanism."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("isinstance", "issubclass") and bool(names_in(node.args[1]) & kinds)
    if isinstance(node, ast.MatchClass):
        return bool(names_in(node.cls) & kinds)
    if isinstance(node, ast.Compare):
        return bool(texts_in(node) & set(MECHANISMS))
    if isinstance(node, ast.Dict):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return len(keys & set(MECHANISMS)) > 1
    return False


def found_in(source: str, place: str) -> list[Found]:
    """Return the tests of a file."""
    tree, lines = ast.parse(source), source.splitlines()
    rests = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module in RESTS
        for alias in node.names
    }
    kinds = class_names() - rests
    aliases = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and names_in(node.value) & kinds
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if is_test(node, kinds | aliases):
            line = int(getattr(node, "lineno", 0))
            near = lines[max(0, line - 1 - ABOVE) : line]
            found.append(Found(place, line, any("#" in text for text in near)))
    return found


def all_tests() -> list[Found]:
    files = {str(path.relative_to(PACKAGE)): path for path in sorted(Path(PACKAGE).rglob("*.py"))}
    return [
        found
        for place, path in files.items()
        if not is_own(place)
        for found in found_in(path.read_text(), place)
    ]


def test_few_places_test_the_class_or_name_of_a_mechanism() -> None:
    found = all_tests()
    assert len(found) <= MOST, "\n".join(f"{one.place}:{one.line}" for one in found)


def test_each_says_why() -> None:
    silent = [f"{one.place}:{one.line}" for one in all_tests() if not one.why]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(parameters, KRRParameters)",
        "isinstance(mechanism, KRR | mechanisms.OUE)",
        "if parameters.mechanism == 'krr': pass",
        "ok = field.parameters.mechanism in ('krr', 'oue')",
        "ok = name == 'krr'",
        "WORK = {'krr': 1, 'oue': 2}",
        "BITS = (InpRRParameters, InpEMParameters)\nisinstance(parameters, BITS)",
        "match parameters:\n    case KRRParameters():\n        pass",
    ],
)
def test_a_test_is_seen(source: str) -> None:
    assert len(found_in(source, "x.py")) == 1


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(rest, Bits)",
        "isinstance(domain, Sets)",
        "isinstance(p, Parameters)",
        "a == 'one'",
        "from deniable.protocol.channel import Subset\nisinstance(rest, Subset)",
    ],
)
def test_other_tests_are_not_counted(source: str) -> None:
    assert found_in(source, "x.py") == []


def test_a_comment_is_seen() -> None:
    said = found_in("# why\nisinstance(parameters, KRRParameters)", "x.py")
    assert [one.why for one in said] == [True]
    assert [one.why for one in found_in("isinstance(p, KRRParameters)", "x.py")] == [False]
