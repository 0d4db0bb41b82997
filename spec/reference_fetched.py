"""What a device answers of a fetched survey: section 11 of protocol.md, the slow reference.

Standard library only, and nothing of the package: see reference.py.
"""

from __future__ import annotations

import math
from typing import Any

import reference as ref
from reference_epsilon import micros_of, ratios

Published = dict[str, Any]
USUAL_CEILING = 16_000_000


def answered(app: Published, shown: Published, word: bool) -> Published:
    """Return what is asked, and the ceiling, of a device whose app bundles one and sees another.

    `word` is the app's word for the fetched survey.
    """
    found: dict[str, list[Published]] = {}
    for name, levels in _newest(app["questions"]).items():
        same = [_with_digest(shown, ref.digest(each)) for each in levels]
        if None not in same and (word or not _stays_longer(app, shown, levels[0], same[0])):
            pairs = zip(levels, same, strict=True)
            found[name] = [_less(own, own, other) for own, other in pairs if other is not None]
    if word:
        for name, levels in _newest(shown["questions"]).items():
            new = _taken(app, shown, levels)
            if new:
                found[name] = new
    own = app.get("ceiling", USUAL_CEILING)
    return {
        "asked": [_told(each) for name in sorted(found) for each in found[name]],
        "ceiling": min(own, shown.get("ceiling", own)),
    }


def keeping(survey: Published, question: Published) -> tuple[int | None, bool]:
    """Return after how many days reports to a question go, if ever, and whether counts stay."""
    days = question.get("retention_days", survey.get("retention_days"))
    return days, days is not None and question.get("keep_counts", survey.get("keep_counts")) == 1


def _stays_longer(
    app: Published, shown: Published, own: Published, other: Published | None
) -> bool:
    """Tell whether reports, or counts of them, stay for longer than the app's survey says."""
    (before, counted), (after, counts) = keeping(app, own), keeping(shown, other or {})
    return before is not None and (after is None or after > before or (counts and not counted))


def _told(question: Published) -> list[Any]:
    names = ("id", "version", "level", "expires", "asked")
    return [question.get(name) for name in names]


def _newest(questions: list[Published]) -> dict[str, list[Published]]:
    """Return the levels of the newest version of each id."""
    found: dict[str, list[Published]] = {}
    for each in questions:
        others = [q["version"] for q in questions if q["id"] == each["id"]]
        if each["version"] == max(others):
            found.setdefault(each["id"], []).append(each)
    return found


def _with_digest(survey: Published, digest: bytes) -> Published | None:
    for each in survey["questions"]:
        if ref.digest(each) == digest:
            return dict(each)
    return None


def _less(question: Published, one: Published, other: Published) -> Published:
    """Return a question with the lower expiry and the lower share of two."""
    less = {**question, "expires": min(one["expires"], other["expires"])}
    shares = [int(each["asked"]) for each in (one, other) if "asked" in each]
    less.pop("asked", None)
    return {**less, "asked": str(min(shares))} if shares else less


def _taken(app: Published, shown: Published, levels: list[Published]) -> list[Published]:
    """Return a version that the app did not bundle as it is asked; empty if it may not be."""
    known = [*app["questions"], *app.get("earlier", [])]
    mine = _newest([each for each in known if each["id"] == levels[0]["id"]])
    if not mine:
        last = max(each["expires"] for each in known)
        return [{**each, "expires": min(each["expires"], last)} for each in levels]
    (own,) = mine.values()
    newer = levels[0]["version"] > own[0]["version"]
    alike = [each.get("level") for each in own] == [each.get("level") for each in levels]
    if not newer or not alike:
        return []
    pairs = list(zip(own, levels, strict=True))
    if any(_asks_more(old, new) for old, new in pairs):
        return []
    clear = _labels(app, own[0])
    if any(
        not label <= clear.get(name, set()) for name, label in _labels(shown, levels[0]).items()
    ):
        return []
    return [_less(new, old, new) for old, new in pairs]


def _asks_more(old: Published, new: Published) -> bool:
    often = ["once", "permanent", "epoch"]
    return (
        any(after > before for before, after in zip(_costs(old), _costs(new), strict=True))
        or new["epoch"] < old["epoch"]
        or often.index(new["repeat"]) > often.index(old["repeat"])
        or (old["send"] == "always" and new["send"] != "always")
    )


def _labels(survey: Published, question: Published) -> dict[str, set[str]]:
    """Return the values of each segment that a question names."""
    named = question.get("segments", [])
    declared = survey.get("segments", [])
    return {each["name"]: set(each["values"]) for each in declared if each["name"] in named}


def _costs(question: Published) -> tuple[float, float, float]:
    """Return the micros of one report, of a first value, and of one value for ever."""
    once, first, forever = 0.0, 0.0, 0.0
    for field in question["fields"]:
        one, all_ = ratios(field["mechanism"], field["parameters"])
        fresh = micros_of(one)
        kept = fresh if question["repeat"] != "epoch" else _kept(all_)
        once, forever = once + fresh, forever + kept
        first += fresh if kept == math.inf else kept
    return once, first, forever


def _kept(ratio: Any) -> float:
    return math.inf if ratio is None else float(micros_of(ratio))
