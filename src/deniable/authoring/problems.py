"""Problems of a survey, collected so that its author sees all of them at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from deniable._validate import nearest, shown
from deniable.errors import InvalidParameter

T = TypeVar("T")
_BARE = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A key that TOML lets people write without quotes."""


@dataclass(frozen=True)
class Problem:
    """One mistake or warning: its place, its words, and the remedy."""

    key: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" + (f" Fix: {self.fix}" if self.fix else "")

    def as_json(self) -> dict[str, str]:
        """Return the problem as `deniable check --json` prints it."""
        return {"key": self.key, "message": self.message, "fix": self.fix}


@dataclass
class Notes:
    """A place in the survey, and the list into which problems at and below it go."""

    key: str = ""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def at(self, name: str | int) -> Notes:
        """Return the notes of a place below this one, sharing the lists."""
        if isinstance(name, int):
            return Notes(f"{self.key}[{name}]", self.problems, self.warnings)
        return Notes(f"{self.key}.{name}" if self.key else name, self.problems, self.warnings)

    def problem(self, message: str, fix: str = "") -> None:
        """Note something that must be mended."""
        self.problems.append(Problem(self.key, message, fix))

    def warn(self, message: str, fix: str = "") -> None:
        """Note something that works but deserves a thought."""
        self.warnings.append(Problem(self.key, message, fix))

    def unknown_keys(self, table: Mapping[str, object], allowed: Collection[str]) -> None:
        """Note each key of a table that has no meaning here."""
        for name in sorted(set(table) - set(allowed)):
            label = name if _BARE.fullmatch(name) else shown(name, 60)
            self.at(label).problem(
                f"unknown key.{nearest(name, allowed)}",
                f"remove it, or use one of: {', '.join(sorted(allowed))}.",
            )

    def text(self, table: Mapping[str, object], name: str, default: str | None = None) -> str:
        """Read a non-empty string, with a note when it is missing or something else."""
        value = table.get(name, default)
        if isinstance(value, str) and value.strip() and _encodes(value):
            return value
        if value is None:
            self.at(name).problem("missing.", f'add {name} = "...".')
        else:
            self.at(name).problem(
                f"must be a non-empty string. Got {shown(value, 60)}.", f'write {name} = "...".'
            )
        return ""

    def integer(
        self, table: Mapping[str, object], name: str, low: int, high: int, default: int | None
    ) -> int | None:
        """Read an integer in low..high, with a note when it is missing or something else."""
        value = table.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        if value is None:
            self.at(name).problem("missing.", f"add {name} = {low}.")
        else:
            self.at(name).problem(
                f"must be an integer from {low} to {high:,}. Got {shown(value, 60)}.",
                f"for example {name} = {low if default is None else default}.",
            )
        return None

    def choice(
        self, table: Mapping[str, object], name: str, allowed: tuple[str, ...], default: str
    ) -> str:
        """Read one of a few words, with a note when it is another."""
        value = table.get(name, default)
        if isinstance(value, str) and value in allowed:
            return value
        self.at(name).problem(
            f"must be one of {', '.join(allowed)}. Got {shown(value, 60)}.",
            f'for example {name} = "{default}".',
        )
        return default

    def table(self, raw: object, header: str) -> Mapping[str, object] | None:
        """Return a table; note a problem, and return None, if it is none."""
        if isinstance(raw, Mapping):
            return raw
        self.problem("must be a table.", f"write {header} above its keys.")
        return None

    def matching(
        self, table: Mapping[str, object], name: str, pattern: re.Pattern[str], then: str
    ) -> str:
        """Return a text of a pattern, that allows `then` after a letter; note what is wrong."""
        value = self.text(table, name)
        if value and not pattern.fullmatch(value):
            self.at(name).problem(
                f"must match {pattern.pattern}. Got {shown(value)}.",
                f"start with a lower-case letter; then letters, digits{then}.",
            )
        return value

    def tried(self, make: Callable[[], T], fix: str) -> T | None:
        """Return what `make` makes; note a problem, and return None, if it refuses to."""
        try:
            return make()
        except InvalidParameter as error:
            self.problem(error.message, error.fix or fix)
            return None


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
