"""Surveys with earlier versions and a ceiling, and devices' orders of their questions."""

from __future__ import annotations

from typing import Any

import example_segments
import reference as ref
import reference_order as order
from example_bytes import some_bytes
from example_questions import field, krr, question, rappor, survey

Cases = list[dict[str, Any]]
BLOOM = rappor("bloom", 128, 2, 16)


def asked(name: str, version: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a question about strings."""
    return question(name, field("strings", BLOOM), version=version, **changes)


def survey_vectors() -> Cases:
    """Whole surveys in canonical JSON: which questions are asked, which were earlier."""
    yes_no = question("mode", field("boolean", krr(2, 2**64, 3 * 2**62)), repeat="once")
    some = {
        "one question": survey(asked("page")),
        "a ceiling": survey(asked("page"), ceiling=16_000_000),
        "the smallest ceiling": survey(asked("page"), ceiling=1),
        "the largest ceiling": survey(asked("page"), ceiling=10**12),
        "two versions asked for": survey(asked("page", 2), asked("page")),
        "a raised version": survey(asked("page", 2), earlier=[asked("page")]),
        "a withdrawn question": survey(asked("page"), earlier=[yes_no]),
        "a gap, a withdrawn question and a ceiling": survey(
            asked("page", 7), yes_no, ceiling=2_500_000,
            earlier=[asked("links", 3), asked("page", 2), asked("page", 4, expires="2026-01-31")],
        ),
    }  # fmt: skip
    some |= example_segments.surveys()
    return [
        {
            "name": name,
            "text": ref.canonical(whole).decode(),
            "asked": _newest(whole["questions"]),
            "earlier": [[q["id"], q["version"]] for q in whole.get("earlier", [])],
            "ceiling": whole.get("ceiling"),
        }
        for name, whole in some.items()
    ]


def _newest(questions: Cases) -> list[list[Any]]:
    versions: dict[str, int] = {}
    for q in questions:
        versions[q["id"]] = max(q["version"], versions.get(q["id"], 0))
    return [[name, versions[name]] for name in sorted(versions)]


def order_vectors() -> Cases:
    """Secrets and questions with what one value costs: their order, and which are answered."""
    few = [("page", 1, 4_394_450), ("mode", 1, 1_098_613), ("links", 3, 2_000_000)]
    many = [(f"q{i}", 1 + i % 3, 250_000 * (1 + i % 7)) for i in range(24)]
    versions = [("page", 2, 1_000_000), ("page", 1, 1_000_000), ("a.b-c_d", 1, 1_000_000)]
    cases = []
    for label, asked_for, ceiling, spent in (
        ("room for all", few, 16_000_000, 0),
        ("room for some", few, 5_000_000, 0),
        ("some is spent", few, 16_000_000, 12_000_000),
        ("more is spent than a lowered ceiling allows", few, 4_000_000, 4_000_001),
        ("exactly enough", few, 7_493_063, 0),
        ("many questions", many, 6_000_000, 1),
        ("versions stand together", versions, 2_000_000, 0),
    ):
        for device in ("one", "two", "three"):
            cases.append(_order_case(label, device, asked_for, ceiling, spent))
    return cases


def _order_case(
    label: str, device: str, asked_for: list[tuple[str, int, int]], ceiling: int, spent: int
) -> dict[str, Any]:
    secret = some_bytes(f"order {device}")
    questions = [
        {
            "id": name,
            "version": version,
            "micros": micros,
            "digest": some_bytes(f"{name}/{version}").hex(),
        }
        for name, version, micros in asked_for
    ]
    walked = order.ordered(secret, questions)
    held = order.set_aside(walked, ceiling, spent)
    return {
        "name": f"{label}, device {device}",
        "secret": secret.hex(),
        "questions": [
            {
                **q,
                "word": str(order.order_word(secret, q["id"])),
                "mark": order.paid_mark(secret, q).hex(),
            }
            for q in questions
        ],
        "order": [[q["id"], q["version"]] for q in walked],
        "ceiling": ceiling,
        "spent": spent,
        "answered": [[q["id"], q["version"]] for q in held],
    }


def bad_histories() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Surveys whose earlier versions or ceiling no reader takes: reason, about, survey."""
    now, old = asked("page", 2), asked("page")
    return {
        "survey-earlier-empty": ("question", "left out instead", survey(now, earlier=[])),
        "survey-earlier-not-a-list": ("question", "an object", survey(now, earlier={})),
        "survey-earlier-asked-too": (
            "question", "asked and earlier at once", survey(now, earlier=[now])),
        "survey-earlier-twice": (
            "question", "same id and version", survey(now, earlier=[old, old])),
        "survey-earlier-newer": (
            "question", "newer than what is asked", survey(now, earlier=[asked("page", 3)])),
        "survey-earlier-unsorted": (
            "question", "versions fall", survey(asked("page", 3), earlier=[now, old])),
        "survey-earlier-unsorted-ids": (
            "question", "ids fall", survey(now, earlier=[asked("z"), asked("a")])),
        "survey-earlier-bad-question": (
            "question", "earlier ones are read as others", survey(now, earlier=[asked("Page")])),
        "survey-ceiling-zero": ("ceiling", "nothing could be asked", survey(now, ceiling=0)),
        "survey-ceiling-text": ("ceiling", "micros are integers", survey(now, ceiling="16")),
        "survey-ceiling-too-large": (
            "ceiling", "above a million", survey(now, ceiling=10**12 + 1)),
    }  # fmt: skip
