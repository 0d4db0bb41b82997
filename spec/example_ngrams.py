"""Published questions of the mechanism ngrams for the vectors, and what must be refused of them."""

from __future__ import annotations

from typing import Any

from example_cohorts import part
from example_prefixes import HOST, PAIR, WORDS
from example_questions import Case, question

T = 2**64


def ngrams(length: int, n: int, step: int, grams: int, **other: Any) -> dict[str, Any]:
    """Return published parameters; 13 bits, 2 hashes, 7 cohorts, 1/4 and 3/4 unless said."""
    usual = {
        "length": length,
        "n": n,
        "step": step,
        "grams": grams,
        "bits": 13,
        "hashes": 2,
        "cohorts": 7,
        "whole_one": str(3 * 2**62),
        "whole_zero": str(2**62),
        "gram_one": str(2**63),
        "gram_zero": str(2**61),
    }
    return {**usual, **other}


def ngrams_questions() -> list[Case]:
    """Questions and values for ngrams.json."""
    host = question("host", part("ngrams", HOST, ngrams(12, 2, 2, 2)), repeat="once")
    three = question("three", part("ngrams", HOST, ngrams(12, 5, 3, 3, bits=16)), repeat="once")
    words = question("word", part("ngrams", WORDS, ngrams(5, 2, 1, 2, hashes=1)), send="always")
    pair = question("pair", part("ngrams", PAIR, ngrams(3, 4, 4, 1, cohorts=1, bits=8)))
    kept = question("kept", part("ngrams", PAIR, ngrams(3, 2, 2, 2)), repeat="permanent")
    hosts = ["", "a", "mail.com", "example.org", "longer-than-twelve.net", "abcdef"]
    return [
        *(("side by side", host, {"string": text}) for text in hosts),
        *(("overlapping, the last one longer", three, {"string": t}) for t in ("", "mail.com")),
        *(("escaped, cut off", words, {"string": t}) for t in ("é", "e\u0301xz", "漢字漢字漢字")),
        ("absent", words, {"absent": True}),
        ("one n-gram, longer than strings", pair, {"string": "ab"}),
        *(("permanent", kept, {"string": text}) for text in ("bab", "bab")),
    ]


def ngrams_epsilons() -> list[tuple[str, dict[str, Any]]]:
    """Integers of which epsilon.json states the epsilon."""
    return [
        ("ngrams", ngrams(12, 2, 2, 2)),
        ("ngrams", ngrams(12, 3, 1, 3, hashes=1)),
        ("ngrams", ngrams(3, 4, 4, 1, whole_one=str(T - 1), gram_zero="1")),
    ]


def bad_ngrams() -> dict[str, tuple[str, Any, dict[str, Any]]]:
    """Parameters that a reader refuses: what about them, domain, parameters."""
    good = ngrams(12, 2, 2, 2)
    padded = {**PAIR, "alphabet": "\0ab"}
    return {
        "any-strings": ("no alphabet", {"type": "strings"}, good),
        "other-length": ("13 of 12", HOST, ngrams(13, 2, 2, 2)),
        "padding": ("U+0000 is the padding", padded, ngrams(3, 2, 2, 2)),
        "gap": ("letters between the n-grams", HOST, ngrams(12, 2, 3, 2)),
        "one-gram": ("no pairs", HOST, ngrams(12, 2, 2, 1)),
        "many-grams": ("seven of six places", HOST, ngrams(12, 2, 2, 7)),
        "many-choices": (
            "C(100, 3) choices", {**HOST, "length": 100}, ngrams(100, 1, 1, 3),
        ),
        "one-bit": ("a bit is always set", HOST, {**good, "bits": 1}),
        "uniform": ("says nothing", HOST, {**good, "gram_zero": good["gram_one"]}),
        "truthful": ("a reported 0 would be certain", HOST, {**good, "whole_one": str(T)}),
        "65537-cohorts": ("u16", HOST, {**good, "cohorts": 65537}),
        "threshold-missing": ("no gram_one", HOST, {k: good[k] for k in good if k != "gram_one"}),
    }  # fmt: skip


def bad_ngrams_records() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Records that a collector refuses: what about them, question, hexadecimal record."""
    host = question("host", part("ngrams", HOST, ngrams(12, 2, 2, 2)), repeat="once")
    good, full = "ff1f", "ff3f"
    return {
        "ngrams-record-places": ("choice 15 of 0..14", host, "0f000000" + 3 * good),
        "ngrams-record-cohort": ("cohort 7 of 0..6", host, "00000700" + 3 * good),
        "ngrams-record-padding": ("bit 13 of 0..12", host, "00000000" + good + full + good),
        "ngrams-record-short": ("an n-gram is missing", host, "00000000" + 2 * good),
    }
