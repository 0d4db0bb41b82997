"""The description of the collector's interface, OpenAPI 3.1.

spec/openapi.json is its copy, and a test keeps it so.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from deniable.collector.openapi_schemas import SCHEMAS
from deniable.collector.problems import MEDIA_TYPE as PROBLEM_TYPE
from deniable.collector.reasons import Reason

INTERFACE_VERSION = "1.0.0"

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
    Reason.STORE,
)


def openapi() -> dict[str, Any]:
    """Return the whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Deniable collector",
            "version": INTERFACE_VERSION,
            "description": "Randomised reports in, counters out. Nothing about the sender is "
            "stored or logged. Every refusal is a problem (RFC 9457) with a reason from a closed "
            "set.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/reports": {"post": _post_reports()},
            "/v1/survey": {"get": _get_survey()},
            "/v1/counters": {"get": _get_counters()},
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
        },
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "writeKey": {"type": "http", "scheme": "bearer"},
                "analystToken": {"type": "http", "scheme": "bearer"},
                "analystPassword": {"type": "http", "scheme": "basic"},
            },
        },
    }


@cache
def openapi_bytes() -> bytes:
    """Return the description as the bytes of spec/openapi.json."""
    return (json.dumps(openapi(), indent=2, ensure_ascii=False) + "\n").encode()


def _post_reports() -> dict[str, Any]:
    return {
        "operationId": "postReports",
        "summary": "Send a batch of reports.",
        "description": "Answers 200 after every accepted report is on disk. Reports that were "
        "there already are counted as duplicates, so that a batch may be sent again as it is. A "
        "report that is refused leaves the rest of its batch alone; its problem has its index.",
        "security": [{}, {"writeKey": []}],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _ref("Batch")}},
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


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
