"""The transport to the collector: one method, so that an app or a test can bring its own."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from deniable.client.exchange import Exchange

_USER_AGENT = "deniable-client/1"
"""The same for every device: a version or a system would help to tell devices apart."""


@dataclass(frozen=True)
class Request:
    """A request: its path below the endpoint, such as /v1/reports, and a bound on the answer."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    largest_answer: int = 2**20


@dataclass(frozen=True)
class Response:
    """An answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)


class Transport(Protocol):
    """Carries a request to the collector."""

    def send(self, request: Request) -> Response:
        """Return the collector's answer, whatever its status.

        Raises:
            OSError: if there is none; the request is then tried again later.
        """


class HttpTransport:
    """HTTPS by the standard library: no cookies, no redirects, the same headers on every device.

    Guarantees: nothing is sent to any other host than the endpoint's (or the system's proxy for
    it). The answer is bounded in bytes, and the whole exchange in time: connecting, TLS, sending,
    the answer's head and its body share one limit.

    Args:
        endpoint: the collector's address, such as https://telemetry.example.org.
        timeout: seconds that one request may take, from beginning to end.
        allow_plain_http: send over plain http to hosts other than this machine, where anybody on
            the way can see which questions a device answers.

    Raises:
        InvalidParameter: if the endpoint is not such an address.
    """

    def __init__(
        self, endpoint: str, timeout: float = 10.0, allow_plain_http: bool = False
    ) -> None:
        loopback = _check(endpoint, allow_plain_http)
        self._endpoint = endpoint.rstrip("/")
        self._timeout = timeout
        self._loopback = loopback
        self._exchange: Exchange | None = None

    def __repr__(self) -> str:
        return f"HttpTransport({self._endpoint!r})"

    def send(self, request: Request) -> Response:
        """Send one request over a connection of its own.

        Raises:
            OSError: if the collector cannot be reached or does not answer properly in time.
        """
        # Imported here: an app that starts pays for it with its first upload, in another thread.
        from http.client import HTTPException

        from deniable.client.exchange import Exchange

        if self._exchange is None:
            self._exchange = Exchange(self._endpoint, direct=self._loopback)
        headers = {"User-Agent": _USER_AGENT, **request.headers}
        try:
            with self._exchange.open(
                request.method, request.path, headers, request.body, self._timeout
            ) as answer:
                body = _read(answer, request.largest_answer)
                received = {name.lower(): value for name, value in answer.headers.items()}
                return Response(answer.status, received, body)
        except OSError:
            raise  # a refused certificate is a ValueError too
        except (HTTPException, ValueError) as error:
            raise OSError(f"The answer is not HTTP ({type(error).__name__}).") from None


def _read(answer: HTTPResponse, limit: int) -> bytes:
    """Read a body of bounded size."""
    chunks, size = [], 0
    while chunk := answer.read1(65_536):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise OSError("The answer is too long.")
    return b"".join(chunks)


def _check(endpoint: str, allow_plain_http: bool) -> bool:
    """Tell whether the endpoint is this machine; refuse what is not an address to send to."""
    try:
        parts = urlsplit(endpoint)
        host, _ = parts.hostname or "", parts.port
    except (ValueError, AttributeError, TypeError):
        host = ""
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise InvalidParameter(
            "The 'endpoint' parameter of Client must be an address such as "
            "https://telemetry.example.org."
        )
    if parts.username is not None:
        raise InvalidParameter(
            "The 'endpoint' parameter of Client must not hold a user name: use 'write_key'."
        )
    loopback = _is_loopback(host)
    if parts.scheme == "http" and not (loopback or allow_plain_http):
        raise InvalidParameter(
            "The 'endpoint' parameter of Client must begin with https unless it is this machine. "
            "Use https, or allow_plain_http=True on a network where nobody listens."
        )
    return loopback


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def authorization(write_key: str | None) -> dict[str, str]:
    """Return the header that carries a write key, if there is one."""
    if write_key is None:
        return {}
    if not (write_key and write_key.isascii() and write_key.isprintable()):
        raise InvalidParameter("The 'write_key' parameter of Client must be printable ASCII.")
    return {"Authorization": f"Bearer {write_key}"}
