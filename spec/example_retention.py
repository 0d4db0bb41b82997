"""Format 2 of the survey: questions that say how long their reports stay."""

from __future__ import annotations

import json
from typing import Any

import reference as ref
import reference_fetched as fetched
from example_fetched import mode, other, page
from example_questions import survey

Cases = list[dict[str, Any]]


def second(*questions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a published survey of format 2."""
    return survey(*questions, **{"deniable": 2, **changes})


def _strict(**changes: Any) -> list[dict[str, Any]]:
    return [mode(1, 5 * 2**61, level="a", **changes), mode(1, 7 * 2**61, level="b", **changes)]


def survey_vectors() -> Cases:
    """Surveys in canonical JSON: how long reports to each question stay, and its digest."""
    some = {
        "a question alone": second(mode(retention_days=30)),
        "the least and the most": second(mode(retention_days=1), page(retention_days=36_525)),
        "shorter than the survey's": second(mode(retention_days=7), page(), retention_days=30),
        "longer than the survey's": second(mode(retention_days=90), page(), retention_days=30),
        "the same as the survey's": second(mode(retention_days=30), retention_days=30),
        "counts of one question stay": second(mode(keep_counts=1), page(), retention_days=30),
        "counts of one question go": second(
            mode(keep_counts=0), page(), retention_days=30, keep_counts=1
        ),
        "an earlier version keeps its own": second(
            mode(2),
            earlier=[mode(retention_days=30, keep_counts=0)],
            retention_days=400,
            keep_counts=1,
        ),
        "counts without a day": second(mode(keep_counts=1), page()),
        "levels": second(*_strict(retention_days=30), page()),
    }
    return [
        {
            "name": name,
            "text": ref.canonical(whole).decode(),
            "kept": [_kept(whole, q) for q in (*whole["questions"], *whole.get("earlier", []))],
        }
        for name, whole in some.items()
    ]


def _kept(whole: dict[str, Any], q: dict[str, Any]) -> dict[str, Any]:
    days, counts = fetched.keeping(whole, q)
    named = {"id": q["id"], "version": q["version"], "digest": ref.digest(q).hex()}
    return {**named, "retention_days": days, "keep_counts": counts}


def fetched_vectors() -> Cases:
    """The survey of an app, one that a server shows, and what is asked then, with a word or not."""
    own = second(mode(retention_days=30), page(), retention_days=60)
    first = survey(mode(), page(), retention_days=60)
    counted = survey(mode(), page(), retention_days=60, keep_counts=1)
    shown = {
        "shorter, of a question": (
            first,
            second(mode(retention_days=7), page(), retention_days=60),
        ),
        "longer, of a question": (
            first,
            second(mode(retention_days=61), page(), retention_days=60),
        ),
        "shorter, of the survey": (first, survey(mode(), page(), retention_days=59)),
        "longer, of the survey": (first, survey(mode(), page(), retention_days=61)),
        "no day any more": (first, survey(mode(), page())),
        "a day at last": (survey(mode(), page()), first),
        "the same in another format": (
            first,
            second(mode(retention_days=60), page(), retention_days=60),
        ),
        "a question's own is taken back": (own, survey(mode(), page(), retention_days=60)),
        "a question's own is kept": (
            own,
            second(mode(retention_days=30), page(), retention_days=40),
        ),
        "counts stay that went": (first, counted),
        "counts go that stayed": (counted, first),
        "counts of a question stay": (
            first,
            second(mode(keep_counts=1), page(), retention_days=60),
        ),
        "shorter, but counts stay": (
            first,
            survey(mode(), page(), retention_days=7, keep_counts=1),
        ),
        "counts stay where all did": (survey(mode(), page()), counted),
        "levels, longer": (
            second(*_strict(retention_days=30), page()),
            second(*_strict(retention_days=31), page()),
        ),
        "a new version, longer": (
            first,
            second(mode(2, retention_days=90), page(), retention_days=60),
        ),
        "a new question": (
            first,
            second(mode(), page(), other(retention_days=9), retention_days=60),
        ),
    }
    return [
        {
            "name": name,
            "app": ref.canonical(app).decode(),
            "shown": ref.canonical(seen).decode(),
            "without": fetched.answered(app, seen, word=False),
            "with": fetched.answered(app, seen, word=True),
        }
        for name, (app, seen) in shown.items()
    ]


def bad_retention() -> dict[str, dict[str, Any]]:
    """Return surveys to refuse, by name."""
    strict, open_ = _strict(retention_days=30)
    some: dict[str, tuple[str, str, dict[str, Any]]] = {
        "survey-retention-in-format-1": (
            "members",
            "a new member is a new format",
            survey(mode(retention_days=30)),
        ),
        "survey-counts-in-format-1": (
            "members",
            "a new member is a new format",
            survey(mode(keep_counts=0)),
        ),
        "survey-format-2-for-nothing": (
            "format",
            "a survey has one spelling",
            second(mode(), retention_days=30),
        ),
        "survey-format-3": (
            "format",
            "a format of the future",
            second(mode(retention_days=30), deniable=3),
        ),
        "survey-question-extra-member": (
            "members",
            "nothing is ignored",
            second(mode(retention_days=30, colour="red")),
        ),
        "survey-retention-zero": ("question", "a day at least", second(mode(retention_days=0))),
        "survey-retention-too-long": (
            "question",
            "a hundred years at most",
            second(mode(retention_days=36_526)),
        ),
        "survey-retention-text": ("question", "an integer", second(mode(retention_days="30"))),
        "survey-counts-two": ("question", "0 or 1", second(mode(keep_counts=2))),
        "survey-counts-boolean": (
            "value",
            "no true in canonical JSON",
            second(mode(keep_counts=True)),
        ),
        "survey-retention-of-a-level": (
            "question",
            "levels share their retention",
            second(strict, {**open_, "retention_days": 31}),
        ),
    }
    return {
        name: {
            "kind": "survey",
            "reason": reason,
            "about": about,
            "input": {"text": json.dumps(whole, sort_keys=True, separators=(",", ":"))},
        }
        for name, (reason, about, whole) in some.items()
    }
