"""Reading the collector's answer to a batch, which is never trusted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import TypeGuard

from deniable.client.transport import Response
from deniable.protocol import Report

REFUSALS = frozenset(
    {
        "schema",
        "unknown_question",
        "unknown_version",
        "digest",
        "expired",
        "too_early",
        "too_late",
        "record",
    }
)
"""The collector's reasons that are counted by name; any other counts as "other"."""

_RETRIED = frozenset({408, 425, 429})


class Verdict(Enum):
    """What to do with a batch."""

    DONE = "done"
    RETRY = "retry"
    SPLIT = "split"
    DROP = "drop"


def judge(status: int) -> Verdict:
    """Return what a status means for the batch.

    Edge cases: a redirect or any status that no collector sends (a captive portal's, a proxy's)
    is tried again, so that nothing is lost to it.
    """
    if 200 <= status < 300:
        return Verdict.DONE
    if status == 413:
        return Verdict.SPLIT
    if 400 <= status < 500 and status not in _RETRIED:
        return Verdict.DROP
    return Verdict.RETRY


def read_acknowledgement(
    response: Response, reports: Sequence[Report]
) -> Counter[tuple[str, str]] | None:
    """Return counts per question and reason, or None if the body is no acknowledgement.

    Every report of the batch is counted once: as uploaded, or by the reason of its problem.
    """
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or not _is_count(body.get("accepted")):
        return None
    problems = body.get("problems", [])
    reasons = ["uploaded"] * len(reports)
    for problem in problems if isinstance(problems, list) else ():
        index = problem.get("index") if isinstance(problem, dict) else None
        if _is_count(index) and index < len(reports):
            reason = problem.get("reason")
            known = isinstance(reason, str) and reason in REFUSALS
            reasons[index] = f"refused_{reason if known else 'other'}"
    return Counter(
        (report.question, reason) for report, reason in zip(reports, reasons, strict=True)
    )


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
