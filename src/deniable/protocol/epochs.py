"""Time as a report knows it: the number of a period of UTC days, and nothing finer."""

from __future__ import annotations

from datetime import UTC, date, datetime

ACCEPT_PAST_DAYS = 30
"""Default number of days after an epoch's last day until which its reports are accepted."""

ACCEPT_FUTURE_DAYS = 1
"""Default number of days before an epoch's first day from which its reports are accepted.

Clocks and time zones differ.
"""

_FIRST = date(1970, 1, 1).toordinal()


def day_number(moment: datetime | None = None) -> int:
    """Return the number of the UTC day of `moment` (now by default); 1970-01-01 is day 0."""
    moment = datetime.now(UTC) if moment is None else moment.astimezone(UTC)
    return moment.date().toordinal() - _FIRST


def day_of(when: date) -> int:
    """Return the number of a calendar day."""
    return when.toordinal() - _FIRST


def date_of(day: int) -> date:
    """Return the calendar date of a day number."""
    return date.fromordinal(day + _FIRST)


def epoch_of(day: int, length: int) -> int:
    """Return the epoch that holds `day`, for epochs of `length` days."""
    return day // length


def days_of(epoch: int, length: int) -> tuple[int, int]:
    """Return the first and the last day of an epoch."""
    return epoch * length, (epoch + 1) * length - 1
