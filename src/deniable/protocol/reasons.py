"""Reasons of refusal: one closed set for every party, with those that end a report.

A collector counts by these words, a client decides by them, and `spec/protocol.md` lists them.
"""

from __future__ import annotations

from enum import StrEnum

PROBLEM_MEDIA_TYPE = "application/problem+json"
"""The type of a refused request's answer [RFC 9457]; anything else is not the collector's word."""


class Reason(StrEnum):
    """A reason of refusal. Its status and meaning make its problem (RFC 9457).

    The first nine are about one report of a batch, the others about a whole request.
    """

    SCHEMA = "schema"
    UNKNOWN_QUESTION = "unknown_question"
    UNKNOWN_VERSION = "unknown_version"
    DIGEST = "digest"
    EXPIRED = "expired"
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    RECORD = "record"
    SEGMENTS = "segments"

    HTTP = "http"
    BODY = "body"
    BATCH_SIZE = "batch_size"
    OVERSIZE = "oversize"
    SLOW = "slow"
    MEDIA_TYPE = "media_type"
    ENCODING = "encoding"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    HOST = "host"
    NOT_FOUND = "not_found"
    QUERY = "query"
    METHOD = "method"
    BUSY = "busy"
    STORE = "store"
    INTERNAL = "internal"

    @property
    def status(self) -> int:
        """The HTTP status of the problem."""
        return _PROBLEMS[self][0]

    @property
    def meaning(self) -> str:
        """The problem in a few words, the same every time."""
        return _PROBLEMS[self][1]

    @property
    def uri(self) -> str:
        """The problem's type."""
        return f"urn:deniable:problem:{self.value}"

    @property
    def final(self) -> bool:
        """True if the refused report will never be accepted, so that a client drops it."""
        return self in FINAL_REASONS


REPORT_REASONS = (
    Reason.SCHEMA,
    Reason.UNKNOWN_QUESTION,
    Reason.UNKNOWN_VERSION,
    Reason.DIGEST,
    Reason.EXPIRED,
    Reason.TOO_EARLY,
    Reason.TOO_LATE,
    Reason.RECORD,
    Reason.SEGMENTS,
)
"""The reasons that refuse one report and leave the rest of its batch alone."""

FINAL_REASONS = frozenset(
    {
        Reason.SCHEMA,
        Reason.RECORD,
        Reason.DIGEST,
        Reason.EXPIRED,
        Reason.TOO_LATE,
        Reason.OVERSIZE,
    }
)
"""The reasons that end a report; of a whole request only where it carried that one report.

Everything else can pass: a key is rotated, a route mended, a survey published, a day begins.
"""

SPLIT_REASONS = frozenset({Reason.OVERSIZE, Reason.BATCH_SIZE})
"""The refusals of a whole request that its halves may not meet."""

_PROBLEMS: dict[Reason, tuple[int, str]] = {
    Reason.SCHEMA: (400, "The report does not have the form of a report."),
    Reason.UNKNOWN_QUESTION: (404, "The survey does not ask this question."),
    Reason.UNKNOWN_VERSION: (404, "The survey does not ask this version of the question."),
    Reason.DIGEST: (409, "The report was made with other parameters."),
    Reason.EXPIRED: (410, "The question has expired."),
    Reason.TOO_EARLY: (422, "The epoch has not begun."),
    Reason.TOO_LATE: (422, "The epoch is over for too long."),
    Reason.RECORD: (422, "No client could have made this record."),
    Reason.SEGMENTS: (422, "The segments are not those of the question."),
    Reason.HTTP: (400, "The request is not HTTP/1.1 as this collector reads it."),
    Reason.BODY: (400, "The body is not a batch of reports."),
    Reason.BATCH_SIZE: (413, "The batch does not have an allowed number of reports."),
    Reason.OVERSIZE: (413, "The body is too large."),
    Reason.SLOW: (408, "The body did not arrive in time."),
    Reason.MEDIA_TYPE: (415, "The body must be JSON or a compact batch."),
    Reason.ENCODING: (415, "The body must not be compressed."),
    Reason.UNAUTHORIZED: (401, "A key or token is needed."),
    Reason.FORBIDDEN: (403, "This is closed to the sender."),
    Reason.HOST: (421, "The request was meant for another host."),
    Reason.NOT_FOUND: (404, "There is nothing here."),
    Reason.QUERY: (400, "The query of the address asks for what cannot be."),
    Reason.METHOD: (405, "The method is not allowed here."),
    Reason.BUSY: (503, "Too many reports are waiting."),
    Reason.STORE: (503, "The store does not work."),
    Reason.INTERNAL: (500, "The collector made a mistake."),
}
