"""Published questions of prefixes for the vectors, and what must be refused of them."""

from __future__ import annotations

from typing import Any

import reference_prefixes as coding
from example_cohorts import part
from example_questions import Case, question
from reference import base64url

T = 2**64
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HOST = {"type": "strings", "alphabet": f"-.{LETTERS}", "length": 12, "outside": "refuse"}
WORDS = {"type": "strings", "alphabet": "abcé漢", "length": 5, "outside": "escape"}
PAIR = {"type": "strings", "alphabet": "ab", "length": 3, "outside": "refuse"}

SMALL: coding.Contexts = {
    (): {0: 9, 1: 3, 2: 1},
    (3,): {0: 200, 1: 55},
    (0,): {1: 1},
    (3, 0): {0: 1, 1: 255, 2: 7},
}
ESCAPED: coding.Contexts = {(): {0: 5, 5: 2, 6: 3}, (7, 0): {1: 40, 2: 2}}


def models() -> dict[str, tuple[bytes, int]]:
    """Models by name, each with the most letters of a string."""
    many = "".join(chr(0x4E00 + i) for i in range(300))
    return {
        "two letters": (coding.write_model("ab", 7, SMALL), 3),
        "no contexts": (coding.write_model("ab", 1, {}), 4),
        "escapes and letters of several bytes": (
            coding.write_model("abcé漢\ufffd", 9, ESCAPED), 5,
        ),
        "symbols of two bytes": (coding.write_model(many, 40, {(301,): {5: 9, 300: 1}}), 2),
    }  # fmt: skip


def coding_vectors() -> list[dict[str, Any]]:
    """Models, frequencies and codes."""
    texts = {
        "two letters": ["", "a", "b", "ab", "ba", "aba", "bbb"],
        "no contexts": ["", "a", "bbbb", "abab"],
        "escapes and letters of several bytes": ["", "aé", "漢漢漢漢漢", "\ufffd\ufffd", "abcab"],
        "symbols of two bytes": ["", "一", "丄丅", "亿"],
    }
    cases = []
    for name, (data, length) in models().items():
        letters, contexts = coding.read_model(data)
        codes = [(text, *coding.code_of(data, length, text)) for text in texts[name]]
        cases.append(
            {
                "name": name,
                "model": data.hex(),
                "letters": letters,
                "length": length,
                "frequencies": [
                    {"before": before, "values": coding.frequencies(letters, contexts, before)[:8]}
                    for before in ([], [0], [1], [0, 0], [1, 0])
                ],
                "codes": [{"text": t, "number": str(m), "digits": k} for t, m, k in codes],
            }
        )
    return cases


def prefixes(lengths: list[int], length: int, model: bytes = b"", **other: Any) -> dict[str, Any]:
    """Return published parameters; groups of weight 3, 4, ..., keep = 3/4 unless said."""
    usual = {
        "length": length,
        "lengths": lengths,
        "weights": [3 + place for place in range(len(lengths) + 1)],
        "model": base64url(model),
        "prime": 5,
        "dimension": 3,
        "cohorts": 4,
        "keep": str(3 * 2**62),
    }
    return {**usual, **other}


def prefixes_questions() -> list[Case]:
    """Questions and values for prefixes.json."""
    host = question("host", part("prefixes", HOST, prefixes([4, 6, 8, 12], 12)), repeat="once")
    words = question("word", part("prefixes", WORDS, prefixes([2, 5], 5)), send="always")
    small, escaped = models()["two letters"][0], models()["escapes and letters of several bytes"][0]
    pair = question("pair", part("prefixes", PAIR, prefixes([2, 5, 9], 3, small)), repeat="once")
    coded = question("coded", part("prefixes", WORDS, prefixes([16, 24], 5, escaped, prime=2)))
    hosts = ["", "a", "mail.com", "example.org", "longer-than-twelve.net", "abcd", "abcdef"]
    return [
        *(("characters", host, {"string": text}) for text in hosts),
        ("a second device", host, {"string": "mail.com"}),
        *(("escaped, cut off", words, {"string": t}) for t in ("é", "e\u0301xz", "漢字漢字漢字")),
        ("absent", words, {"absent": True}),
        *(("coded", pair, {"string": text}) for text in ("", "a", "ab", "bab", "bbb")),
        *(("coded, escaped", coded, {"string": t}) for t in ("zoo", "abcab", "é漢")),
    ]


def prefixes_epsilons() -> list[tuple[str, dict[str, Any]]]:
    """Integers of which epsilon.json states the epsilon."""
    return [
        ("prefixes", prefixes([4, 12], 12)),
        ("prefixes", prefixes([8], 3, models()["two letters"][0], prime=2, keep=str(T - 1))),
    ]


def bad_prefixes() -> dict[str, tuple[str, str, Any, dict[str, Any]]]:
    """Surveys that a reader refuses: reason, what about them, domain, parameters."""
    good, small = prefixes([4, 12], 12), models()["two letters"][0]
    other = prefixes([4, 12], 12, small)
    twice = coding.write_model("ab", 7, SMALL)[:-1] + b"\x00"
    return {
        "any-strings": ("parameters", "no alphabet", {"type": "strings"}, good),
        "other-length": ("parameters", "13 of 12", HOST, prefixes([4, 13], 13)),
        "too-short": ("parameters", "levels end before strings do", HOST, prefixes([4, 8], 12)),
        "falling": ("parameters", "lengths must rise", HOST, prefixes([6, 4, 12], 12)),
        "no-levels": ("parameters", "nothing to grow", HOST, prefixes([], 12)),
        "weights": ("parameters", "none for verification", HOST, {**good, "weights": [1, 1]}),
        "weight-zero": ("parameters", "a group of nobody", HOST, {**good, "weights": [1, 0, 1]}),
        "uniform": ("parameters", "6 of 31", HOST, {**good, "keep": str(T * 6 // 31)}),
        "truthful": ("parameters", "never outside", HOST, {**good, "keep": str(T)}),
        "not-prime": ("parameters", "4 is 2 times 2", HOST, {**good, "prime": 4}),
        "65537-cohorts": ("parameters", "u16", HOST, {**good, "cohorts": 65537}),
        "other-alphabet": ("parameters", "the model has two letters", HOST, other),
        "model-cut": ("parameters", "the last byte is missing", PAIR, prefixes([4], 3, small[:-1])),
        "model-longer": ("parameters", "a byte too many", PAIR, prefixes([4], 3, small + b"x")),
        "model-zero": ("parameters", "a count of 0", PAIR, prefixes([4], 3, twice)),
        "model-padded": ("parameters", "padded", PAIR, {**prefixes([4], 3), "model": "AA=="}),
        "alphabet-falling": ("domain", "b before a", {**PAIR, "alphabet": "ba"}, prefixes([3], 3)),
        "alphabet-one": ("domain", "one letter", {**PAIR, "alphabet": "a"}, prefixes([3], 3)),
        "alphabet-not-nfc": ("domain", "U+212B", {**PAIR, "alphabet": "a\u212b"}, prefixes([3], 3)),
        "length-zero": ("domain", "no letters", {**PAIR, "length": 0}, prefixes([3], 3)),
        "outside": ("domain", "neither", {**PAIR, "outside": "drop"}, prefixes([3], 3)),
        "escape-inside": (
            "domain", "U+FFFD is the escape",
            {**PAIR, "alphabet": "a\ufffd", "outside": "escape"}, prefixes([3], 3),
        ),
    }  # fmt: skip


def bad_prefixes_records() -> dict[str, tuple[str, dict[str, Any], str]]:
    """Records that a collector refuses: what about them, question, hexadecimal record."""
    host = question("host", part("prefixes", HOST, prefixes([4, 12], 12)), repeat="once")
    return {
        "prefixes-record-group": ("group 3 of 0..2", host, "03000000000000"),
        "prefixes-record-cohort": ("cohort 4 of 0..3", host, "00040000000000"),
        "prefixes-record-point": ("point 31 of 0..30", host, "0000001f000000"),
        "prefixes-record-short": ("six bytes of seven", host, "000000000000"),
    }


def bad_prefixes_answers() -> dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Values that are refused: reason, what about them, question, value."""
    host = question("host", part("prefixes", HOST, prefixes([4, 12], 12)), repeat="once")
    return {
        "answer-outside-alphabet": ("alphabet", "an underscore", host, {"string": "a_b"}),
        "answer-alphabet-case": ("alphabet", "a capital", host, {"string": "Example.org"}),
    }
