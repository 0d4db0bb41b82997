"""The gallery of the papers' figures: every picture of docs/papers.md with its heading."""

from __future__ import annotations

import re
from pathlib import Path

HEAD = """# The papers' figures

Each picture was made by a command of this project, from reports that it simulated with its own
encoders and decoded with its own decoders. The heading leads to the page that compares it with the
paper, says what agrees, and says what could not be reproduced and why.
"""


def gallery_page(papers: Path) -> str:
    """Return the page: the picture, its text, and a link to its section.

    Raises:
        ValueError: if a picture of the folder stands nowhere on the page of the papers.
    """
    parts, paper, heading, shown = [HEAD], "", "", set()
    for line in papers.read_text("utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("## "):
            paper = heading
        for words, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", line):
            if paper:
                parts.append(f"## {re.sub(r'[][]', '', paper)}\n")
                paper = ""
            parts.append(f"### [{heading}](papers.md#{slug(heading)})\n\n![{words}]({path})\n")
            shown.add(Path(path).name)
    missing = {path.name for path in papers.with_suffix("").glob("*.png")} - shown
    if missing:
        raise ValueError(f"No text for {', '.join(sorted(missing))} in {papers.name}.")
    return "\n".join(parts)


def slug(heading: str) -> str:
    """Return a heading's anchor: lower case, spaces as hyphens, and neither mark nor code."""
    text = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
