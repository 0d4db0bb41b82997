"""Published questions for the vectors, spelled out member by member."""

from __future__ import annotations

from typing import Any

Case = tuple[str, dict[str, Any], dict[str, Any]]
"""A name, a published question, and a value as vectors spell it."""


def rappor(form: str, bits: int, hashes: int, cohorts: int, **thresholds: int) -> dict[str, Any]:
    """Return published parameters; f = 1/2, p = 1/2 and q = 3/4 unless said otherwise."""
    usual = {
        "permanent_one": 3 * 2**62,
        "permanent_zero": 2**62,
        "report_one": 3 * 2**62,
        "report_zero": 2**63,
    }
    texts = {name: str(threshold) for name, threshold in {**usual, **thresholds}.items()}
    return {"form": form, "bits": bits, "hashes": hashes, "cohorts": cohorts, **texts}


def krr(answers: int, permanent_keep: int, report_keep: int) -> dict[str, Any]:
    """Return published parameters."""
    texts = {"permanent_keep": str(permanent_keep), "report_keep": str(report_keep)}
    return {"answers": answers, **texts}


def field(domain: str | dict[str, Any], parameters: dict[str, Any], name: str = "value") -> Any:
    """Return a published field."""
    return {
        "name": name,
        "domain": {"type": domain} if isinstance(domain, str) else domain,
        "mechanism": "krr" if "permanent_keep" in parameters else "rappor",
        "parameters": parameters,
        "candidates": "",
    }


def question(name: str, *fields: Any, **changes: Any) -> dict[str, Any]:
    """Return a published question."""
    usual = {
        "id": name,
        "version": 1,
        "description": "What the vectors ask.",
        "owner": "vectors",
        "expires": "2030-12-31",
        "epoch": 1,
        "repeat": "epoch",
        "send": "recorded",
        "fields": list(fields),
    }
    return {**usual, **changes}


def survey(*questions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a published survey."""
    return {
        "deniable": 1,
        "name": "vectors",
        "owner": "vectors",
        "questions": list(questions),
        **changes,
    }


COLOURS = {"type": "categories", "values": ["red", "green", "blue", "grün", "é"]}
SIZES = {"type": "numbers", "edges": ["0", "10", "100", "1000"]}
SILENT = {"permanent_one": 2**64, "permanent_zero": 0}
PLAIN = {"report_one": 2**64, "report_zero": 0}


def rappor_questions() -> list[Case]:
    """Questions and values for rappor.json."""
    strings = question("browser", field("strings", rappor("bloom", 128, 2, 16)))
    odd = question("language", field("strings", rappor("bloom", 13, 3, 7)), version=9, epoch=7)
    wide = question("host", field("strings", rappor("bloom", 100, 16, 65536)))
    always = question("page", field("strings", rappor("bloom", 16, 1, 3)), send="always")
    colour = question("colour", field(COLOURS, rappor("basic", 5, 1, 1)))
    size = question("size", field(SIZES, rappor("basic", 6, 1, 1)), send="always")
    dark = question("dark_mode", field("boolean", rappor("basic", 1, 1, 1)))
    maybe = question("maybe", field("boolean", rappor("basic", 3, 1, 1)), send="always")
    once = question("once", field(COLOURS, rappor("basic", 5, 1, 1, **SILENT)), repeat="once")
    permanent = question("permanent", field("strings", rappor("bloom", 32, 2, 4, **PLAIN)))
    return [
        ("bloom", strings, {"string": "firefox"}),
        ("bloom, the same value again, with another secret and fresh draws", strings,
         {"string": "firefox"}),
        ("bloom, another value", strings, {"string": "chrome"}),
        ("bloom, the empty string", strings, {"string": ""}),
        ("bloom, composed", strings, {"string": "caf\u00e9"}),
        ("bloom, decomposed", strings, {"string": "cafe\u0301"}),
        ("k is no multiple of 8, m no power of 2", odd, {"string": "漢字"}),
        ("16 hashes and 65,536 cohorts", wide, {"string": "example.org"}),
        ("absent, of strings", always, {"absent": True}),
        ("not absent, of strings that could be", always, {"string": "a"}),
        ("basic, categories", colour, {"string": "gru\u0308n"}),
        ("basic, bins", size, {"number": "10"}),
        ("basic, absent", size, {"absent": True}),
        ("boolean, one bit, no", dark, {"boolean": False}),
        ("boolean, one bit, yes", dark, {"boolean": True}),
        ("boolean that may be absent: three bits", maybe, {"boolean": True}),
        ("boolean, absent", maybe, {"absent": True}),
        ("one-time, without a permanent stage", once, {"string": "blue"}),
        ("one-time, the permanent response itself", permanent, {"string": "blue"}),
    ]  # fmt: skip


def symbol_questions() -> list[Case]:
    """Questions and values for krr.json, also questions of several fields."""
    ten = {"type": "categories", "values": [f"c{i}" for i in range(10)]}
    warner = question("warner", field("boolean", krr(2, 2**64, 3 * 2**62)), repeat="once")
    chain = question("chain", field(ten, krr(10, 2**63, 2**63)), version=3)
    always = question("visits", field(SIZES, krr(6, 2**62, 2**63)), send="always", epoch=30)
    exact = question("exact", field(ten, krr(10, 2**62, 2**64)))
    fields = (
        field("boolean", krr(3, 2**63 + 2**62, 3 * 2**62), "dark"),
        field("strings", rappor("bloom", 20, 2, 5), "browser"),
        field(COLOURS, krr(6, 2**62, 2**63), "colour"),
    )
    several = question("device", *fields, send="always")
    named = question("named", field("boolean", krr(2, 2**64, 3 * 2**62), "answer"))
    both = {"dark": {"boolean": True}, "browser": {"string": "firefox"}, "colour": {"string": "é"}}
    return [
        *(("Warner's", warner, {"boolean": value}) for value in (False, True, False, True)),
        *(("two stages", chain, {"string": f"c{code}"}) for code in (0, 4, 9, 9, 9)),
        ("absent is the last symbol", always, {"absent": True}),
        ("bins, infinite", always, {"number": "Infinity"}),
        ("bins, negative", always, {"integer": "-5"}),
        ("a report that keeps the permanent symbol", exact, {"string": "c5"}),
        ("several fields", several, {"fields": both}),
        ("several fields, one missing and so absent", several,
         {"fields": {"colour": {"string": "red"}, "dark": {"boolean": False}}}),
        ("several fields, all absent", several, {"absent": True}),
        ("one field that is not plain", named, {"fields": {"answer": {"boolean": True}}}),
    ]  # fmt: skip
