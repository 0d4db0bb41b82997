"""The query of an address: numbers and epochs, checked."""

from __future__ import annotations

import re

from starlette.requests import Request

from deniable.protocol.epochs import date_of, days_of

_NUMBER = re.compile(r"[0-9]{1,10}")


class NoSuchPage(Exception):
    """An address that leads nowhere; the message says why."""


class BadQuery(Exception):
    """A query that asks for what cannot be; the message says why, and what can."""


def number_of(request: Request, name: str) -> int | None:
    """Return a number of the query; None where it is missing.

    Raises:
        NoSuchPage: if it is no number.
    """
    text = request.query_params.get(name)
    if text is None or text == "":
        return None
    if not _NUMBER.fullmatch(text):
        raise NoSuchPage(f"'{name}' must be a number.")
    return int(text)


def epoch_asked(request: Request, days: int) -> int | None:
    """Return the epoch of the query, for epochs of `days` days; None where it is missing.

    Raises:
        NoSuchPage: if it is no number, or no calendar has its days.
    """
    epoch = number_of(request, "epoch")
    if epoch is not None:
        try:
            date_of(days_of(epoch, days)[1])
        except (OverflowError, ValueError):
            raise NoSuchPage("'epoch' is a number of periods since 1970, not so many.") from None
    return epoch
