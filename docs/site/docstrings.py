"""Docstrings as Markdown: paragraphs, sections with their entries, examples, formulas."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

_LISTS = ("Args", "Attributes", "Raises", "Returns", "Yields")
_SECTION = re.compile(r"^([A-Z][a-z]+(?: [a-z]+)?):(?: |$)(.*)$")
_ENTRY = re.compile(r"^    ([\w*][\w*, .|\[\]]*): (.*)$")
_KEPT = re.compile(r"(`[^`]*`|(?<![\w*])\*[A-Za-z][A-Za-z ]*\*(?![\w*]))")
_MARKS = re.compile(r"([\\*_<>\[\]{}#|~$])")


def markdown(docstring: str | None) -> str:
    """Return a docstring as Markdown."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    parts: list[str] = []
    while lines:
        block, lines = _block(lines)
        parts.append(block)
    return "\n\n".join(part for part in parts if part)


def _block(lines: list[str]) -> tuple[str, list[str]]:
    """Return the first block of some lines as Markdown, and the lines after it."""
    if not lines[0].strip():
        return "", lines[1:]
    if lines[0].startswith("    "):
        end = _end(lines, lambda line: not line.strip() or line.startswith("    "))
        return _code("none", lines[:end]), lines[end:]
    if lines[0].startswith(">>>"):
        end = _end(lines, lambda line: bool(line.strip()))
        return _code("python", lines[:end]), lines[end:]
    section = _SECTION.match(lines[0])
    if section and section[1] in (*_LISTS, "Example") and not section[2]:
        end = 1 + _end(lines[1:], lambda line: not line.strip() or line.startswith("    "))
        inner = [line[4:] if section[1] == "Example" else line for line in lines[1:end]]
        if section[1] == "Example":
            inner = [line.strip("`") for line in inner]
            return f"**Example**\n\n{_code('python', inner)}", lines[end:]
        return f"**{section[1]}**\n\n{_entries(inner)}", lines[end:]
    end = _end(lines, lambda line: bool(line.strip()) and not line.startswith("    "))
    text = " ".join(line.strip() for line in lines[:end])
    if section:
        told = text.split(":", 1)[1].strip()
        return f"**{section[1]}.** {escaped(told[:1].upper() + told[1:])}", lines[end:]
    if all(line.startswith(("- ", "  ")) for line in lines[:end]):
        return "\n".join(escaped(line) for line in lines[:end]), lines[end:]
    return escaped(text), lines[end:]


def _entries(lines: list[str]) -> str:
    """Return "name: text" entries as a list, and any other text as a paragraph of it."""
    items: list[str] = []
    for line in lines:
        entry = _ENTRY.match(line)
        if entry and not line.startswith("     "):
            items.append(f"- `{entry[1]}`: {escaped(entry[2])}")
        elif line.strip() and items:
            items[-1] += f" {escaped(line.strip())}"
        elif line.strip():
            items.append(f"- {escaped(line.strip())}")
    return "\n".join(items)


def _end(lines: list[str], inside: Callable[[str], bool]) -> int:
    """Return the number of lines at the beginning that are inside of a block; at least one."""
    count = next((i for i, line in enumerate(lines) if not inside(line)), len(lines))
    return max(count, 1) if lines else 0


def _code(language: str, lines: list[str]) -> str:
    text = inspect.cleandoc("\n" + "\n".join(lines))
    return f"```{language}\n{text}\n```"


def escaped(text: str) -> str:
    """Return text whose marks stay marks; code in backquotes and *emphasis* stay as they are."""
    parts = _KEPT.split(text)  # every second one is kept
    return "".join(p if i % 2 else _MARKS.sub(r"\\\1", p) for i, p in enumerate(parts))
