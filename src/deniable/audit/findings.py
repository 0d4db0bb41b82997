"""The findings of an audit: one per property that was checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ALPHA = 1e-6
"""The default false-alarm probability of a statistical finding."""


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        about: the subject, such as a question's field.
        check: the name of the check.
        holds: True if the promise is kept.
        words: the result in a sentence.
        numbers: the figures behind it; strings, finite numbers, None, and lists of these.
    """

    about: str
    check: str
    holds: bool
    words: str
    numbers: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the finding as JSON."""
        return {
            "about": self.about,
            "check": self.check,
            "holds": self.holds,
            "words": self.words,
            **self.numbers,
        }


@dataclass(frozen=True)
class Audit:
    """All findings of one audit, with notes on their method and limits."""

    name: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if every finding holds; False for an audit without findings."""
        return bool(self.findings) and all(finding.holds for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if not finding.holds)

    def as_json(self) -> dict[str, object]:
        """Return the audit as JSON."""
        return {
            "audit": self.name,
            "holds": self.holds,
            "findings": [finding.as_json() for finding in self.findings],
            "notes": list(self.notes),
        }
