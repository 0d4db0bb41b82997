"""Reading the collector's answer to a batch, which is never trusted.

Only the collector's own word ends a report: the `problems` of its 200, or a problem document with
a final reason. A proxy's login page, a wrong route or a rotated key is somebody else's mistake, and
the reports wait until it is mended.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TypeGuard

from deniable.client.transport import Response
from deniable.protocol.frozen import frozen
from deniable.protocol.reasons import (
    FINAL_REASONS,
    PROBLEM_MEDIA_TYPE,
    REPORT_REASONS,
    SPLIT_REASONS,
    Reason,
)

_TOO_LARGE = 413
_OTHER = "other"


@frozen
class Outcome:
    """The outcome of sending one report.

    Attributes:
        counter: the word that is counted.
        leaves: whether the report leaves the outbox; otherwise it waits for its next turn.
    """

    counter: str
    leaves: bool


class Whole(Enum):
    """The next step for a batch whose answer does not tell its reports apart."""

    WAIT = "wait"
    SPLIT = "split"


_UPLOADED = Outcome("uploaded", leaves=True)


def judge(response: Response, reports: int) -> list[Outcome] | Whole:
    """Return the outcome of each of `reports` reports, or the next step for all of them.

    Guarantees: never raises, whatever the answer holds. A report leaves only where it was
    accepted, or refused for a final reason.
    """
    if response.status == 200:
        return _acknowledged(_json(response), reports)
    reason = _problem(response)
    about_a_report = reason in REPORT_REASONS or reason in SPLIT_REASONS
    if not about_a_report and response.status != _TOO_LARGE:
        return Whole.WAIT
    # Which report of several is meant is not said: halves find it, and let the others go.
    return Whole.SPLIT if reports > 1 else [_refused(reason)]


def _acknowledged(body: object, reports: int) -> list[Outcome] | Whole:
    """Read the answer to a whole batch; it must account for every report exactly once."""
    if not isinstance(body, dict):
        return Whole.WAIT
    accepted, duplicates = body.get("accepted"), body.get("duplicates")
    problems = body.get("problems")
    if not (_is_count(accepted) and _is_count(duplicates) and isinstance(problems, list)):
        return Whole.WAIT
    if accepted + duplicates + len(problems) != reports:
        return Whole.WAIT
    refusals: dict[int, Outcome] = {}
    for problem in problems:
        index = problem.get("index") if isinstance(problem, dict) else None
        if not _is_count(index) or index >= reports or index in refusals:
            return Whole.WAIT
        refusals[index] = _refused(_reason(problem))
    return [refusals.get(index, _UPLOADED) for index in range(reports)]


def _refused(reason: Reason | None) -> Outcome:
    if reason in FINAL_REASONS:
        return Outcome(f"refused_{reason}", leaves=True)
    return Outcome(f"waiting_{reason or _OTHER}", leaves=False)


def _problem(response: Response) -> Reason | None:
    """Return the reason of a problem document of the collector's; None for any other answer."""
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != PROBLEM_MEDIA_TYPE or not 400 <= response.status < 500:
        return None
    return _reason(_json(response))


def _reason(problem: object) -> Reason | None:
    """Return a problem's reason; None if it is none that this version knows."""
    word = problem.get("reason") if isinstance(problem, dict) else None
    try:
        return Reason(word) if isinstance(word, str) else None
    except ValueError:
        return None


def _json(response: Response) -> object:
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
