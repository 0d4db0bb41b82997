"""What the query of an address says."""

from __future__ import annotations

import re

from starlette.requests import Request

_NUMBER = re.compile(r"[0-9]{1,10}")


class NoSuchPage(Exception):
    """An address that leads nowhere; the message says why."""


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
