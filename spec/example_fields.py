"""Published questions of several fields, every mechanism beside every other."""

from __future__ import annotations

from typing import Any

from example_cohorts import hcms, orr, part, pgr
from example_oracles import TEN, TWO, T, hadamard, olh, oue, subset
from example_questions import COLOURS, SIZES, Case, krr, question, rappor


def _named(name: str, *described: Any) -> Any:
    return {**part(*described), "name": name}


def field_questions() -> list[Case]:
    """Questions and values for fields.json."""
    mixed = question(
        "mixed",
        _named("dark", "krr", "boolean", krr(2, T, 3 * 2**62)),
        _named("colour", "oue", COLOURS, oue(5)),
        _named("host", "olh", "strings", olh(4)),
        _named("page", "orr", "strings", orr("hashed", 0, 5, 12)),
        _named("ten", "subset", TEN, subset(10, 4)),
        _named("sign", "hadamard", TEN, hadamard(10)),
        _named("point", "pgr", TEN, pgr("closed", 10, 3, 3)),
        _named("sketch", "hcms", "strings", hcms(0, 4, 16)),
        repeat="once",
    )
    always = question(
        "always",
        _named("host", "rappor", "strings", rappor("bloom", 20, 2, 5)),
        _named("size", "oue", SIZES, oue(6, *TWO)),
        send="always",
    )
    strings = {name: {"string": f"{name}.example"} for name in ("host", "page", "sketch")}
    ten = {name: {"string": "c7"} for name in ("ten", "sign", "point")}
    every = {"dark": {"boolean": True}, "colour": {"string": "é"}, **strings, **ten}
    ten_bytes = {"size": {"number": "10"}}
    return [
        *(("eight mechanisms in one report", mixed, {"fields": every}) for _ in range(2)),
        ("two permanent stages", always, {"fields": {"host": {"string": "a"}, **ten_bytes}}),
        ("two permanent stages, one field missing", always, {"fields": ten_bytes}),
        ("two permanent stages, both absent", always, {"absent": True}),
    ]
