"""Bytes that look random: the same in every run, or others with another seed."""

from __future__ import annotations

import hashlib

_seed = [""]


def use_seed(number: int) -> None:
    """Make other secrets, keys and ids from now on, so that nothing is tuned to the usual ones."""
    _seed[0] = f" {number}"


def some_bytes(label: str, count: int = 32) -> bytes:
    """Return the bytes of a label."""
    return hashlib.sha256(f"vectors{_seed[0]}/{label}".encode()).digest()[:count]
