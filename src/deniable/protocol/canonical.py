"""One byte string per published object: canonical JSON, base64url and hex.

Canonical JSON holds only objects with ASCII keys, arrays, strings and integers of at most 53
bits; keys are sorted, there are no spaces, the encoding is UTF-8 without escapes beyond the ones
JSON requires. Every language's standard JSON writer can produce it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence

from deniable.errors import InvalidParameter

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int
"""The values of a published object. Floats, booleans and null are not among them."""

LARGEST_INTEGER = 2**53 - 1
"""Larger integers are not read exactly by every JSON reader, so they travel as strings."""


def canonical(value: Json) -> bytes:
    """Return the canonical JSON bytes of `value`.

    Raises:
        InvalidParameter: if `value` holds a float, boolean, null, large integer, non-ASCII key or
            unpaired surrogate.
    """
    _check(value, depth=0)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParameter("Canonical JSON cannot hold an unpaired surrogate.") from None


def _check(value: object, depth: int) -> None:
    if depth > 16:
        raise InvalidParameter("Canonical JSON must be at most 16 levels deep.")
    if isinstance(value, str):
        return
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > LARGEST_INTEGER:
            raise InvalidParameter("Canonical JSON holds integers of at most 53 bits.")
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if not (isinstance(key, str) and key.isascii()):
                raise InvalidParameter("Canonical JSON keys must be ASCII strings.")
            _check(inner, depth + 1)
        return
    if isinstance(value, list | tuple):
        for inner in value:
            _check(inner, depth + 1)
        return
    raise InvalidParameter(
        f"Canonical JSON holds objects, arrays, strings and integers, not {type(value).__name__}."
    )


_TO_STANDARD = bytes.maketrans(b"-_+/=", b"+/!!!")
"""Turns base64url into base64; what only the latter has, into a character that neither has."""


def to_base64url(data: bytes) -> str:
    """Return `data` as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Return the bytes of unpadded base64url `text`; exactly one spelling of each is accepted.

    Raises:
        InvalidParameter: if `text` is not the text that `to_base64url` would write.
    """
    try:
        standard = text.encode("ascii").translate(_TO_STANDARD) + b"=" * (-len(text) % 4)
        data = binascii.a2b_base64(standard, strict_mode=True)
    except ValueError:
        raise InvalidParameter("Expected base64url without padding.") from None
    if binascii.b2a_base64(data, newline=False) != standard:
        raise InvalidParameter("Expected base64url in its one canonical spelling.")
    return data
