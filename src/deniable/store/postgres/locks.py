"""Who may do what at the same time: advisory locks of PostgreSQL, by purpose.

    append, epoch   shared by those who append to it; alone, whoever gives its batches new chunks
    read, epoch     shared by those who read its tables; alone, whoever drops them
    chunks          whoever swaps or removes chunks of closed batches
    closing         the one closer, for as long as its connection lives
    slot, number    the one connection that counts in a slot, for as long as it lives
    schema, tables  whoever makes tables

All but `closing` and `slot` end with their transaction. Data rest on these alone; a proxy that
shares connections may break the other two, which cost only speed then.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


class Locks:
    """The locks of the store in one schema; each method returns a statement."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def exclusive(self, purpose: str, number: int = 0) -> bytes:
        """Wait for a lock, and have it alone until the transaction ends."""
        return self._statement("pg_advisory_xact_lock", purpose, [number])

    def shared(self, purpose: str, numbers: Iterable[int]) -> bytes:
        """Wait for locks, in rising order, and share them until the transaction ends."""
        return self._statement("pg_advisory_xact_lock_shared", purpose, sorted(numbers))

    def attempt(self, purpose: str, number: int = 0) -> bytes:
        """Take a lock alone until the transaction ends if nobody has it: gives true or false."""
        return self._statement("pg_try_advisory_xact_lock", purpose, [number])

    def for_ever(self, purpose: str, number: int = 0) -> bytes:
        """Take a lock for as long as the connection lives, if nobody has it."""
        return self._statement("pg_try_advisory_lock", purpose, [number])

    def _statement(self, function: str, purpose: str, numbers: list[int]) -> bytes:
        # One kind of lock per purpose and schema: all stores of a database share its locks.
        name = blake2b(f"deniable/{self._schema}/{purpose}".encode(), digest_size=4).digest()
        kind = int.from_bytes(name, "little", signed=True)
        calls = ", ".join(f"{function}({kind}, {int(number)})" for number in numbers)
        return f"SELECT {calls}".encode()
