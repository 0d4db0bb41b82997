"""Surveys that a server shows to devices, and what these answer of them."""

from __future__ import annotations

from typing import Any

import reference as ref
import reference_fetched as fetched
from example_questions import field, krr, question, rappor, survey

Cases = list[dict[str, Any]]
KEEP = 3 * 2**62
PLATFORM = {"name": "platform", "values": ["linux", "mac"]}
FEWER = {"name": "platform", "values": ["linux"]}
MORE = {"name": "platform", "values": ["linux", "mac", "windows"]}


def mode(version: int = 1, keep: int = KEEP, **changes: Any) -> dict[str, Any]:
    """Return a question about yes and no, once a week."""
    asked = {"version": version, "epoch": 7, "repeat": "once", **changes}
    answers = 3 if asked.get("send") == "always" else 2
    return question("mode", field("boolean", krr(answers, 2**64, keep)), **asked)


def page(version: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a question about strings, with a permanent response."""
    return question(
        "page", field("strings", rappor("bloom", 128, 2, 16)), version=version, **changes
    )


def other(**changes: Any) -> dict[str, Any]:
    """Return a question that the app does not have."""
    return {**mode(), "id": "other", **changes}


def levels(version: int, *named: tuple[str, int], **changes: Any) -> list[dict[str, Any]]:
    """Return the levels of a question."""
    return [mode(version, keep, level=name, **changes) for name, keep in named]


STRICT, OPEN = ("strict", 5 * 2**61), ("open", 7 * 2**61)
OWN = survey(mode(), page(), ceiling=12_000_000)
LEVELS = survey(*levels(1, STRICT, OPEN), page())
LABELLED = survey(page(segments=["platform"]), segments=[PLATFORM])
TENTH, HALF = str(2**64 // 10), str(2**63)
Shown = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def _less() -> Shown:
    """Surveys that ask for less, or only seem to ask for more."""
    return {
        "the app's own": (OWN, OWN),
        "other texts": (OWN, survey(mode(description="!"), page(), name="x", ceiling=12_000_000)),
        "a question withdrawn": (OWN, survey(page())),
        "a question that is earlier now": (OWN, survey(page(), earlier=[mode()])),
        "a nearer expiry": (OWN, survey(mode(expires="2027-01-31"), page())),
        "a later expiry": (OWN, survey(mode(expires="2099-12-31"), page())),
        "fewer devices": (OWN, survey(mode(asked=TENTH), page())),
        "more devices": (survey(mode(asked=TENTH), page()), survey(mode(asked=HALF), page())),
        "all devices": (survey(mode(asked=TENTH), page()), survey(mode(), page())),
        "a lower ceiling": (OWN, survey(mode(), page(), ceiling=1)),
        "a higher ceiling": (OWN, survey(mode(), page(), ceiling=10**12)),
        "a ceiling where the app has none": (survey(page()), survey(page(), ceiling=15_999_999)),
        "a level withdrawn": (LEVELS, survey(*levels(1, STRICT), page())),
        "levels in another order": (LEVELS, survey(*levels(1, OPEN, STRICT), page())),
        "a label that the app does not give": (
            survey(page()), survey(page(segments=["platform"]), segments=[PLATFORM]),
        ),
    }  # fmt: skip


def _versions() -> Shown:
    """Surveys with versions and questions that the app does not have."""
    daily = survey(page(repeat="permanent"), mode(repeat="permanent"))
    always = survey(mode(send="always"))
    return {
        "a new version": (OWN, survey(mode(2), page())),
        "an older version": (survey(mode(2), page()), survey(mode(), page())),
        "a version that the app had": (survey(mode(2), page(), earlier=[mode()]), survey(mode())),
        "two versions": (OWN, survey(mode(), mode(2), page())),
        "less epsilon": (OWN, survey(mode(2, 5 * 2**61), page())),
        "more epsilon": (OWN, survey(mode(2, KEEP + 2**56), page())),
        "a shorter epoch": (OWN, survey(mode(2, epoch=6), page())),
        "a longer epoch": (OWN, survey(mode(2, epoch=8), page())),
        "once to permanent": (OWN, survey(mode(2, repeat="permanent"), page())),
        "once to epoch": (OWN, survey(mode(2, repeat="epoch"), page())),
        "permanent to epoch": (daily, survey(page(2), mode(2, repeat="epoch"))),
        "permanent to once": (daily, survey(page(2, repeat="once"), mode(2))),
        "always to recorded": (always, survey(mode(2))),
        "still always": (always, survey(mode(2, send="always"))),
        "a later expiry of a new version": (OWN, survey(mode(2, expires="2099-12-31"), page())),
        "more devices of a new version": (survey(mode(asked=TENTH)), survey(mode(2, asked=HALF))),
        "levels where there were none": (OWN, survey(*levels(2, STRICT, OPEN), page())),
        "the same levels": (LEVELS, survey(*levels(2, STRICT, OPEN), page())),
        "the same levels in another order": (LEVELS, survey(*levels(2, OPEN, STRICT), page())),
        "a louder level": (LEVELS, survey(*levels(2, STRICT, ("open", 2**64 - 1)), page())),
        "the same segment": (
            LABELLED, survey(page(2, segments=["platform"]), segments=[PLATFORM]),
        ),
        "fewer values of a segment": (
            LABELLED, survey(page(2, segments=["platform"]), segments=[FEWER]),
        ),
        "more values of a segment": (
            LABELLED, survey(page(2, segments=["platform"]), segments=[MORE]),
        ),
        "no segment any more": (LABELLED, survey(page(2))),
        "a new question": (OWN, survey(mode(), page(), other())),
        "a new question that lasts longer": (OWN, survey(page(), other(expires="2099-12-31"))),
    }  # fmt: skip


def fetched_vectors() -> Cases:
    """The survey of an app, one that a server shows, and what is asked then, with a word or not."""
    return [
        {
            "name": name,
            "app": ref.canonical(app).decode(),
            "shown": ref.canonical(shown).decode(),
            "without": fetched.answered(app, shown, word=False),
            "with": fetched.answered(app, shown, word=True),
        }
        for name, (app, shown) in (_less() | _versions()).items()
    ]
