"""A notebook as a page: its text, its code, and what its cells showed when it was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def notebook_page(path: Path) -> str:
    """Return an executed notebook as Markdown, with a link to the notebook itself.

    Raises:
        ValueError: if a cell of code was not run, or shows something that a page cannot.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    first, *rest = [part for cell in cells for part in _cell(cell, path.name)]
    saved = f"This page is a notebook: [save it]({path.name}) and run it yourself."
    return "\n\n".join([first, saved, *rest]) + "\n"


def _cell(cell: dict[str, Any], name: str) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    if cell["execution_count"] is None:
        raise ValueError(f"A cell of {name} was not run: {source[:60]!r}")
    return [f"```python\n{source}\n```", *(_output(each, name) for each in cell["outputs"])]


def _output(output: dict[str, Any], name: str) -> str:
    if output["output_type"] == "stream":
        return _text("".join(output["text"]))
    data = output.get("data", {})
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            # A blank line would end the block of HTML.
            lines = "".join(data[kind]).splitlines()
            body = "\n".join(line for line in lines if line.strip())
            return f'<div class="output">\n{body}\n</div>'
    if "text/plain" in data:
        return _text("".join(data["text/plain"]))
    raise ValueError(f"A cell of {name} shows {output['output_type']}, which a page cannot.")


def _text(text: str) -> str:
    return f"```none\n{text.rstrip()}\n```"
