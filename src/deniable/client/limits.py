"""The bounds of a client, in one place."""

from __future__ import annotations

from dataclasses import fields

from deniable import _validate
from deniable.protocol.epochs import ACCEPT_PAST_DAYS
from deniable.protocol.frozen import frozen
from deniable.protocol.report import MAX_BATCH_REPORTS


@frozen
class Limits:
    """Sizes, waiting times and retries of a client.

    Attributes:
        queue: values that may wait in memory for the thread.
        outbox: reports that may wait on disk for the collector.
        batch: reports in one upload.
        stale_days: a report whose epoch ended longer ago is dropped; a collector would refuse it.
        cycle_seconds: the time between two looks for closed epochs and reports that are due.
        busy_seconds: the longest wait for another process that holds the database.
        timeout_seconds: the most time of one upload, from connecting to the answer's last byte.
        retry_base_seconds, retry_cap_seconds: the n-th retry waits a uniformly random time
            below min(cap, base * 2^n).

    Raises:
        InvalidParameter: if a limit is not a positive number.
    """

    queue: int = 1_000
    outbox: int = 1_000
    batch: int = 100
    stale_days: int = ACCEPT_PAST_DAYS
    cycle_seconds: float = 60.0
    busy_seconds: float = 5.0
    timeout_seconds: float = 10.0
    retry_base_seconds: float = 5.0
    retry_cap_seconds: float = 3_600.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_seconds"):
                _validate.positive(field.name, "Limits", value)
            else:
                top = MAX_BATCH_REPORTS if field.name == "batch" else 10**9
                _validate.integer(field.name, "Limits", value, 1, top)
