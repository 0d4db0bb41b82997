"""The collector's interface, described from the code: its reasons, statuses and bounds.

The collector serves a file; the tests compare the file with this. To write both copies again:

    PYTHONPATH=src:tests python -m material.openapi
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.collector.metrics_page import MEDIA_TYPE as METRICS_TYPE
from deniable.collector.problems import MEDIA_TYPE as PROBLEM_TYPE
from deniable.collector.reasons import REPORT_REASONS, Reason
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.question import FIELD_NAME, MAX_VERSION, QUESTION_ID
from deniable.protocol.report import MAX_BATCH_BYTES, MAX_BATCH_REPORTS, MAX_EPOCH
from deniable.protocol.segments import MAX_SEGMENTS, SEGMENT_VALUE
from deniable.store.base import ACCEPTED, DUPLICATE
from material.openapi_pages import PAGE_SCHEMAS, PAGES

ROOT = Path(__file__).parents[2]
COPIES = (ROOT / "spec/openapi.json", ROOT / "src/deniable/collector/openapi.json")

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


def _problem_schema(reasons: tuple[Reason, ...], *, indexed: bool) -> Schema:
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
        "segments": {
            "type": "object",
            "description": "In clear, where the question has segments.",
            "propertyNames": {"pattern": f"^{FIELD_NAME.pattern}$"},
            "additionalProperties": {
                "type": "string",
                "pattern": f"^({SEGMENT_VALUE.pattern}|\\(other\\))$",
            },
            "minProperties": 1,
            "maxProperties": MAX_SEGMENTS,
        },
    },
    optional=("segments",),
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
    "CompactBatch": {
        "type": "string",
        "contentMediaType": COMPACT,
        "maxLength": MAX_BATCH_BYTES,
        "description": "Packed bytes, no text: the digest once, then groups of epoch, segments and "
        "number of reports, then ids, then records.",
    },
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
    "ReportProblem": _problem_schema(REPORT_REASONS, indexed=True),
    "Problem": _problem_schema(tuple(r for r in Reason if r not in REPORT_REASONS), indexed=False),
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

_INTERFACE_VERSION = "1.0.0"

_ANYWHERE = (Reason.HTTP, Reason.HOST, Reason.INTERNAL, Reason.BUSY)
_READING = (Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.STORE)
_WRITING = (
    Reason.BODY,
    Reason.BATCH_SIZE,
    Reason.OVERSIZE,
    Reason.SLOW,
    Reason.MEDIA_TYPE,
    Reason.ENCODING,
    Reason.UNAUTHORIZED,
    Reason.FORBIDDEN,
    Reason.STORE,
)


def openapi() -> dict[str, Any]:
    """Return the whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Deniable collector",
            "version": _INTERFACE_VERSION,
            "description": "Randomised reports in, counters out. Nothing about the sender is "
            "stored or logged. Every refusal is a problem (RFC 9457) with a reason from a closed "
            "set.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/reports": {"post": _post_reports()},
            "/v1/survey": {"get": _get_survey()},
            "/v1/counters": {"get": _get_counters()},
            "/metrics": {"get": _get_metrics()},
            "/healthz": {"get": _get("health", "Whether the process is up.", "Status")},
            "/readyz": {
                "get": _get(
                    "readiness",
                    "Whether the survey is loaded and the last write of the store succeeded.",
                    "Status",
                    (Reason.STORE,),
                )
            },
            "/openapi.json": {"get": _get("openapi", "This description.", "OpenApi")},
            **{path: {"get": _get_page(*told)} for path, told in PAGES.items()},
        },
        "components": {
            "schemas": {**SCHEMAS, **PAGE_SCHEMAS},
            "securitySchemes": {
                "writeKey": {"type": "http", "scheme": "bearer"},
                "analystToken": {"type": "http", "scheme": "bearer"},
                "analystPassword": {"type": "http", "scheme": "basic"},
            },
        },
    }


def described() -> bytes:
    """Return the description as the bytes of openapi.json."""
    return (json.dumps(openapi(), indent=2, ensure_ascii=False) + "\n").encode()


def _post_reports() -> dict[str, Any]:
    return {
        "operationId": "postReports",
        "summary": "Send a batch of reports.",
        "description": "Answers 200 after every accepted report is on disk. Reports that were "
        "there already are counted as duplicates, so that a batch may be sent again as it is. A "
        "report that is refused leaves the rest of its batch alone; its problem has its index. The "
        "compact form holds reports to one question; spec/protocol.md, section 9, has its bytes.",
        "security": [{}, {"writeKey": []}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": _ref("Batch")},
                "text/plain; charset=utf-8": {"schema": _as_text("Batch")},
                COMPACT: {"schema": _ref("CompactBatch")},
            },
        },
        "responses": {
            "200": _answer("What became of the batch.", "Receipt"),
            **_problems(_WRITING),
        },
    }


def _get_survey() -> dict[str, Any]:
    etag = {"etag": {"description": "SHA-256 of the survey.", "schema": {"type": "string"}}}
    return {
        "operationId": "getSurvey",
        "summary": "Fetch the published survey.",
        "parameters": [
            {
                "name": "if-none-match",
                "in": "header",
                "required": False,
                "description": "The etag of the survey that the client has.",
                "schema": {"type": "string"},
            }
        ],
        "responses": {
            "200": {**_answer("The survey.", "Survey"), "headers": etag},
            "304": {"description": "The client has it.", "headers": etag},
            **_problems(()),
        },
    }


def _get_counters() -> dict[str, Any]:
    return {
        **_get("counters", "What was accepted and refused, and why.", "Counters", _READING),
        "security": [{}, {"analystToken": []}, {"analystPassword": []}],
    }


def _get_page(name: str, summary: str, schema: str, asked: list[Schema]) -> dict[str, Any]:
    html = {"text/html": {"schema": {"type": "string"}}}
    answer = _answer(summary, schema)
    answer["content"] |= html
    bad = (Reason.QUERY,) if name == "question" else ()
    missing = {} if name in ("healthPage", "budget") else {"404": _problem([Reason.NOT_FOUND])}
    return {
        "operationId": f"get{name[0].upper()}{name[1:]}",
        "summary": summary,
        "description": "A page of the dashboard: JSON for who accepts that and no HTML.",
        "parameters": asked,
        "responses": {"200": answer, **_problems((*_READING, *bad)), **missing},
        "security": [{}, {"analystToken": []}, {"analystPassword": []}],
    }


def _get_metrics() -> dict[str, Any]:
    summary = "Numbers for a monitor; those about arrivals move in lumps, ten minutes apart."
    told = {
        **_get("metrics", summary, "Counters", (*_READING, Reason.STORE)),
        "security": [{}, {"analystToken": []}, {"analystPassword": []}],
    }
    told["responses"]["200"]["content"] = {METRICS_TYPE: {"schema": {"type": "string"}}}
    return told


def _get(name: str, summary: str, schema: str, reasons: tuple[Reason, ...] = ()) -> dict[str, Any]:
    return {
        "operationId": f"get{name.capitalize()}",
        "summary": summary,
        "responses": {"200": _answer(summary, schema), **_problems(reasons)},
    }


def _answer(description: str, schema: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {"application/json": {"schema": _ref(schema)}},
    }


def _problems(reasons: tuple[Reason, ...]) -> dict[str, Any]:
    """Return one response per status, with the reasons that have it."""
    by_status: dict[int, list[Reason]] = {}
    for reason in (*reasons, *_ANYWHERE):
        by_status.setdefault(reason.status, []).append(reason)
    if Reason.BATCH_SIZE in reasons:
        by_status[400].append(Reason.BATCH_SIZE)  # an empty batch; too large a one has 413
    return {str(status): _problem(by_status[status]) for status in sorted(by_status)}


def _problem(reasons: list[Reason]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": " ".join(f"{reason.value}: {reason.meaning}" for reason in reasons),
        "content": {PROBLEM_TYPE: {"schema": _ref("Problem")}},
    }
    if reasons[0].status in (401, 503):
        name = "www-authenticate" if reasons[0].status == 401 else "retry-after"
        response["headers"] = {name: {"schema": {"type": "string"}}}
    return response


def _as_text(name: str) -> dict[str, Any]:
    """Return the schema of a text that holds JSON; only pages send it, where they may."""
    return {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": _ref(name),
        "description": "Only where web pages may send reports.",
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


if __name__ == "__main__":
    for copy in COPIES:
        copy.write_bytes(described())
