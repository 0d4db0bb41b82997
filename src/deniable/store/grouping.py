"""A group of reports as chunks to be: the records of each batch, and what is counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from deniable.errors import InvalidParameter
from deniable.protocol import Report
from deniable.store.base import ACCEPTED, DUPLICATE, SIMULATED, Batch

CHUNK_BYTES = 2**20
"""The most bytes of the records of a chunk, unless a single record is longer."""

Grouped = Mapping[tuple[Batch, int], bytes]
"""The records of each batch, by the batch and the size of a record."""


def grouped(
    reports: Sequence[Report], new: Sequence[bool], simulated: bool
) -> tuple[Grouped, Counter[tuple[str, str]]]:
    """Return the records of the new reports by batch, and the counters of all of them."""
    kept = SIMULATED if simulated else ACCEPTED
    counts: Counter[tuple[str, str]] = Counter()
    # Keyed by plain tuples: making and comparing a Batch for each report would cost as much as
    # writing it.
    records: defaultdict[tuple[str, int, bytes, int, int, str], list[bytes]] = defaultdict(list)
    for report, is_new in zip(reports, new, strict=True):
        counts[report.question, kept if is_new else DUPLICATE] += 1
        if is_new:
            record = report.record
            batch = (
                report.question,
                report.version,
                report.digest,
                report.epoch,
                len(record),
                report.segments,
            )
            records[batch].append(record)
    return {
        (Batch(question, version, digest, epoch, simulated, segments), size): b"".join(parts)
        for (question, version, digest, epoch, size, segments), parts in records.items()
    }, counts


def first_of_each(
    reports: Sequence[Report], claimed: Mapping[int, set[bytes] | None]
) -> tuple[bool, ...]:
    """Say of each report whether it is new: the first one with an id that was claimed.

    Of each epoch the ids are given that are new, None for all.
    """
    left = {
        epoch: {r.id for r in reports if r.epoch == epoch} if new is None else set(new)
        for epoch, new in claimed.items()
    }
    made = []
    for report in reports:
        mine = left[report.epoch]
        made.append(report.id in mine)
        mine.discard(report.id)
    return tuple(made)


def number_of_records(records: bytes, size: int) -> int:
    """Return how many records there are.

    Raises:
        InvalidParameter: if a record would be empty or cut.
    """
    count, rest = divmod(len(records), size) if size > 0 else (0, 1)
    if rest:
        raise InvalidParameter(
            f"The records must be whole, each of {size} bytes (1 or more). "
            f"Got {len(records):,} bytes."
        )
    return count


def pieces(records: bytes, size: int) -> list[bytes]:
    """Cut records into pieces of at most CHUNK_BYTES, between records."""
    step = max(1, CHUNK_BYTES // size) * size
    return [records[start : start + step] for start in range(0, len(records), step)]
