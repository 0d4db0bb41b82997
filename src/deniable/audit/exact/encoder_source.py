"""A look at the source of the encoders: no float, no division, no other randomness.

The look covers all of `client/encoders`, `client/encode`, `client/memo` and `client/randomness`,
and every function that these reach by name in the modules of `protocol` that they import, directly
or through each other. Of an encoder that is not in the package, it covers the class, and what it
reaches by name in its file and in `protocol`. `protocol/domain` is left out: it turns a value into
its place in the domain, and no coin is tossed there; so are `channel` and `rest`, which no client
loads. Functions that are declared to return a Fraction may divide: that is exact, and the type
checker sees to it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

CLIENT = ("client/encoders/*.py", "client/encode.py", "client/randomness.py")
LEFT_OUT = frozenset({"domain.py", "channel.py", "rest.py"})
_PACKAGE = Path(__file__).parents[2]
ALLOWED = ("deniable", "__future__", "abc", "collections", "typing", "os")
"""The modules that these files may import; `os` for os.urandom and os.getpid alone."""

_MAKE_FLOATS = frozenset({"float", "round", "complex"})
_EXACT = frozenset({"Fraction", "tuple[Fraction, Fraction]"})
_OS = frozenset({"urandom", "getpid"})
_WHOLE = ("functools", "itertools", "fractions", "hashlib", "struct")
_WHOLE_MATH = frozenset(("math", name) for name in ("isqrt", "gcd", "lcm", "comb", "perm", "prod"))
"""Encoders outside of the package may use these, too: they compute with whole numbers alone."""


def floats_in_encoders(root: Path | None = None) -> tuple[str, ...]:
    """Return every place at which a float, a division or other randomness could decide a coin.

    Guarantees: reads source text only; names each place by file and line.

    Args:
        root: the folder of the package; by default the installed one.
    """
    root = root or _PACKAGE
    files = sorted(path for pattern in CLIENT for path in root.glob(pattern))
    trees = {path: _parsed(path) for path in files}
    found: list[str] = []
    for path, tree in trees.items():
        place = path.relative_to(root).as_posix()
        found += [f"{place}:{line}: {what}" for line, what in (*_imports(tree), *_suspects(tree))]
    for place, function in _reached(root, trees.values()):
        found += [f"{place}:{line}: {what}" for line, what in _suspects(function)]
    return tuple(dict.fromkeys(found))


def floats_in_stranger(encoder: type) -> tuple[str, ...]:
    """Return the same places of an encoder that is not in the package.

    Edge cases: a class whose source cannot be read is a place of its own.
    """
    place = inspect.getsourcefile(encoder)
    if place is None or not Path(place).is_file():
        return (f"{encoder.__name__}: its source cannot be read",)
    tree, root = _parsed(Path(place)), _PACKAGE
    known = dict(_functions(root, _imported(root, [tree])))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            known[node.name] = [*known.get(node.name, []), (Path(place).name, node)]
    starts = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == encoder.__name__
    ]
    foreign, found = _foreign(tree), list[str]()
    looked = [(Path(place).name, start) for start in starts]
    for at, start in (*looked, *_reached_from(starts, known)):
        used = [n for n in ast.walk(start) if isinstance(n, ast.Name) and n.id in foreign]
        found += [f"{at}:{n.lineno}: uses {n.id}" for n in used if at == Path(place).name]
        found += [f"{at}:{line}: {what}" for line, what in _suspects(start)]
    return tuple(dict.fromkeys(found))


def _foreign(tree: ast.Module) -> frozenset[str]:
    """Return the names that a file imports from where floats or randomness may come from."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                root = (module or alias.name).split(".")[0]
                if root not in (*ALLOWED, *_WHOLE) and (root, alias.name) not in _WHOLE_MATH:
                    found.add(alias.asname or alias.name.split(".")[0])
    return frozenset(found)


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        yield from (
            (node.lineno, f"imports {name}") for name in names if name.split(".")[0] not in ALLOWED
        )
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if node.value.id == "os" and node.attr not in _OS:
            yield node.lineno, f"uses os.{node.attr}"


def _suspects(tree: ast.AST) -> Iterator[tuple[int, str]]:
    exact = isinstance(tree, ast.FunctionDef) and ast.unparse(tree.returns or tree.args) in _EXACT
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield node.lineno, f"the float {node.value!r}"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            if not exact:
                yield node.lineno, "a division that makes a float"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _MAKE_FLOATS:
            yield node.lineno, f"a call of {ast.unparse(node.func)}"


def _reached(root: Path, trees: Iterable[ast.Module]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of `protocol` that the encoders reach, by their names."""
    trees = list(trees)
    yield from _reached_from(trees, _functions(root, _imported(root, trees)))


def _reached_from(
    trees: Iterable[ast.AST], known: Mapping[str, list[tuple[str, ast.FunctionDef]]]
) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the known functions that are reached from some source, by their names."""
    waiting = {name for tree in trees for name in _names(tree)} & known.keys()
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for place, function in known[name]:
            yield place, function
            waiting |= (set(_names(function)) & known.keys()) - seen


def _imported(root: Path, trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the modules of `protocol` that these files import, also through each other.

    A name that is imported from the package itself stands for the module that `protocol/__init__`
    has it from: otherwise every file would import all of them.
    """
    folder = root / "protocol"
    parsed = {path.stem: _parsed(path) for path in folder.glob("*.py")}
    home = {
        alias.name: module
        for module, names in _protocol_imports(parsed["__init__"])
        for alias in names
    }
    found: set[str] = set()
    waiting = list(trees)
    while waiting:
        for module, names in _protocol_imports(waiting.pop()):
            whole = (
                {home.get(alias.name, alias.name) for alias in names} if not module else {module}
            )
            for name in (whole & parsed.keys()) - found:
                found.add(name)
                waiting.append(parsed[name])
    return frozenset(found)


def _protocol_imports(tree: ast.Module) -> Iterator[tuple[str, list[ast.alias]]]:
    """Yield modules below `protocol`, "" for the package itself, and the names taken from each."""
    for node in ast.walk(tree):
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and module.startswith("deniable.protocol"):
            yield module.removeprefix("deniable.protocol").removeprefix("."), node.names


def _parsed(path: Path) -> ast.Module:
    return _tree(path.read_text(encoding="utf-8"))


@cache
def _tree(text: str) -> ast.Module:
    """Return the syntax of a file, which nothing here changes: every audit reads the same files."""
    return ast.parse(text)


def _functions(
    root: Path, modules: frozenset[str]
) -> Mapping[str, list[tuple[str, ast.FunctionDef]]]:
    known: dict[str, list[tuple[str, ast.FunctionDef]]] = {}
    for path in sorted((root / "protocol").glob("*.py")):
        if path.name in LEFT_OUT or path.stem not in modules:
            continue
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.FunctionDef):
                known.setdefault(node.name, []).append((f"protocol/{path.name}", node))
    return known


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
