"""Names whose module is imported when the name is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def look_up(module: str, name: str) -> Any:
    """Return a name of a module, which is imported for it if it is not yet."""
    return getattr(import_module(module), name)
