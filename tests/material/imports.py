"""The import graph of the package, read from its source: modules, and folders."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import deniable

PACKAGE = Path(deniable.__file__).parent


@cache
def modules() -> dict[str, Path]:
    """Return every module's file by its dotted name."""
    return {_dotted(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the modules of the package that a file imports, at its top or inside a function."""
    known, found = modules(), set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            assert node.module is not None
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & known.keys()
            if inner - known.keys():
                found.add(node.module)
    return frozenset(found)


def folder_edges() -> dict[str, set[str]]:
    """Return which other folders each folder's files import."""
    known = modules()
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    edges: dict[str, set[str]] = {folder: set() for folder in folders}
    for name, path in known.items():
        of = _folder(name)
        if of in folders:
            edges[of] |= {_folder(target) for target in imported(path)} & folders - {of}
    return edges


def _folder(name: str) -> str:
    return f"{name}.".split(".")[1]


def reached_from(start: str) -> set[str]:
    """Return every module that a module imports, directly or through others."""
    known, seen, waiting = modules(), set[str](), [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            parts = name.split(".")
            parents = {".".join(parts[:n]) for n in range(1, len(parts))}
            waiting += imported(known[name]) | parents
    return seen
