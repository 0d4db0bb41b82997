"""The members of a mechanism's parameters, each declared once beside its name.

    symbols: int = whole(2, 65_536)
    keep: int = threshold()

A declaration reads the member from survey.json, writes it back, and checks the values that code
gives. `Parameters` does all three for every member, so that a mechanism's file says only what holds
between its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import thresholds
from deniable.protocol.canonical import Json, from_base64url, to_base64url

REQUIRED: Any = object()
"""Stands where a member has no default."""


class Declared:
    """The contract of a declaration.

    A member with a `default` is optional: it is published only where its value is another.
    """

    default: Any = REQUIRED

    def read(self, name: str, owner: str, value: object) -> Any:
        """Return the member's value as code has it, else raise InvalidParameter."""
        raise NotImplementedError

    def write(self, value: Any) -> Json:
        """Return a value as it stands in survey.json."""
        written: Json = value
        return written

    def check(self, name: str, owner: str, value: Any) -> None:
        """Raise InvalidParameter unless `value` is one that `read` could return."""
        self.read(name, owner, value)


class _Whole(Declared):
    def __init__(self, low: int, high: int, default: Any) -> None:
        self.low, self.high, self.default = low, high, default

    def read(self, name: str, owner: str, value: object) -> Any:
        return _validate.integer(name, owner, value, self.low, self.high)


class _Power(_Whole):
    def read(self, name: str, owner: str, value: object) -> Any:
        number = _validate.integer(name, owner, value, self.low, self.high)
        if number & (number - 1):
            must = f"a power of two from {self.low} to {self.high}"
            raise _validate.invalid(name, owner, must, value)
        return number


class _Threshold(Declared):
    def read(self, name: str, owner: str, value: object) -> Any:
        return thresholds.from_text(name, value)

    def write(self, value: Any) -> Json:
        return thresholds.to_text(value)

    def check(self, name: str, owner: str, value: Any) -> None:
        _validate.integer(name, owner, value, 0, thresholds.ONE)


class _Choice(Declared):
    def __init__(self, allowed: tuple[str, ...]) -> None:
        self.allowed = allowed

    def read(self, name: str, owner: str, value: object) -> Any:
        if isinstance(value, str) and value in self.allowed:
            return value
        *first, last = (f"'{each}'" for each in self.allowed)
        raise _validate.invalid(name, owner, f"{', '.join(first)} or {last}", value)


class _Many(Declared):
    def __init__(self, of: Declared, low: int, high: int, what: str, rising: bool) -> None:
        self.of, self.low, self.high, self.what, self.rising = of, low, high, what, rising

    def read(self, name: str, owner: str, value: object) -> Any:
        read = tuple(self.of.read(name, owner, each) for each in self._listed(name, owner, value))
        self._check_rising(name, owner, read)
        return read

    def write(self, value: Any) -> Json:
        return [self.of.write(each) for each in value]

    def check(self, name: str, owner: str, value: Any) -> None:
        for each in self._listed(name, owner, value):
            self.of.check(name, owner, each)
        self._check_rising(name, owner, value)

    def _listed(self, name: str, owner: str, value: object) -> Sequence[object]:
        if isinstance(value, list | tuple) and self.low <= len(value) <= self.high:
            return value
        raise _validate.invalid(name, owner, self._allowed, value)

    def _check_rising(self, name: str, owner: str, value: Any) -> None:
        if self.rising and not all(low < high for low, high in pairwise(value)):
            raise _validate.invalid(name, owner, self._allowed, value)

    @property
    def _allowed(self) -> str:
        return f"a list of {self.low} to {self.high:,} {self.what}"


class _Encoded(Declared):
    def read(self, name: str, owner: str, value: object) -> Any:
        try:
            if isinstance(value, str):
                return from_base64url(value)
        except InvalidParameter:
            pass  # one message for both
        raise _validate.invalid(name, owner, "base64url without padding", value)

    def write(self, value: Any) -> Json:
        return to_base64url(value)

    def check(self, name: str, owner: str, value: Any) -> None:
        if not isinstance(value, bytes):
            raise _validate.invalid(name, owner, "bytes", value)


def whole(low: int, high: int, *, default: Any = REQUIRED) -> Any:
    """Declare an integer from `low` to `high`; with a default, that or one of these."""
    return _Whole(low, high, default)


def power_of_two(low: int, high: int, *, default: Any = REQUIRED) -> Any:
    """Declare a power of two from `low` to `high`."""
    return _Power(low, high, default)


def threshold() -> Any:
    """Declare a probability as a 64-bit threshold, published as a decimal string."""
    return _Threshold()


def choice(*allowed: str) -> Any:
    """Declare one of a few words."""
    return _Choice(allowed)


def many(of: Any, low: int, high: int, what: str = "numbers", *, rising: bool = False) -> Any:
    """Declare a tuple of `low` to `high` values that are declared alike, published as a list."""
    return _Many(of, low, high, what, rising)


def encoded() -> Any:
    """Declare bytes, published in base64url."""
    return _Encoded()
