"""Processes of others, seen from outside."""

from __future__ import annotations

from pathlib import Path


def is_running(number: int) -> bool:
    """Tell whether a process is there; one that has ended and was not waited for is not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it may end between opening and reading
        return False
    return state != "Z"
