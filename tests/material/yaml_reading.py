"""A strict reader of the small YAML that this project writes: anything else is an error."""

from __future__ import annotations

import re
from typing import Any

_ESCAPES = re.compile(r'\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(["\\n]))|(\\)')
_RESERVED = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "~", "nan", "inf"}


class Lines:
    """The lines that are left, each with its indentation."""

    def __init__(self, text: str) -> None:
        assert text.endswith("\n")
        assert "\t" not in text
        rows = text[:-1].split("\n")
        while rows and rows[0].startswith("#"):
            rows.pop(0)
        self.rows = [(len(row) - len(row.lstrip(" ")), row.lstrip(" ")) for row in rows]

    def peek(self) -> tuple[int, str] | None:
        return self.rows[0] if self.rows else None


def read(text: str) -> Any:
    lines = Lines(text)
    value = _block(lines, 0)
    assert not lines.rows, f"left over: {lines.rows[0]}"
    return value


def _block(lines: Lines, indent: int) -> Any:
    first = lines.peek()
    assert first is not None
    assert first[0] == indent, f"indented by {first[0]}, not {indent}: {first[1]}"
    return _list(lines, indent) if first[1].startswith("- ") else _mapping(lines, indent)


def _list(lines: Lines, indent: int) -> list[Any]:
    found = []
    while (row := lines.peek()) is not None and row[0] == indent and row[1].startswith("- "):
        rest = row[1][2:]
        if re.match(r"[a-z][a-z0-9_]*:( |$)", rest):
            lines.rows[0] = (indent + 2, rest)
            found.append(_mapping(lines, indent + 2))
        else:
            lines.rows.pop(0)
            found.append(_scalar(rest, lines, indent))
    return found


def _mapping(lines: Lines, indent: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while (row := lines.peek()) is not None and row[0] == indent:
        match = re.fullmatch(r"([a-z][a-z0-9_]*):(?: (.*))?", row[1])
        if match is None:
            break
        key, rest = match.groups()
        assert key not in found, f"{key} twice"
        lines.rows.pop(0)
        found[key] = _block(lines, indent + 2) if rest is None else _scalar(rest, lines, indent)
    return found


def _scalar(text: str, lines: Lines, indent: int) -> Any:
    if text == "|-":
        return _literal(lines, indent + 2)
    if text in ("[]", "{}"):
        return [] if text == "[]" else {}
    if text == "null":
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+(e[+-]\d+)?", text):
        return float(text)
    if text.startswith('"'):
        assert len(text) > 1
        assert text.endswith('"')
        return _ESCAPES.sub(_unescape, text[1:-1])
    assert text.lower() not in _RESERVED, text
    assert re.fullmatch(r"[A-Za-z][^:#\[\]{}\"\\|>&*!%@`]*", text), text
    assert not text.endswith(" ")
    return text


def _literal(lines: Lines, indent: int) -> str:
    rows = []
    while (row := lines.peek()) is not None and row[0] >= indent:
        assert row[0] == indent
        rows.append(row[1])
        lines.rows.pop(0)
    assert rows
    return "\n".join(rows)


def _unescape(match: re.Match[str]) -> str:
    *codes, simple, lone = match.groups()
    assert lone is None, "a lone backslash"
    if simple:
        return {"n": "\n"}.get(simple, simple)
    return chr(int(next(code for code in codes if code), 16))
