"""The results of the pages as JSON, described: the schemas of `Accept: application/json`."""

from __future__ import annotations

from typing import Any, get_args

from deniable.protocol.question import MAX_RETENTION_DAYS
from deniable.results.glance import Kind

Schema = dict[str, Any]

_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": ["number", "null"]}
_FLAG: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _numbered(words: str) -> Schema:
    return {"type": "object", "description": words, "additionalProperties": _COUNT}


def _list(name: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


_HEALTH: Schema = {
    "accepted": _COUNT,
    "simulated": _COUNT,
    "duplicates": _COUNT,
    "refused": _numbered("Refused reports by reason."),
}
_POINT = _object({"epoch": _COUNT, "value": _NUMBER, "low": _NUMBER, "high": _NUMBER})
_WINDOWS: Schema = {"type": "object", "additionalProperties": {"type": "number"}}

PAGE_SCHEMAS: Schema = {
    "Answer": {
        **_object(
            {
                "kind": {"type": "string", "enum": list(get_args(Kind))},
                "label": _TEXT,
                "value": _NUMBER,
                "low": _NUMBER,
                "high": _NUMBER,
                "field": _TEXT,
                "bars": {
                    "type": "array",
                    "items": {"type": "array", "prefixItems": [_TEXT, _NUMBER]},
                },
                "trend": {"type": "array", "items": _POINT},
                "problem": _TEXT,
                "n": _COUNT,
                "simulated": _COUNT,
                "made": {"type": "number", "description": "Seconds since 1970; 0 if just now."},
            }
        ),
        "description": "An answer at a glance: one number with its 95% interval; shares are parts "
        "of 1. With the kind nothing there is no number, and problem says why.",
    },
    "ListedQuestion": _object(
        {
            "id": _TEXT,
            "version": _COUNT,
            "level": _TEXT,
            "description": _TEXT,
            "owner": _TEXT,
            "kinds": _TEXTS,
            "segments": _TEXTS,
            "states": _TEXTS,
            "reports": _COUNT,
            "simulated": _COUNT,
            "last_day": {"type": ["string", "null"]},
            "epsilon_once": {"type": "number"},
            "refused": _COUNT,
            "answer": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Answer"}]},
            "whole": {**_FLAG, "description": "Whether the answer is of all reports."},
        }
    ),
    "QuestionList": _object(
        {
            "survey": _TEXT,
            "owner": _TEXT,
            "reports": _COUNT,
            "pending": {**_COUNT, "description": "Answers that are not computed yet."},
            "questions": _list("ListedQuestion"),
        }
    ),
    "Section": _object(
        {
            "name": _TEXT,
            "title": _TEXT,
            "answer": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Answer"}]},
            "sentences": _TEXTS,
            "problem": _TEXT,
            "table": {
                "type": ["object", "null"],
                "description": "As spec/schemas/table.json describes it.",
            },
        }
    ),
    "Health": _object(_HEALTH),
    "QuestionPage": _object(
        {
            "question": _TEXT,
            "version": _COUNT,
            "level": _TEXT,
            "description": _TEXT,
            "owner": _TEXT,
            "state": {"type": "string", "enum": ["open", "ended", "withdrawn"]},
            "epoch": {"type": ["integer", "null"]},
            "reports": _COUNT,
            "simulated": _COUNT,
            "epochs": _numbered("Reports by epoch."),
            "versions": _numbered("Reports by version."),
            "epsilon_once": {"type": "number"},
            "epsilon_forever": _NUMBER,
            "retention_days": {
                "type": ["integer", "null"],
                "minimum": 1,
                "maximum": MAX_RETENTION_DAYS,
                "description": "Days after the end of an epoch after which its reports are "
                "deleted: the question's own, or the survey's; null if they stay.",
            },
            "keep_counts": {
                "type": "boolean",
                "description": "Whether counts stay when reports are deleted.",
            },
            "health": {"$ref": "#/components/schemas/Health"},
            "sections": _list("Section"),
        }
    ),
    "HealthPage": _object(
        {
            **_HEALTH,
            "remedies": {
                "type": "object",
                "description": "What to do, by reason.",
                "additionalProperties": _TEXT,
            },
            "unknown": {"$ref": "#/components/schemas/Health"},
            "questions": {
                "type": "array",
                "items": _object(
                    {
                        "id": _TEXT,
                        "version": _COUNT,
                        "level": _TEXT,
                        "silent": _FLAG,
                        "epochs": _numbered("Reports by epoch."),
                        "versions": _numbered("Reports by version."),
                        **_HEALTH,
                    }
                ),
            },
        }
    ),
    "BudgetPage": _object(
        {
            "epsilon": {"type": "number"},
            "ceiling": {"type": "number"},
            "ceiling_of": {"type": "string", "enum": ["survey", "default"]},
            "fits": _FLAG,
            "left_out": {"type": "number"},
            "drawn_orders": _COUNT,
            "sentence": _TEXT,
            "windows": {**_WINDOWS, "description": "Epsilon of all questions, by days."},
            "question_windows": {"type": "object", "additionalProperties": _WINDOWS},
            "questions": {
                "type": "array",
                "items": _object(
                    {
                        "question": _TEXT,
                        "version": _COUNT,
                        "epsilon": {"type": "number"},
                        "each_epoch": _FLAG,
                        "expired": _FLAG,
                        "sum": {"type": "number"},
                        "left_out": {"type": "number", "minimum": 0, "maximum": 1},
                    }
                ),
            },
        }
    ),
}


def _asked(where: str, *names: str) -> list[Schema]:
    return [
        {"name": name, "in": where, "required": where == "path", "schema": _TEXT} for name in names
    ]


PAGES = {
    "/": (
        "list",
        "The questions with their answers.",
        "QuestionList",
        _asked("query", "q", "owner", "kind", "state", "segment", "sort"),
    ),
    "/questions/{id}": (
        "question",
        "All that a question's page shows.",
        "QuestionPage",
        [
            *_asked("path", "id"),
            *_asked("query", "version", "level", "epoch", "a", "b", "c", "by", "one", "other"),
            *_asked("query", "one_until", "other_until"),
        ],
    ),
    "/health": ("healthPage", "What became of every report.", "HealthPage", []),
    "/budget": ("budget", "What the survey can cost a device.", "BudgetPage", []),
}
"""The pages that are JSON, too: name, summary, schema and parameters by path."""
