"""Every exception that Deniable raises on purpose.

DeniableError
├── InvalidParameter    a number or name outside what is allowed (also a ValueError)
├── InvalidAnswer       an answer outside the question's domain; never carries the answer
├── InvalidSurvey       a survey that cannot be published or read; carries all its problems
├── InvalidReport       a report or record that breaks the wire contract; carries its reason
├── RecordRefused       the strict client says why it did not report; carries its reason
├── StoreError          the store cannot be opened, written or read
│   ├── LedgerLost      a client's directory has lost its database, which is never begun anew
│   └── OutcomeUnknown  the connection to the store was lost while something was being committed
└── MissingExtra        an optional dependency is not installed (also an ImportError)

Each keeps its arguments as `args`, so that it survives pickling and copying.
"""

from __future__ import annotations

from collections.abc import Sequence


class DeniableError(Exception):
    """The root of the tree: catch this to catch everything Deniable raises on purpose."""


class _Reasoned(DeniableError):
    """An error with a reason from a closed set beside its message."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[1])


class InvalidParameter(DeniableError, ValueError):
    """A parameter is outside what is allowed; the message says what is, `fix` what to do."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message, fix)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".rstrip()


class InvalidAnswer(_Reasoned, ValueError):
    """An answer is outside the question's domain. The message never contains the answer.

    `reason` is one of a closed set: type, not_a_number, unknown_category, too_long, too_many,
    bad_unicode, alphabet, missing_field, unknown_field.
    """


class InvalidSurvey(DeniableError, ValueError):
    """A survey cannot be read or published; `problems` holds every reason, not only the first."""

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class InvalidReport(_Reasoned, ValueError):
    """A report breaks the wire contract; `reason` is one of the collector's closed reasons."""


class RecordRefused(_Reasoned):
    """The strict client did not make a report; `reason` is the counter that was raised."""


class StoreError(DeniableError):
    """The store cannot be opened, written or read."""


class OutcomeUnknown(StoreError):
    """The connection was lost in the middle of a commit: it was written, or nothing of it was."""


class LedgerLost(StoreError):
    """A client's directory has lost what the device has disclosed; it is never begun anew."""


class MissingExtra(DeniableError, ImportError):
    """An optional dependency is missing; the message holds the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(extra, purpose)
        self.extra = extra
        self.purpose = purpose

    def __str__(self) -> str:
        command = f"pip install 'deniable[{self.extra}]'"
        return f"{self.purpose} needs the '{self.extra}' extra. Install it with: {command}"
