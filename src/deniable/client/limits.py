"""The bounds of a client, in one place, and the checks of what an app says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.epochs import ACCEPT_PAST_DAYS
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen
from deniable.protocol.report import MAX_BATCH_REPORTS

if TYPE_CHECKING:
    from deniable.protocol.windows import Window

_SHA256 = re.compile(r"[0-9a-f]{64}")


@frozen
class Limits:
    """Sizes, waiting times and retries of a client.

    Attributes:
        queue: values that may wait in memory for the thread.
        outbox: reports that may wait on disk for the collector.
        batch: reports in one upload.
        stale_days: a report whose epoch ended longer ago is dropped; a collector would refuse it.
        delay_seconds: the average of the random time that a report waits before it leaves, at most
            an hour; 0 for none, which shows a collector which reports were made together.
        cycle_seconds: the time between two looks for closed epochs and reports that are due.
        busy_seconds: the longest wait for another process that holds the database.
        timeout_seconds: the most time of one upload, from connecting to the answer's last byte.
        retry_base_seconds, retry_cap_seconds: the n-th retry waits a uniformly random time
            below min(cap, base * 2^n).

    Raises:
        InvalidParameter: if a limit is not a number of its kind.
    """

    queue: int = 1_000
    outbox: int = 1_000
    batch: int = 100
    stale_days: int = ACCEPT_PAST_DAYS
    delay_seconds: int = 60
    cycle_seconds: float = 60.0
    busy_seconds: float = 5.0
    timeout_seconds: float = 10.0
    retry_base_seconds: float = 5.0
    retry_cap_seconds: float = 3_600.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "delay_seconds":
                _validate.integer(field.name, "Limits", value, 0, 3_600)
            elif field.name.endswith("_seconds"):
                _validate.positive(field.name, "Limits", value)
            else:
                top = MAX_BATCH_REPORTS if field.name == "batch" else 10**9
                _validate.integer(field.name, "Limits", value, 1, top)


def micros_of(ceiling: float | None) -> int | None:
    """Return the app's ceiling in micros, rounded down; at least one, which allows nothing."""
    if ceiling is None:
        return None
    return max(1, int(Decimal(repr(_validate.positive("ceiling", "Client", ceiling))) * MICRO))


def window_of(wanted: tuple[float, int] | None) -> Window | None:
    """Return the app's budget per window of days."""
    if wanted is None:
        return None
    if not isinstance(wanted, tuple | list) or len(wanted) != 2:
        raise _validate.invalid("window", "Client", "(epsilon, days) or None", wanted)
    from deniable.protocol.windows import Window  # few apps have such a budget

    return Window.of(*wanted)


def trusted_of(told: bool | Collection[str]) -> bool | frozenset[str]:
    """Return the app's word for fetched surveys: for all, none, or those with these SHA-256."""
    if isinstance(told, bool):
        return told
    if isinstance(told, Collection) and not isinstance(told, str | bytes):
        hashes = frozenset(told)
        if all(isinstance(each, str) and _SHA256.fullmatch(each) for each in hashes):
            return hashes
    raise InvalidParameter(
        "The 'trust_surveys' parameter of Client must be True, False, or a list of SHA-256 of "
        "canonical survey.json, 64 lower-case hexadecimal digits each."
    )


def segments_of(told: Mapping[str, str] | None) -> dict[str, str]:
    """Return the app's segments."""
    told = {} if told is None else told
    texts = isinstance(told, Mapping) and all(
        isinstance(part, str) for pair in told.items() for part in pair
    )
    if not texts:
        raise InvalidParameter(
            "The 'segments' parameter of Client must be a mapping from names to strings."
        )
    return dict(told)
