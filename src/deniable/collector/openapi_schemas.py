"""The JSON Schemas of the collector's requests and answers."""

from __future__ import annotations

from typing import Any

from deniable.collector.reasons import REPORT_REASONS, Reason
from deniable.protocol.question import MAX_VERSION, QUESTION_ID
from deniable.protocol.report import MAX_BATCH_REPORTS, MAX_EPOCH
from deniable.store.base import ACCEPTED, DUPLICATE

Schema = dict[str, Any]

_COUNT: Schema = {"type": "integer", "minimum": 0}


def _object(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list(items: Schema, **bounds: int) -> Schema:
    return {"type": "array", "items": items, **bounds}


def _hexadecimal(digits: int) -> Schema:
    return {"type": "string", "pattern": f"^[0-9a-f]{{{digits}}}$"}


def _problem(reasons: tuple[Reason, ...], *, indexed: bool) -> Schema:
    index: Schema = {"index": {**_COUNT, "description": "The report's place in its batch."}}
    return _object(
        {
            "type": {"type": "string", "enum": [reason.uri for reason in reasons]},
            "title": {"type": "string", "enum": [reason.meaning for reason in reasons]},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "reason": {"type": "string", "enum": [reason.value for reason in reasons]},
            **(index if indexed else {}),
        }
    )


_REPORT = _object(
    {
        "question": {"type": "string", "pattern": f"^{QUESTION_ID.pattern}$"},
        "version": {"type": "integer", "minimum": 1, "maximum": MAX_VERSION},
        "digest": _hexadecimal(64),
        "epoch": {"type": "integer", "minimum": 0, "maximum": MAX_EPOCH},
        "id": _hexadecimal(32),
        "record": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]*$",
            "description": "The wire record, base64url without padding.",
        },
    }
)

_COUNTER = _object(
    {
        "question": {"type": "string", "description": "Empty where no question is known."},
        "reason": {"type": "string", "enum": [ACCEPTED, DUPLICATE, *(r.value for r in Reason)]},
        "count": {"type": "integer", "minimum": 1},
    }
)

SCHEMAS: Schema = {
    "Report": _REPORT,
    "Batch": _object(
        {
            "reports": _list(
                {"$ref": "#/components/schemas/Report"}, minItems=1, maxItems=MAX_BATCH_REPORTS
            )
        }
    ),
    "Receipt": _object(
        {
            "accepted": _COUNT,
            "duplicates": _COUNT,
            "problems": _list({"$ref": "#/components/schemas/ReportProblem"}),
        }
    ),
    "ReportProblem": _problem(REPORT_REASONS, indexed=True),
    "Problem": _problem(tuple(r for r in Reason if r not in REPORT_REASONS), indexed=False),
    "Counters": _object(
        {
            "counters": _list({"$ref": "#/components/schemas/Counter"}),
            "totals": {
                "type": "object",
                "description": "The sum over all questions, by reason.",
                "additionalProperties": _COUNT,
            },
        }
    ),
    "Counter": _COUNTER,
    "Status": _object({"status": {"type": "string", "enum": ["ok", "ready"]}}),
    "Survey": {
        "type": "object",
        "description": "As spec/schemas describes it.",
        "properties": {"deniable": {"type": "integer"}, "questions": {"type": "array"}},
        "required": ["deniable", "questions"],
    },
    "OpenApi": {
        "type": "object",
        "properties": {"openapi": {"type": "string"}, "paths": {"type": "object"}},
        "required": ["openapi", "paths"],
    },
}
