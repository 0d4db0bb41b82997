"""The real reports of closed epochs: what may leave a store for everybody to see.

A view of another store. An epoch of a question is closed when none of its batches takes reports any
more; one that late reports opened again is not. Simulated reports are not there at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deniable.store.base import Chunk, Store, Tally
from deniable.store.read_only import ReadOnlyStore


class ClosedReports(ReadOnlyStore):
    """A store without open epochs and without simulated reports, over another that is only read.

    Guarantees: it is of one moment, that of its first look; what is closed later is not in it.

    Args:
        store: the store whose reports it shows.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tallies: tuple[Tally, ...] | None = None

    def tallies(self) -> list[Tally]:
        """Return the real batches of closed epochs, as they were at the first look."""
        if self._tallies is None:
            every = self._store.tallies()
            opened = {_epoch(tally) for tally in every if tally.open and not tally.batch.simulated}
            self._tallies = tuple(
                tally
                for tally in every
                if not tally.batch.simulated and _epoch(tally) not in opened
            )
        return list(self._tallies)

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield the chunks of real reports of closed epochs."""
        closed = {tally.batch for tally in self.tallies()}
        for chunk in self._store.read(question, version, first_epoch, last_epoch):
            if chunk.batch in closed:
                yield chunk

    def remembered(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return counts that the store remembers."""
        return self._store.remembered(keys)

    def counters(self) -> dict[tuple[str, str], int]:
        """Return no counters: what became of other reports is nobody else's business."""
        return {}

    def close(self) -> None:
        """Leave the other store as it is: whoever opened it closes it."""


def _epoch(tally: Tally) -> tuple[str, int, bytes, int]:
    batch = tally.batch
    return batch.question, batch.version, batch.digest, batch.epoch
