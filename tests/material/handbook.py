"""The operator's handbook, and the commands in it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operate.md").read_text()


def blocks(kind: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a kind, each with its chapter."""
    found, chapter = [], ""
    for part in re.split(r"(?m)^(?=## |```)", PAGE):
        if part.startswith("## "):
            chapter = part[3:].partition("\n")[0]
        elif part.startswith(f"```{kind}\n"):
            found.append((chapter, part.partition("\n")[2]))
    return found
