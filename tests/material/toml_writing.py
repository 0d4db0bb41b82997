"""Writing TOML for tests: the standard library only reads it."""

from __future__ import annotations

import math
from datetime import date
from typing import Any


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_letter(letter) for letter in value) + '"'
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int | float):
        return hex(value) if isinstance(value, int) and value > 2**70 else repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    pairs = (f"{toml_value(key)} = {toml_value(item)}" for key, item in value.items())
    return "{" + ", ".join(pairs) + "}"


def _letter(letter: str) -> str:
    plain = letter.isalnum() and letter.isascii()
    return letter if plain else f"\\U{ord(letter):08x}"


def toml(table: dict[str, Any]) -> str:
    """Return a whole file."""
    return "".join(f"{toml_value(key)} = {toml_value(item)}\n" for key, item in table.items())
