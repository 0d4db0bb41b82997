"""Published questions with cohorts for the vectors, and what must be refused of them.

Mechanisms orr, pgr and hcms, and the permuted form of rappor.
"""

from __future__ import annotations

from typing import Any

from example_questions import COLOURS, SILENT, SIZES, Case, question, rappor

T = 2**64


def part(mechanism: str, domain: str | dict[str, Any], parameters: dict[str, Any]) -> Any:
    """Return a published field of a plain question."""
    return {
        "name": "value",
        "domain": {"type": domain} if isinstance(domain, str) else domain,
        "mechanism": mechanism,
        "parameters": parameters,
        "candidates": "",
    }


def orr(form: str, answers: int, symbols: int, cohorts: int, keep: int = 3 * 2**62) -> Any:
    """Return published parameters."""
    shape = {"form": form, "answers": answers, "symbols": symbols, "cohorts": cohorts}
    return {**shape, "keep": str(keep)}


def orr_questions() -> list[Case]:
    """Questions and values for orr.json."""
    ten = {"type": "categories", "values": [f"c{i}" for i in range(10)]}
    hashed = question("host", part("orr", "strings", orr("hashed", 0, 5, 12)), repeat="once")
    wide = question("wide", part("orr", "strings", orr("hashed", 0, 65536, 65536, 2**63)))
    absent = question("page", part("orr", "strings", orr("hashed", 0, 3, 7)), send="always")
    closed = question("ten", part("orr", ten, orr("permuted", 10, 3, 9, 2**63)), repeat="once")
    sizes = question("size", part("orr", SIZES, orr("permuted", 6, 6, 64, 2**63)), send="always")
    yes = question("yes", part("orr", "boolean", orr("permuted", 2, 2, 5)), repeat="once")
    return [
        *(("hashed", hashed, {"string": f"example {i}"}) for i in range(6)),
        ("65,536 symbols and cohorts", wide, {"string": "firefox"}),
        ("absent, of strings", absent, {"absent": True}),
        *(("permuted", closed, {"string": f"c{code}"}) for code in (0, 4, 9, 9)),
        ("permuted, as many symbols as answers", sizes, {"number": "50"}),
        ("permuted, absent is the last code", sizes, {"absent": True}),
        ("permuted, boolean", yes, {"boolean": True}),
    ]


def pgr(form: str, answers: int, prime: int, dimension: int, cohorts: int = 1, **other: int) -> Any:
    """Return published parameters; keep = 3/4 unless said otherwise."""
    shape = {"form": form, "answers": answers, "prime": prime, "dimension": dimension}
    return {**shape, "cohorts": cohorts, "keep": str(other.get("keep", 3 * 2**62))}


def pgr_questions() -> list[Case]:
    """Questions and values for pgr.json."""
    ten = {"type": "categories", "values": [f"c{i}" for i in range(10)]}
    closed = question("ten", part("pgr", ten, pgr("closed", 10, 3, 3)), repeat="once")
    plane = question("plane", part("pgr", ten, pgr("closed", 10, 11, 2)), repeat="once")
    two = question("two", part("pgr", SIZES, pgr("closed", 6, 2, 4, keep=2**63)), send="always")
    hashed = question("host", part("pgr", "strings", pgr("hashed", 0, 5, 4, 12)), repeat="once")
    page = question("page", part("pgr", "strings", pgr("hashed", 0, 7, 3, 65536)), send="always")
    return [
        *(("closed", closed, {"string": f"c{code}"}) for code in range(10)),
        *(("a line: k-RR", plane, {"string": f"c{code}"}) for code in (0, 1, 9)),
        *(("prime 2, bins", two, {"integer": str(x)}) for x in (-1, 5, 50, 500, 5000)),
        ("absent is the last code", two, {"absent": True}),
        *(("hashed", hashed, {"string": f"example {i}"}) for i in range(8)),
        ("absent, of strings", page, {"absent": True}),
        ("not absent, of strings that could be", page, {"string": "a"}),
    ]


def hcms(answers: int, rows: int, width: int, keep: int = 3 * 2**62) -> dict[str, Any]:
    """Return published parameters."""
    return {"answers": answers, "rows": rows, "width": width, "keep": str(keep)}


def hcms_questions() -> list[Case]:
    """Questions and values for hcms.json."""
    hashed = question("host", part("hcms", "strings", hcms(0, 5, 256)), repeat="once")
    wide = question("wide", part("hcms", "strings", hcms(0, 16, 2**20)), send="always")
    closed = question("size", part("hcms", SIZES, hcms(6, 3, 8)), send="always")
    yes = question("yes", part("hcms", "boolean", hcms(2, 1, 2)), repeat="once")
    return [
        *(("strings", hashed, {"string": f"example {i}"}) for i in range(6)),
        ("2^20 buckets", wide, {"string": "firefox"}),
        ("absent, of strings", wide, {"absent": True}),
        *(("bins", closed, {"integer": str(x)}) for x in (-1, 5, 50)),
        ("absent is hashed by its code", closed, {"absent": True}),
        ("boolean, two buckets", yes, {"boolean": True}),
    ]


def permuted(answers: int, bits: int, hashes: int, cohorts: int, **thresholds: int) -> Any:
    """Return published parameters of rappor's permuted form."""
    return {**rappor("permuted", bits, hashes, cohorts, **thresholds), "answers": answers}


def permuted_questions() -> list[Case]:
    """Questions and values for rappor_permuted.json."""
    ten = {"type": "categories", "values": [f"c{i}" for i in range(10)]}
    usual = question("ten", part("rappor", ten, permuted(10, 4, 1, 12)))
    twice = question("twice", part("rappor", ten, permuted(10, 13, 2, 7)))
    sizes = question("size", part("rappor", SIZES, permuted(6, 4, 2, 5, **SILENT)), send="always")
    return [
        *(("permuted", usual, {"string": f"c{code}"}) for code in (0, 4, 9)),
        *(
            ("two hash functions, more bits than answers", twice, {"string": f"c{i}"})
            for i in (1, 7)
        ),
        ("one-time, bins", sizes, {"number": "50"}),
        ("absent is the last code", sizes, {"absent": True}),
    ]


def epsilon_cases() -> list[tuple[str, dict[str, Any]]]:
    """Integers of which epsilon.json states the epsilon."""
    return [
        ("orr", orr("hashed", 0, 5, 12)),
        ("orr", orr("permuted", 300, 2, 8192, 2**63 + 1)),
        ("orr", orr("hashed", 0, 65536, 1, T - 1)),
        ("pgr", pgr("closed", 13, 3, 3)),
        ("pgr", pgr("hashed", 0, 5, 8, 32, keep=2**63)),
        ("pgr", pgr("closed", 2, 2, 2, keep=T - 1)),
        ("hcms", hcms(0, 5, 256)),
        ("hcms", hcms(6, 1, 2, 2**63 + 1)),
        ("rappor", permuted(10, 4, 2, 12)),
    ]


def bad_parameters() -> dict[str, tuple[str, str | dict[str, Any], str, dict[str, Any]]]:
    """Parameters that a reader refuses: what about them, domain, mechanism, parameters."""
    five = permuted(5, 4, 1, 8)
    return {
        "orr-form": ("bloom is another mechanism's", "strings", "orr", orr("bloom", 0, 4, 8)),
        "orr-hashed-answers": ("hashed has none", "strings", "orr", orr("hashed", 5, 4, 8)),
        "orr-hashed-closed": ("permuted is meant", COLOURS, "orr", orr("hashed", 0, 4, 8)),
        "orr-permuted-answers": ("five names", COLOURS, "orr", orr("permuted", 4, 2, 8)),
        "orr-more-symbols": ("six of five", COLOURS, "orr", orr("permuted", 5, 6, 8)),
        "orr-one-symbol": ("says nothing", "strings", "orr", orr("hashed", 0, 1, 8)),
        "orr-uniform": ("1/4 of four", "strings", "orr", orr("hashed", 0, 4, 8, 2**62)),
        "orr-truthful": ("always the truth", "strings", "orr", orr("hashed", 0, 4, 8, T)),
        "orr-65537-cohorts": ("u16", "strings", "orr", orr("hashed", 0, 4, 65537)),
        "pgr-form": ("open is no form", "strings", "pgr", pgr("open", 0, 3, 3)),
        "pgr-not-prime": ("4 is 2 times 2", COLOURS, "pgr", pgr("closed", 5, 4, 3)),
        "pgr-too-few-points": ("3 for 5 answers", COLOURS, "pgr", pgr("closed", 5, 2, 2)),
        "pgr-too-many-points": ("5^10", COLOURS, "pgr", pgr("closed", 5, 5, 11)),
        "pgr-one-dimension": ("a single point", COLOURS, "pgr", pgr("closed", 5, 7, 1)),
        "pgr-closed-cohorts": ("closed has one", COLOURS, "pgr", pgr("closed", 5, 3, 3, 2)),
        "pgr-closed-strings": ("hashed is meant", "strings", "pgr", pgr("closed", 5, 3, 3)),
        "pgr-hashed-answers": ("hashed has none", "strings", "pgr", pgr("hashed", 5, 3, 3, 4)),
        "pgr-wrong-answers": ("five names", COLOURS, "pgr", pgr("closed", 4, 3, 3)),
        "pgr-uniform": ("4 of 13", COLOURS, "pgr", pgr("closed", 5, 3, 3, keep=T * 4 // 13)),
        "pgr-truthful": ("never outside", COLOURS, "pgr", pgr("closed", 5, 3, 3, keep=T)),
        "hcms-width": ("no power of two", "strings", "hcms", hcms(0, 5, 100)),
        "hcms-one-bucket": ("says nothing", "strings", "hcms", hcms(0, 5, 1)),
        "hcms-too-many-cells": ("2^32", "strings", "hcms", hcms(0, 4096, 2**20)),
        "hcms-no-rows": ("no hash function", "strings", "hcms", hcms(0, 0, 256)),
        "hcms-wrong-answers": ("five names", COLOURS, "hcms", hcms(0, 5, 256)),
        "hcms-uniform": ("a fair coin", "strings", "hcms", hcms(0, 5, 256, 2**63)),
        "hcms-truthful": ("always the truth", "strings", "hcms", hcms(0, 5, 256, T)),
        "permuted-strings": ("bloom is meant", "strings", "rappor", five),
        "permuted-answers": ("five names", COLOURS, "rappor", permuted(6, 4, 1, 8)),
        "permuted-no-answers": ("not said", COLOURS, "rappor", rappor("permuted", 4, 1, 8)),
        "bloom-answers": ("bloom has none", "strings", "rappor", {**five, "form": "bloom"}),
    }


def bad_records() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Records that a collector refuses: what about them, question, hexadecimal record."""
    hashed = question("host", part("orr", "strings", orr("hashed", 0, 5, 12)), repeat="once")
    points = question("host", part("pgr", "strings", pgr("hashed", 0, 3, 3, 12)), repeat="once")
    closed = question("colour", part("pgr", COLOURS, pgr("closed", 5, 3, 3)), repeat="once")
    sketch = question("host", part("hcms", "strings", hcms(0, 5, 256)), repeat="once")
    return {
        "orr-record-cohort": ("cohort 12 of 0..11", hashed, "0c000000"),
        "orr-record-symbol": ("symbol 5 of 0..4", hashed, "00000500"),
        "orr-record-short": ("three bytes of four", hashed, "000000"),
        "pgr-record-cohort": ("cohort 12 of 0..11", points, "0c0000000000"),
        "pgr-record-point": ("point 13 of 0..12", points, "00000d000000"),
        "pgr-record-closed": ("point 13 of 0..12", closed, "0d000000"),
        "pgr-record-with-cohort": ("closed has none", closed, "000000000000"),
        "hcms-record-row": ("row 5 of 0..4", sketch, "05000000000000"),
        "hcms-record-coefficient": ("256 of 0..255", sketch, "00000001000000"),
        "hcms-record-sign": ("sign 2", sketch, "00000000000002"),
    }
