"""Answers that the HTTP server writes itself, before there is an application to ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import msgspec

from deniable.collector.headers import PROTECTION, READABLE
from deniable.collector.problems import MEDIA_TYPE, RETRY_SECONDS, Problem
from deniable.collector.reasons import Reason


@dataclass(frozen=True)
class OwnAnswer:
    """An answer that needs no application: status, body, and the headers that are its own."""

    status: int
    body: bytes
    headers: dict[str, str]

    def written(
        self,
        default_headers: Iterable[tuple[bytes, bytes]] = (),
        *,
        close: bool = True,
        with_body: bool = True,
        for_pages: bool = False,
    ) -> bytes:
        """Return the whole HTTP answer: head, protective headers, and the body.

        Args:
            default_headers: of the server, such as the date.
            close: whether the connection ends with it.
            with_body: False for HEAD.
            for_pages: whether web pages of any origin may read it.
        """
        headers = PROTECTION | self.headers | {"content-length": str(len(self.body))}
        if for_pages:
            headers |= READABLE | {"cross-origin-resource-policy": "cross-origin"}
        if close:
            headers["connection"] = "close"
        lines = [status_line(self.status).rstrip()]
        lines += [name + b": " + value for name, value in default_headers]
        lines += [f"{name}: {value}".encode() for name, value in headers.items()]
        return b"\r\n".join([*lines, b"", self.body if with_body else b""])


@cache
def status_line(status: int) -> bytes:
    """Return the first line of an answer."""
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()


def of_problem(problem: Problem) -> OwnAnswer:
    """Return a refusal as an answer."""
    headers = {"content-type": MEDIA_TYPE}
    if problem.reason in RETRY_SECONDS:
        headers["retry-after"] = str(RETRY_SECONDS[problem.reason])
    return OwnAnswer(problem.status, msgspec.json.encode(problem), headers)


_JSON = {"content-type": "application/json"}
HEALTHY = OwnAnswer(HTTPStatus.OK, b'{"status":"ok"}', _JSON)
READY = OwnAnswer(HTTPStatus.OK, b'{"status":"ready"}', _JSON)

BUSY = Problem.of(Reason.BUSY, "Nothing was accepted. Send the same again later.")
STOPPING = Problem.of(Reason.BUSY, "The collector is being stopped. Send to another one.")
SLOW = Problem.of(Reason.SLOW, "A body must arrive in time. Send it again.")
TOO_LONG = Problem.of(Reason.OVERSIZE, "The request goes on for too long. Split the batch.")
NOT_HTTP = Problem.of(Reason.HTTP, "Send a plain HTTP/1.1 request.")
LONG_HEAD = Problem.of(Reason.HTTP, "The head of the request is too large.")
TRAILERS = Problem.of(Reason.HTTP, "Nothing may follow the last chunk of a body.")
PIPELINED = Problem.of(Reason.HTTP, "Wait for an answer before sending so many requests.")
