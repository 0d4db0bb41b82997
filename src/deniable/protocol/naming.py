"""Questions of a survey, by the names that people type: id, version, level."""

from __future__ import annotations

from deniable._validate import nearest
from deniable.errors import InvalidParameter
from deniable.protocol.question import Question
from deniable.protocol.survey import Survey


def question_of(
    survey: Survey, question_id: str, version: int | None = None, level: str | None = None
) -> Question:
    """Return a question that a survey asks, or asked earlier, at one of its levels if it has any.

    Raises:
        InvalidParameter: also if it has levels and none of them was named: each is a channel of
            its own.
    """
    return _at_level(survey, known_question(survey, question_id, version), level)


ALL_VERSIONS = "all"


def questions_of(
    survey: Survey, question_id: str, version: str | None = None, level: str | None = None
) -> tuple[Question, ...]:
    """Return what a verb that pools asks about: all levels unless one is named, one version or all.

    Raises:
        InvalidParameter: if there is no such question, version or level.
    """
    if version == ALL_VERSIONS:
        known_question(survey, question_id)
        found = survey.versions(question_id)
    else:
        number = version_number(version)
        found = survey.levels(known_question(survey, question_id, number))
    if level is None:
        return found
    chosen = tuple(question for question in found if question.level == level)
    return chosen or (question_of(survey, question_id, found[-1].version, level),)


def version_number(text: str | None) -> int | None:
    """Return the number of a version; None where none was named.

    Raises:
        InvalidParameter: if it is no number.
    """
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InvalidParameter(f"--version must be a number from 1, or 'all'. Got {text!r:.80}.")
    return int(text)


def known_question(survey: Survey, question_id: str, version: int | None = None) -> Question:
    """Return a question that a survey asks, or asked earlier, at its first level."""
    question = survey.question(question_id, version)
    if question is not None:
        return question
    versions = survey.versions(question_id)
    if versions:
        there = ", ".join(dict.fromkeys(str(q.version) for q in versions))
        raise InvalidParameter(
            f"Question '{question_id}' has no version {version} in this survey. It has: {there}.",
            "If it was published once, read it with the survey.json of that time.",
        )
    names = sorted({q.id for q in survey.known})
    known, guess = ", ".join(names), nearest(question_id, names)
    raise InvalidParameter(f"Unknown question '{question_id:.80}'.{guess} The survey has: {known}.")


def _at_level(survey: Survey, question: Question, level: str | None) -> Question:
    levels = {one.level: one for one in survey.levels(question)}
    if (level or "") in levels:
        return levels[level or ""]
    if not question.level:
        raise InvalidParameter(f"Question '{question.id}' has no levels.", "Leave out --level.")
    raise InvalidParameter(
        f"Question '{question.id}' has levels, each a channel of its own: this takes one of them.",
        f"Name one of them: --level {' or --level '.join(levels)}.",
    )
