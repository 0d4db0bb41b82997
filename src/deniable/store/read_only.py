"""A store that is read and never written: everything that would change it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store.base import Appended, Batch, Counters, Overdue, Scope, Store


class ReadOnlyStore(Store):
    """A store without writing.

    Raises:
        StoreError: from every method that would change it.
    """

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        """Refuse to append reports."""
        self._refuse()

    def append_records(self, batch: Batch, records: bytes, size: int) -> int:
        """Refuse to append records."""
        self._refuse()

    def begin_simulation(
        self, batch: Batch, seed: int, people: int, *, among_real: bool = False
    ) -> None:
        """Refuse a simulated crowd."""
        self._refuse()

    def remove_simulated(self) -> int:
        """Refuse to remove reports."""
        self._refuse()

    def count(self, counters: Counters) -> None:
        """Refuse to count."""
        self._refuse()

    def find_over(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> Overdue:
        """Return that nothing waits for its closing."""
        return Overdue(0)

    def close_epochs(self, *_: object, **__: object) -> int:
        """Return 0: everything is closed already."""
        return 0

    def close_question(self, *_: object, **__: object) -> int:
        """Return 0: everything is closed already."""
        return 0

    def delete(self, *scopes: Scope) -> int:
        """Refuse to delete reports."""
        self._refuse()

    def expire(self, *_: object, **__: object) -> list[Batch]:
        """Return that nothing is past its retention: nobody deletes here."""
        return []

    def _refuse(self) -> NoReturn:
        raise StoreError(
            "This is an archive, which is only read. Write to the store that it was made from."
        )
