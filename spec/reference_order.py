"""The order in which a device sets aside what its questions cost: the slow reference.

Standard library only, and nothing of the package: see reference.py.
"""

from __future__ import annotations

from typing import Any

import reference as ref

Asked = dict[str, Any]


def order_word(secret: bytes, name: str) -> int:
    """Return the number that puts a question into a device's order."""
    return int.from_bytes(ref.derive(secret, b"order", name.encode())[:8], "little")


def ordered(secret: bytes, asked: list[Asked]) -> list[Asked]:
    """Return questions in a device's order: the smallest number first, found one by one."""
    left, found = list(asked), []
    while left:
        best = left[0]
        for other in left[1:]:
            if _place(secret, other) < _place(secret, best):
                best = other
        left.remove(best)
        found.append(best)
    return found


def _place(secret: bytes, asked: Asked) -> tuple[int, bytes, int]:
    return order_word(secret, asked["id"]), asked["id"].encode(), asked["version"]


def paid_mark(secret: bytes, asked: Asked) -> bytes:
    """Return what is kept among the tags once a value of a question was paid for."""
    version = asked["version"].to_bytes(4, "little")
    digest = bytes.fromhex(asked["digest"])
    return ref.derive(secret, b"paid", asked["id"].encode(), version, digest)[:16]


def set_aside(asked: list[Asked], ceiling: int, spent: int) -> list[Asked]:
    """Return which of these, in a device's order and not paid yet, can be answered."""
    room, held = ceiling - spent, []
    for one in asked:
        if one["micros"] <= room:
            held.append(one)
            room -= one["micros"]
    return held
