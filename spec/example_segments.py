"""Segments, levels and the coin of who is asked: surveys, combinations, refusals."""

from __future__ import annotations

import hashlib
from itertools import product
from typing import Any

import reference as ref
from example_bytes import some_bytes
from example_questions import field, krr, question, rappor, survey

Cases = list[dict[str, Any]]
BLOOM = rappor("bloom", 128, 2, 16)
CHANNEL = {"name": "channel", "values": ["beta"]}
PLATFORM = {"name": "platform", "values": ["linux", "mac", "Windows 11"]}
SHARED = {**PLATFORM, "shares": [200_000, 300_000, 400_000]}
EACH = ["platform", "channel"]


def asked(name: str = "page", **changes: Any) -> dict[str, Any]:
    """Return a question about strings."""
    return question(name, field("strings", BLOOM), **changes)


def level(name: str, keep: int, **changes: Any) -> dict[str, Any]:
    """Return a level of a question about yes and no."""
    return question("mode", field("boolean", krr(2, 2**64, keep)), level=name, **changes)


STRICT, OPEN = level("strict", 5 * 2**61), level("open", 7 * 2**61)


def surveys() -> dict[str, dict[str, Any]]:
    """Return whole surveys by name."""
    shared = [{**STRICT, "share": 250_000}, {**OPEN, "share": 750_000}]
    return {
        "segments": survey(asked(segments=EACH), segments=[CHANNEL, PLATFORM]),
        "segments with shares": survey(asked(segments=["platform"]), segments=[SHARED]),
        "a segment of an earlier question": survey(
            asked(version=2), earlier=[asked(segments=["channel"])], segments=[CHANNEL]
        ),
        "levels": survey(STRICT, OPEN, asked()),
        "levels with shares and segments": survey(
            *({**each, "segments": ["platform"]} for each in shared), segments=[SHARED]
        ),
        "some devices only": survey(asked(asked=str(2**64 // 10)), asked("all")),
        "numbers": survey(asked(), people=10**10, floor=1, retention_days=36_525, keep_counts=1),
    }


def _numbering(segments: Cases) -> str:
    told = ref.canonical([[one["name"], one["values"]] for one in segments])
    return hashlib.sha256(b"deniable/v1/segments\n" + told).hexdigest()[:8]


def segment_vectors() -> Cases:
    """Segments, what an app says of a device, and the text and number of its combination."""
    cases: Cases = []
    for segments in ([CHANNEL], [PLATFORM], [PLATFORM, CHANNEL], [CHANNEL, PLATFORM]):
        labels = [[*one["values"], "(other)"] for one in segments]
        names = [one["name"] for one in segments]
        texts = [
            ref.canonical(dict(zip(names, values, strict=True))).decode()
            for values in product(*labels)
        ]
        for told in (
            {},
            {"platform": "mac"},
            {"platform": "Mac", "channel": "beta"},
            {"channel": "beta", "platform": "Windows 11", "country": "NL"},
            {"channel": "(small)", "platform": "(other)"},
        ):
            own = {
                one["name"]: value
                if (value := told.get(one["name"])) in one["values"]
                else "(other)"
                for one in segments
            }
            text = ref.canonical(own).decode()
            case = {"segments": segments, "told": told, "text": text, "number": texts.index(text)}
            cases.append({**case, "combinations": texts, "numbering": _numbering(segments)})
    return cases


def asked_vectors() -> Cases:
    """Secrets, ids and thresholds: whether the device is asked."""
    cases = []
    for device in ("one", "two", "three", "four"):
        secret = some_bytes(f"asked {device}")
        for name in ("page", "mode"):
            for threshold in (1, 2**64 // 10, 2**63, 2**64 - 1):
                stream = ref.words(ref.derive(secret, b"asked", name.encode()))
                case = {"secret": secret.hex(), "id": name, "asked": str(threshold)}
                cases.append({**case, "result": ref.coin(stream, threshold)})
    return cases


def bad_segments() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return surveys to refuse: a reason, what is wrong, and the survey."""

    def with_segment(**changes: Any) -> dict[str, Any]:
        return survey(asked(segments=["channel"]), segments=[{**CHANNEL, **changes}])

    wide = {"name": "wide", "values": [f"v{i}" for i in range(32)]}
    two = [{**STRICT, "segments": ["wide"]}, {**OPEN, "segments": ["wide"]}]
    return {
        "survey-segments-empty": ("segments", "an empty list", survey(asked(), segments=[])),
        "survey-segments-unsorted": (
            "segments", "sorted by name", survey(asked(segments=EACH), segments=[PLATFORM, CHANNEL])
        ),
        "survey-segment-unused": (
            "segments", "no question names it", survey(asked(), segments=[CHANNEL])
        ),
        "survey-segment-undeclared": (
            "segments", "the survey does not declare it", survey(asked(segments=["channel"]))
        ),
        "survey-segment-twice": (
            "segments", "named twice",
            survey(asked(segments=["channel", "channel"]), segments=[CHANNEL]),
        ),
        "survey-segment-other": ("segments", "a reserved value", with_segment(values=["(other)"])),
        "survey-segment-quote": ("segments", "a quotation mark", with_segment(values=['"'])),
        "survey-segment-same-values": (
            "segments", "the same value twice", with_segment(values=["a", "a"])
        ),
        "survey-segment-shares": ("segments", "more than all", with_segment(shares=[1_000_001])),
        "survey-combinations-65": (
            "segments", "33 values of 2 levels are 66", survey(*two, segments=[wide])
        ),
        "survey-level-twice": ("question", "the same level twice", survey(STRICT, STRICT)),
        "survey-level-missing": (
            "question", "one of two has no level",
            survey(STRICT, {name: OPEN[name] for name in OPEN if name != "level"}),
        ),
        "survey-level-epochs": (
            "question", "levels share their epoch", survey(STRICT, {**OPEN, "epoch": 7})
        ),
        "survey-level-shares": (
            "question", "shares that do not add up",
            survey({**STRICT, "share": 1}, {**OPEN, "share": 2}),
        ),
        "survey-level-upper-case": (
            "question", "names are lower-case", survey(level("Open", 7 * 2**61))
        ),
        "survey-asked-nobody": ("question", "nobody is asked", survey(asked(asked="0"))),
        "survey-asked-all": ("question", "left out if all are", survey(asked(asked=str(2**64)))),
        "survey-floor-zero": ("number", "a floor begins at 1", survey(asked(), floor=0)),
        "survey-keep-counts-two": ("number", "1 or left out", survey(asked(), keep_counts=2)),
    }  # fmt: skip


def bad_report_segments() -> dict[str, Any]:
    """Return `segments` of reports to refuse, by what is wrong with them."""
    return {
        "report-segments-empty": {},
        "report-segments-four": {"a": "x", "b": "x", "c": "x", "d": "x"},
        "report-segments-small": {"channel": "(small)"},
        "report-segments-quote": {"channel": 'be"ta'},
        "report-segments-name": {"Channel": "beta"},
        "report-segments-list": ["beta"],
        "report-segments-number": {"channel": 1},
    }
