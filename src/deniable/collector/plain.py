"""Plain requests to `POST /v1/reports`, which the HTTP server answers itself.

A plain request has each header once, says how short its body is, and breaks no rule that can be
seen before the body. Nine of ten are: devices send single reports. Each is answered by the rules
of `Intake`, in one write, without the application; whatever is not plain is left to it, so that
its refusals are made in one place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, Protocol

from starlette.datastructures import MutableHeaders
from starlette.responses import Response

from deniable.collector.admission import Admitted
from deniable.collector.auth import is_local_name
from deniable.collector.headers import protect
from deniable.collector.intake import SHORT_BODY, Intake
from deniable.collector.own_answers import status_line
from deniable.collector.problems import ProblemAnswers, Refused
from deniable.collector.web_pages import may_send, readable_by
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.report import MEDIA_TYPE as JSON
from deniable.store.base import Appended

_NOT_PLAIN = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"content-encoding"})
_USUAL = {JSON.encode(): False, COMPACT.encode(): True}
"""How senders write the type of a body, and whether it is a compact one."""
_KEPT_HOSTS = 16
_KEPT_ANSWERS = 256
"""Answers that are kept ready: by the number of reports, and the page that may read them."""
_log = logging.getLogger("uvicorn.error")


class Plain(NamedTuple):
    """A plain request: whether its body is compact, and which page asks, if one does."""

    compact: bool
    origin: str | None


_OF_NO_PAGE = {compact: Plain(compact, None) for compact in (False, True)}


class PlainAnswer(NamedTuple):
    """An answer: its first line, its headers, and its body, the line between them left out.

    `last` ends the connection.
    """

    start: bytes
    headers: bytes
    body: bytes
    last: bool = False


class Sender(Protocol):
    """The connection on which a plain request came."""

    def tell_plain(self, answer: PlainAnswer) -> None:
        """Write the answer, unless the connection is gone."""


class PlainReports:
    """The plain requests of one survey.

    Guarantees: an answer has the same bytes as the application's.

    Args:
        intake: the rules.
        answers: turns refusals into problems, and counts them.
    """

    def __init__(self, intake: Intake, answers: ProblemAnswers) -> None:
        self._intake = intake
        self._answers = answers
        self._local_only = not intake.settings.public
        self._most = min(SHORT_BODY, intake.settings.max_body)
        self._hosts: set[bytes] = set()
        self._kept = lru_cache(_KEPT_ANSWERS)(self._accepted)

    def opens(self, raw: Sequence[tuple[bytes, bytes]]) -> Plain | None:
        """Look at the headers of a request; None leaves it to the application."""
        headers = dict(raw)
        if len(headers) < len(raw) or not _NOT_PLAIN.isdisjoint(headers):
            return None
        declared = headers.get(b"content-length", b"")
        if not (declared.isdigit() and len(declared) < 6) or int(declared) > self._most:
            return None
        if self._local_only and not self._names_us(headers.get(b"host", b"")):
            return None
        compact = _USUAL.get(headers.get(b"content-type", b""))
        try:
            if compact is None or b"origin" in headers or b"authorization" in headers:
                return self._open_by_rules(headers)
            self._intake.open_to_anybody()
        except Refused:
            return None
        return _OF_NO_PAGE[compact]

    def _names_us(self, host: bytes) -> bool:
        """Tell whether a host is this machine; some names that are need no second look."""
        if host in self._hosts:
            return True
        ours = is_local_name(host.decode("latin-1"))
        if ours and len(self._hosts) < _KEPT_HOSTS:
            self._hosts.add(host)
        return ours

    def _open_by_rules(self, raw: Mapping[bytes, bytes]) -> Plain | None:
        """Open a request whose headers want more than a look.

        Raises:
            Refused: as `Intake.open`.
        """
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw.items()}
        if not may_send(headers, self._intake.settings):
            return None
        compact, _ = self._intake.open(headers)
        return Plain(compact, headers.get("origin"))

    def take(self, plain: Plain, body: bytes, sender: Sender) -> None:
        """Take a batch; the sender is told when what was admitted of it is durable."""
        try:
            admitted = self._intake.admit(body, plain.compact)
            tell = partial(self._finish, plain, admitted, sender)
            self._intake.commits.put(admitted.reports, tell)
        except Refused as refused:
            sender.tell_plain(self._written(self._answers.refusal(refused), plain.origin))
        except Exception as error:
            sender.tell_plain(self._failed(error))

    def _finish(
        self, plain: Plain, admitted: Admitted, sender: Sender, done: Appended | Exception
    ) -> None:
        try:
            if isinstance(done, Refused):
                answer = self._written(self._answers.refusal(done), plain.origin)
            elif isinstance(done, Exception):
                answer = self._failed(done)
            elif admitted.refusals:
                answer = self._written(self._intake.receipt(admitted, done), plain.origin)
            else:
                answer = self._kept(done.accepted, done.duplicates, plain.origin)
        except Exception as error:
            answer = self._failed(error)
        sender.tell_plain(answer)

    def _accepted(self, accepted: int, duplicates: int, origin: str | None) -> PlainAnswer:
        done = Appended(accepted, duplicates)
        return self._written(self._intake.receipt(Admitted([], []), done), origin)

    def _written(self, response: Response, origin: str | None) -> PlainAnswer:
        """Return an answer with the headers that the application adds around its routes."""
        headers = MutableHeaders(raw=response.raw_headers)
        headers.update(readable_by(origin, self._intake.settings))
        protect(headers)
        return _bytes_of(response)

    def _failed(self, error: Exception) -> PlainAnswer:
        """Return the answer to a mistake of ours, which the application makes outside of all."""
        _log.error("Exception in a plain request\n", exc_info=error)
        return _bytes_of(self._answers.mistake())._replace(last=True)


def _bytes_of(response: Response) -> PlainAnswer:
    lines = [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
    return PlainAnswer(status_line(response.status_code), b"".join(lines), bytes(response.body))
