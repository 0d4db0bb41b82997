"""Progress is drawn where somebody looks: in a terminal, in a notebook, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from deniable.notebook import progress
from deniable.notebook.progress import NotebookLine, bars, progress_html

PROGRAM = """
import time
from deniable.notebook.progress import bars
with bars() as told:
    for done in range(3):
        told("counting", done, 3)
"""


def test_a_terminal_has_bars() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=theirs, check=True, env=environment)
    os.close(theirs)
    assert b"counting" in os.read(ours, 10_000)
    os.close(ours)


def test_nothing_is_drawn_where_nobody_looks() -> None:
    with bars() as told:
        assert told is None
    with bars(wanted=False) as told:
        assert told is None


class Shown:
    """A notebook's output below a cell: keeps every version of it."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    def __call__(self, bundle: dict[str, str], **options: Any) -> Shown:
        assert options.pop("raw")
        self.versions.append(bundle["text/html"])
        return self

    def update(self, bundle: dict[str, str], **options: Any) -> None:
        self(bundle, **options)


def test_a_notebook_has_a_line_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    monkeypatch.setattr(progress, "notebook_display", lambda: shown)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with bars() as told:
        assert told is not None
        told("counting", 1, 4)
        told("counting", 1, 4)
        told("<b>", 4, 4)
    assert shown.versions == [progress_html("counting", 1, 4), progress_html("<b>", 4, 4), ""]
    assert "<b>" not in progress_html("<b>", 4, 4)
    assert 'value="0.25"' in progress_html("counting", 1, 4)
    assert "value" not in progress_html("counting", 1, 0)


def test_a_short_wait_has_no_line() -> None:
    shown = Shown()
    line = NotebookLine(shown)
    line("counting", 1, 2)
    line.end()
    assert shown.versions == []
