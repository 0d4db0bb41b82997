"""YAML of a small subset, written by hand: mappings, lists, numbers, strings and blocks of text.

Every file that is written here is read alike by YAML 1.1 and 1.2. A string is plain only if no
reader could take it for anything else; a text of several lines is a literal block; everything else
stands in double quotes with escapes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from deniable.errors import InvalidParameter

Yaml = str | int | float | None | Sequence["Yaml"] | Mapping[str, "Yaml"]

_KEY = re.compile(r"[a-z][a-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ()/,.'-]*[A-Za-z0-9().]|[A-Za-z]")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"})
"""Words that some reader takes for something else than a string."""


def to_yaml(data: Mapping[str, Yaml]) -> str:
    """Return a mapping as YAML, its keys in the order given.

    Raises:
        InvalidParameter: if a key is no lower-case name or a number is not finite.
    """
    return "".join(f"{line}\n" for line in _mapping(data, 0))


def _mapping(data: Mapping[str, Yaml], depth: int) -> list[str]:
    lines = []
    for key, value in data.items():
        if not _KEY.fullmatch(key) or key in _WORDS:
            raise InvalidParameter(f"A key of a YAML file must be a lower-case name. Got {key!r}.")
        lines += _entry(f"{'  ' * depth}{key}:", value, depth)
    return lines


def _entry(head: str, value: Yaml, depth: int) -> list[str]:
    """Return the lines of a value that follows its key or its dash."""
    if isinstance(value, Mapping):
        return [head, *_mapping(value, depth + 1)] if value else [f"{head} {{}}"]
    if isinstance(value, str):
        if _is_block(value):
            indent = "  " * (depth + 1)
            return [f"{head} |-", *(f"{indent}{line}" for line in value.split("\n"))]
        return [f"{head} {_string(value)}"]
    if isinstance(value, Sequence):
        lines = [line for item in value for line in _item(item, depth + 1)]
        return [head, *lines] if value else [f"{head} []"]
    return [f"{head} {_number(value)}"]


def _item(value: Yaml, depth: int) -> list[str]:
    """Return the lines of a member of a list; a mapping begins on the line of its dash."""
    dash = f"{'  ' * depth}-"
    if isinstance(value, Mapping) and value:
        first, *others = _mapping(value, depth + 1)
        return [f"{dash} {first.lstrip()}", *others]
    return _entry(dash, value, depth)


def _number(value: float | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool) or not math.isfinite(value):
        raise InvalidParameter(f"A number of a YAML file must be finite. Got {value!r}.")
    text = repr(value)
    # YAML 1.1 reads 1e-08 as a string: a number needs a point before its exponent.
    return text if "e" not in text or "." in text else text.replace("e", ".0e")


def _is_block(text: str) -> bool:
    lines = text.split("\n")
    return len(lines) > 1 and all(
        line and line.isprintable() and not line[0].isspace() and not line[-1].isspace()
        for line in lines
    )


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    code = ord(character)
    if character.isprintable():
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
