"""Refusals as HTTP answers: problem details, RFC 9457."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deniable.collector.headers import PROTECTION
from deniable.collector.reasons import PROBLEM_MEDIA_TYPE, Reason
from deniable.collector.refusals import Refusals

MEDIA_TYPE = PROBLEM_MEDIA_TYPE
RETRY_SECONDS = {Reason.BUSY: 1, Reason.STORE: 10}
"""The seconds of `Retry-After`, by reason."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem as it is sent. `index` is the place of a refused report in its batch."""

    type: str
    title: str
    status: int
    detail: str
    reason: Reason
    index: int | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(
        cls,
        reason: Reason,
        detail: str,
        *,
        index: int | msgspec.UnsetType = msgspec.UNSET,
        status: int | None = None,
    ) -> Problem:
        """Return the problem of a reason; `status` only where a reason has two."""
        return cls(reason.uri, reason.meaning, status or reason.status, detail, reason, index)


class Refused(HTTPException):
    """A whole request is refused; carries its problem.

    Args:
        reason: why.
        detail: what was wrong, what is allowed, what to do. Never anything about the sender.
        headers: of the answer.
        status: where the reason's own does not fit.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        self.problem = Problem.of(reason, detail, status=status)
        super().__init__(self.problem.status, detail, dict(headers or {}))


def unavailable(reason: Reason, detail: str) -> Refused:
    """Return the refusal that asks a sender to come back."""
    return Refused(reason, detail, {"retry-after": str(RETRY_SECONDS[reason])})


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as an answer that nobody keeps."""
    return Response(
        msgspec.json.encode(problem),
        problem.status,
        {"cache-control": "no-store", **(headers or {})},
        MEDIA_TYPE,
    )


class WrongMethod:
    """The application of a path for every method that it does not have."""

    def __init__(self, methods: Iterable[str]) -> None:
        self._allow = ", ".join(sorted(methods))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 405 with the methods that there are."""
        raise HTTPException(Reason.METHOD.status, headers={"allow": self._allow})


class ProblemAnswers:
    """Turns exceptions into problems, and counts them.

    Guarantees: what went wrong inside is not told to the sender.
    """

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals

    async def http(self, request: Request, error: Exception) -> Response:
        """Answer a refusal, or one of the router's own (no such path, no such method)."""
        if isinstance(error, Refused):
            return self.refusal(error)
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        if status == Reason.METHOD.status:
            problem = Problem.of(Reason.METHOD, "See the 'allow' header for the methods.")
        else:
            problem = Problem.of(Reason.NOT_FOUND, "See /openapi.json for what there is.")
        self._refusals.add("", problem.reason)
        return problem_response(problem, headers)

    def refusal(self, refused: Refused) -> Response:
        """Count a refusal, and return its answer."""
        self._refusals.add("", refused.problem.reason)
        return problem_response(refused.problem, refused.headers)

    async def store(self, request: Request, error: Exception) -> Response:
        """Answer that the store cannot be read."""
        self._refusals.add("", Reason.STORE)
        problem = Problem.of(Reason.STORE, "It cannot be read at the moment. Try again later.")
        return problem_response(problem, {"retry-after": str(RETRY_SECONDS[Reason.STORE])})

    async def internal(self, request: Request, error: Exception) -> Response:
        """Answer a mistake of ours."""
        return self.mistake()

    def mistake(self) -> Response:
        """Count a mistake of ours, and return its answer."""
        self._refusals.add("", Reason.INTERNAL)
        problem = Problem.of(Reason.INTERNAL, "Nothing was accepted. Try again later.")
        # This answer is made outside of everything that would add the headers.
        return problem_response(problem, PROTECTION)
