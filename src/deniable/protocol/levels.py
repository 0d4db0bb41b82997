"""Levels: a question's epsilons; each person chooses one level for all questions.

Each level is a question with a contract, a digest and permanent draws of its own. The choice is
never a function of a value; it travels in clear, since the digest tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import thresholds
from deniable.protocol.composition import first_cost
from deniable.protocol.question import FIELD_NAME, MAX_RETENTION_DAYS, WHOLE, Question
from deniable.protocol.segments import Segment, check_combinations, chosen_segments


def read_perhaps(data: Mapping[str, object], declared: Sequence[Segment]) -> dict[str, Any]:
    """Return the optional members of a question of survey.json, by `Question`'s attributes.

    Raises:
        InvalidParameter: if one is not as a survey is published.
    """
    read: dict[str, Any] = {}
    if "level" in data:
        read["level"] = level = data["level"]
        if not (isinstance(level, str) and FIELD_NAME.fullmatch(level)):
            raise InvalidParameter(f"'level' must match {FIELD_NAME.pattern}.")
    if "share" in data:
        read["share"] = _validate.integer("share", "a question", data["share"], 1, WHOLE)
    if "segments" in data:
        read["segments"] = chosen_segments(data["segments"], declared)
    if "asked" in data:
        read["asked"] = threshold = thresholds.from_text("asked", data["asked"])
        if not 0 < threshold < thresholds.ONE:
            raise InvalidParameter(
                "'asked' must be above 0, and left out if all devices are asked."
            )
    for name, least, most in (("retention_days", 1, MAX_RETENTION_DAYS), ("keep_counts", 0, 1)):
        if name in data:
            read[name] = _validate.integer(name, "a question", data[name], least, most)
    return read


def check_all_levels(*lists: Sequence[Question]) -> None:
    """Check the levels and the segments of every question that has some, list by list."""
    for questions in lists:
        special = {(q.id, q.version) for q in questions if q.level or q.share or q.segments}
        for key in sorted(special):
            check_levels([q for q in questions if (q.id, q.version) == key])


def check_levels(levels: Sequence[Question]) -> None:
    """Check the questions of one id and version: its levels, or the one that it is.

    Raises:
        InvalidParameter: unless they differ in level, share and parameters alone.
    """
    check_combinations(levels[0].segments, len(levels))
    if len(levels) > 1 and not all(question.level for question in levels):
        raise InvalidParameter("Two questions of one id and version must both have a 'level'.")
    if len({_shared(question) for question in levels}) > 1:
        raise InvalidParameter(
            "Two levels of a question must differ in level, share, mechanism and parameters alone."
        )
    shares = [question.share for question in levels]
    if any(shares) and not (all(shares) and sum(shares) == WHOLE):
        raise InvalidParameter(
            f"The 'share' of a question's levels must stand at each and add up to {WHOLE:,}."
        )
    if levels[0].share and not levels[0].level:
        raise InvalidParameter("The 'share' of a question needs a 'level'.")


def _shared(question: Question) -> tuple[object, ...]:
    fields = tuple((field.name, field.domain, field.candidates) for field in question.fields)
    return replace(question, level="", share=0, fields=()), fields


def at_level(questions: Iterable[Question], choice: str | None) -> tuple[Question, ...]:
    """Return the questions that a person with this choice is asked, one for each id and version.

    None is a person who always chose the level that discloses the most.

    Without a choice, the empty one, it is the first level listed. A question that offers levels
    but not the chosen one is left out; a question without levels is the same for all.
    """
    if choice is None:
        return _costliest(questions)
    found: dict[tuple[str, int], Question] = {}
    for question in questions:
        key = (question.id, question.version)
        if question.level in ("", choice) or (not choice and key not in found):
            found[key] = question
    return tuple(found.values())


def _costliest(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return the level with the largest epsilon of each question: the most that a person tells."""
    found: dict[tuple[str, int], Question] = {}
    for question in questions:
        key = (question.id, question.version)
        if key not in found or first_cost(question) > first_cost(found[key]):
            found[key] = question
    return tuple(found.values())


def check_choice(questions: Iterable[Question], choice: str) -> str:
    """Return a person's choice if some question offers it.

    Raises:
        InvalidParameter: if none does: every question with levels would fall silent.
    """
    names = level_names(questions)
    if choice not in names:
        offered = ", ".join(names) or "none"
        raise InvalidParameter(f"The level must be one that the survey offers: {offered}.")
    return choice


def level_names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return the names of the levels that questions offer, in their order, each once."""
    return tuple(dict.fromkeys(question.level for question in questions if question.level))
