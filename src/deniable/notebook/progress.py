"""Progress where somebody looks: bars in a terminal, one line in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

Told = Callable[[str, int, int], None]
"""Called with the name of a stage, the work done in it, and all its work."""
_PATIENCE = 0.5
"""Seconds of work before anything is drawn: a short wait needs no bar."""


@contextmanager
def bars(wanted: bool = True) -> Iterator[Told | None]:
    """Yield the function that draws progress, or None where nobody would see it."""
    shown = notebook_display() if wanted else None
    if shown is not None:
        line = NotebookLine(shown)
        try:
            yield line
        finally:
            line.end()
        return
    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield None
        return
    with Progress(console=Console(stderr=True), transient=True) as display:
        tasks: dict[str, Any] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = display.add_task(stage, total=None)
            display.update(tasks[stage], completed=done, total=total or None)

        yield told


def notebook_display() -> Callable[..., Any] | None:
    """Return IPython's `display` in a notebook's kernel; None elsewhere."""
    ipython = sys.modules.get("IPython")  # loaded already, wherever there is a kernel
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display

    found: Callable[..., Any] = display
    return found


class NotebookLine:
    """One line below a cell, with the stage and its share; it vanishes at the end."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display, self._start = display, time.monotonic()
        self._handle: Any = None
        self._shown = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show a stage's progress, in steps of a hundredth."""
        if self._handle is None and time.monotonic() - self._start < _PATIENCE:
            return
        self._show(progress_html(stage, done, total))

    def end(self) -> None:
        """Take the line away, if there is one."""
        if self._handle is not None:
            self._show("")

    def _show(self, html: str) -> None:
        if html == self._shown and self._handle is not None:
            return
        self._shown, bundle = html, {"text/html": html, "text/plain": ""}
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def progress_html(stage: str, done: int, total: int) -> str:
    """Return a stage's progress as HTML; without a number where the total is not known."""
    share = f' value="{min(1.0, done / total):.2f}"' if total > 0 else ""
    return f"<label>{escape(stage)} <progress{share}></progress></label>"
