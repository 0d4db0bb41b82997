"""The store contract: durable groups of reports in, shuffled chunks out.

    append (one durable group commit) -> chunks -> read

Nothing about the sender or the order of arrival is kept: see ARCHITECTURE.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.protocol.survey import DEFAULT_FLOOR

ACCEPTED = "accepted"
DUPLICATE = "duplicate"
SIMULATED = "simulated"
"""The counters that a store keeps by itself; all others are reasons of refusal. A simulated report
is counted as such and never as accepted."""

RUNNING_SECONDS = 86_400
"""The time that collectors must run after they found an epoch over, before it is closed."""

Counters = Mapping[tuple[str, str], int]
"""Numbers keyed by (question id or "", reason)."""


@dataclass(frozen=True, order=True)
class Batch:
    """The attributes that all reports of a chunk share.

    `simulated` marks reports of invented people: they never share a batch with real ones.
    `segments` is the text of a combination (`protocol/segments.py`), empty without segments.
    """

    question: str
    version: int
    digest: bytes
    epoch: int
    simulated: bool = False
    segments: str = ""


@dataclass(frozen=True)
class Appended:
    """The outcome of writing a group: the numbers of new reports and of duplicates.

    `new` tells which reports were new, in the order in which the group was handed over.
    """

    accepted: int
    duplicates: int
    new: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Chunk:
    """Many reports of one batch: their records, one after the other, in shuffled order."""

    batch: Batch
    records: bytes
    count: int


@dataclass(frozen=True)
class Tally:
    """The number of reports of one batch, and the bytes of their records.

    `stamp` is a random number that changes when reports were removed, even if as many came back.
    `open` tells whether its epoch still takes reports: it was not closed yet.
    """

    batch: Batch
    reports: int
    bytes: int
    stamp: int = field(default=0, compare=False, repr=False)
    open: bool = field(default=True, compare=False)


@dataclass(frozen=True)
class Overdue:
    """The open batches whose epoch is over, and those that the survey does not know.

    Args:
        batches: the number of batches that are over and wait for their closing.
        unknown: the (question id, version) of open batches that the survey does not name.
    """

    batches: int
    unknown: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Scope:
    """Some of a store's reports; None stands for any."""

    question: str | None = None
    version: int | None = None
    first_epoch: int | None = None
    last_epoch: int | None = None
    simulated: bool | None = None

    def holds(self, batch: Batch) -> bool:
        """Tell whether a batch's reports are among them."""
        return (
            self.question in (None, batch.question)
            and self.version in (None, batch.version)
            and self.simulated in (None, batch.simulated)
            and (self.first_epoch is None or batch.epoch >= self.first_epoch)
            and (self.last_epoch is None or batch.epoch <= self.last_epoch)
        )


class Store(ABC):
    """A store of admitted reports."""

    @abstractmethod
    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        """Write a group of reports durably: when this returns, a power cut loses none of them.

        Duplicates (the same id in the same epoch) within the group or against earlier ones are
        counted, not written. All or nothing: on an error none is written and nothing is counted.

        Args:
            reports: the group.
            refusals: counters to add in the same transaction.

        Raises:
            StoreError: if the disk is full or the store cannot be written; nothing was written.
            OutcomeUnknown: if the connection to the store was lost while the group was being
                committed. Append it again: what was written is found as duplicates.
        """

    @abstractmethod
    def append_records(self, batch: Batch, records: bytes, size: int) -> int:
        """Write many records of one batch at once, each `size` bytes.

        This is how simulated populations enter: the same chunks, one transaction, no HTTP. They
        carry no ids: nobody retries them, and `begin_simulation` keeps a crowd from entering
        twice. Returns the number of records.
        """

    @abstractmethod
    def begin_simulation(
        self, batch: Batch, seed: int, people: int, *, among_real: bool = False
    ) -> None:
        """Note that a crowd is about to enter, in the transaction that says whether it may.

        Args:
            batch: the batch of its reports; it must be simulated.
            seed: the seed from which the crowd is drawn.
            people: the size of the crowd.
            among_real: let it enter a store that holds real reports.

        Raises:
            InvalidParameter: if the batch is not marked as simulated.
            StoreError: if the store holds real reports and `among_real` is not given, or if the
                same seed was simulated for the same question already: it would count twice.
        """

    @abstractmethod
    def remove_simulated(self) -> int:
        """Delete and overwrite every simulated report, its counters and its notes.

        Real reports and their counters stay as they are. Returns the number of reports removed.
        """

    @abstractmethod
    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield the chunks of a question, in no meaningful order; safe while others append."""

    @abstractmethod
    def tallies(self) -> list[Tally]:
        """Return the number of reports of each batch."""

    def remembered(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return counts of closed epochs that `remember` kept, by key; nothing by default."""
        return {}

    def remember(self, counted: Mapping[bytes, tuple[int, bytes]]) -> None:
        """Keep counts of closed epochs, by key, each with the stamp of one of its batches.

        They may be lost at any time; a store need not keep any.

        Raises:
            StoreError: if the store cannot be written, or keeps none.
        """
        raise StoreError("This store keeps no counts.")

    @abstractmethod
    def count(self, counters: Counters) -> None:
        """Add to the counters, keyed by (question id or "", reason)."""

    def probe(self, size: int) -> None:
        """Show that about `size` bytes could be written now, and leave nothing behind.

        Raises:
            StoreError: if they could not.
        """
        self.count({("", ACCEPTED): 0})

    @property
    def simulating(self) -> bool:
        """True if every report that `append` writes is marked as simulated."""
        return False

    def size(self) -> int:
        """Return the bytes that the store takes where it is; 0 if that is not known."""
        return 0

    @abstractmethod
    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counters: accepted, simulated, duplicate, and one per reason of refusal.

        The sum of accepted always equals the number of real reports in the store, and the sum of
        simulated that of simulated ones.
        """

    @abstractmethod
    def find_over(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> Overdue:
        """Note which open epochs are over, and that this process has run since its last look.

        An epoch is over when its last day is before `before_day`. One sum of seconds is kept for
        each batch, none for a report; the looks of all processes add up, by clocks that do not
        jump. A look that finds an epoch not over puts its sum back.

        Args:
            before_day: the first day that can still be reported.
            epoch_days: the epoch length of each (question id, version).
        """

    @abstractmethod
    def close_epochs(
        self,
        before_day: int,
        epoch_days: Mapping[tuple[str, int], int],
        *,
        running_seconds: float = RUNNING_SECONDS,
        floor: int = DEFAULT_FLOOR,
    ) -> int:
        """Close every epoch that is over, once collectors have run long enough since.

        Its chunks become one shuffled chunk (a few when it is large), its ids are dropped and
        overwritten, the log is truncated. A report of it that is sent again would count twice from
        now on: hence the wait. What `epoch_days` does not name stays open. One process closes at a
        time; if another does, this one closes nothing. Returns the number of batches closed.

        Batches with fewer reports than the floor lose their segments first: those of one question,
        version, digest and epoch are closed as one batch, whose segments say "(small)".

        Args:
            before_day: the first day that can still be reported.
            epoch_days: the epoch length of each (question id, version).
            running_seconds: for how long `find_over` must have found it over; 0 closes at once.
            floor: the fewest reports of a combination of segments that stay told apart.

        Raises:
            StoreError: if the store cannot be written, or a batch is damaged. Damaged batches stay
                as they are; the others are closed first.
        """

    @abstractmethod
    def close_question(
        self,
        question: str,
        version: int | None = None,
        last_epoch: int | None = None,
        *,
        floor: int = DEFAULT_FLOOR,
    ) -> int:
        """Close a question's epochs at once, because the operator says so.

        Args:
            question: its id; the survey need not have it any more.
            version: one version only.
            last_epoch: the last epoch to close.
            floor: as in `close_epochs`.

        Raises:
            StoreError: as `close_epochs`; also if another process is closing.
        """

    @abstractmethod
    def delete(self, *scopes: Scope) -> int:
        """Delete the reports of each scope for good, and take them out of the counters.

        SQLite overwrites them. Ids of open epochs stay until these are closed, so that what was
        deleted does not come back with a retry. Returns the number of reports deleted.
        """

    @abstractmethod
    def expire(
        self,
        before_days: Mapping[tuple[str, int], int],
        epoch_days: Mapping[tuple[str, int], int],
        *,
        running_seconds: float = RUNNING_SECONDS,
    ) -> list[Batch]:
        """Note which epochs, open ones too, ended before their day; return those found long ago.

        They are sorted, as `tallies` are: both stores return them in one order.

        As with closing, a clock that is wrong for a while must do no harm: collectors must have
        run for `running_seconds` since they found an epoch past its retention, and a look that
        finds it not past puts the sum back. Of an open epoch no reports may be taken any more by
        then: `delete` keeps its ids until it is closed. What `epoch_days` does not name stays, and
        so does what has no day.

        Args:
            before_days: of each (question id, version) that has a retention, the first day whose
                epochs stay.
            epoch_days: the epoch length of each (question id, version).
            running_seconds: for how long an epoch must have been found past its day.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the store; safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
