"""Every exception that Deniable raises on purpose.

DeniableError
├── InvalidParameter    a number or name outside what is allowed (also a ValueError)
├── InvalidAnswer       an answer outside the question's domain; never carries the answer
├── InvalidSurvey       a survey that cannot be published or read; carries all its problems
├── InvalidReport       a report or record that breaks the wire contract; carries its reason
├── RecordRefused       the strict client says why it did not report; carries its reason
├── StoreError          the store cannot be opened, written or read
└── MissingExtra        an optional dependency is not installed (also an ImportError)
"""

from __future__ import annotations

from collections.abc import Sequence


class DeniableError(Exception):
    """The root of the tree: catch this to catch everything Deniable raises on purpose."""


class InvalidParameter(DeniableError, ValueError):
    """A parameter is outside what is allowed; the message says what is."""


class InvalidAnswer(DeniableError, ValueError):
    """An answer is outside the question's domain. The message never contains the answer.

    `reason` is one of a closed set: type, not_a_number, unknown_category, too_long,
    bad_unicode, missing_field, unknown_field.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class InvalidSurvey(DeniableError, ValueError):
    """A survey cannot be read or published; `problems` holds every reason, not only the first."""

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class InvalidReport(DeniableError, ValueError):
    """A report breaks the wire contract; `reason` is one of the collector's closed reasons."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class RecordRefused(DeniableError):
    """The strict client did not make a report; `reason` is the counter that was raised."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class StoreError(DeniableError):
    """The store cannot be opened, written or read."""


class MissingExtra(DeniableError, ImportError):
    """An optional dependency is missing; the message holds the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the '{extra}' extra. Install it with: pip install 'deniable[{extra}]'"
        )
        self.extra = extra
