"""Strings that people we do not know wrote, made fit to be shown.

Candidates and descriptions may hold control characters, unpaired surrogates or marks that turn
the direction of text. A terminal obeys them, a page shows something else than what is there, and
the renderer of charts aborts the whole process on the first character that XML does not allow.
So everything shown passes through here; JSON, CSV and Parquet keep the exact string.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

_ELLIPSIS = "…"


def printable(text: str) -> str:
    r"""Return `text` with every character that cannot be seen written as an escape.

    Guarantees: every character of the result is printable in the sense of `str.isprintable`, so
    it is valid in XML and HTML (once escaped there) and does nothing to a terminal.

    Example:
        A bell becomes `\x07`, a line break `\n`, a right-to-left override `\u202e`.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    # repr escapes exactly the characters that are not printable.
    return repr(character)[1:-1]


def shortened(text: str, room: int) -> str:
    """Return `text`, printable, cut to a number of columns with an ellipsis in its middle.

    The middle goes because long strings (addresses, paths) often differ only at their end.
    """
    text = printable(text)
    if columns(text) <= room:
        return text
    tail = _cut(text[::-1], room // 3)[::-1]
    return _cut(text, room - 2 - columns(tail)) + _ELLIPSIS + tail


def _cut(text: str, room: int) -> str:
    """Return the longest beginning of `text` that fits."""
    used = 0
    for i, character in enumerate(text):
        used += columns(character)
        if used > room:
            return text[:i]
    return text


def columns(text: str) -> int:
    """Return the number of columns of `text`: two per wide (East Asian) character."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def distinct(labels: Sequence[str]) -> list[str]:
    """Return labels that all differ, numbering equal ones: a chart needs one row for each."""
    counts, seen, taken = Counter(labels), Counter[str](), set(labels)
    result = []
    for label in labels:
        name = label
        while counts[label] > 1 and name in taken:
            seen[label] += 1
            name = f"{label} ({seen[label]})"
        taken.add(name)
        result.append(name)
    return result
