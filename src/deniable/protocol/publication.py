"""Publishing a survey after another one: kept versions, refused changes, effects on devices.

Reports outlive the survey that asked for them: devices hold some, collectors have stored others.
So a published survey keeps the contract of everything that it, or one before it, has asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Literal

from deniable.errors import InvalidParameter
from deniable.protocol.composition import first_cost
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen
from deniable.protocol.question import MAX_VERSION, Question
from deniable.protocol.retention import Keeping, keeping_of
from deniable.protocol.survey import MAX_SURVEY_BYTES, Survey, check_history

Key = tuple[str, int]
"""A question's id and version; its levels, where it has any, go together."""
Contracts = Mapping[Key, tuple[Question, ...]]
Kind = Literal["new", "raised", "withdrawn", "again", "edited", "forgotten"]


@frozen
class Change:
    """One change of a publication, and its effect on devices.

    Attributes:
        kind: "new", "raised", "withdrawn", "again" (an earlier one is asked again), "edited"
            (what is in no digest) or "forgotten".
        question: its id. version: the one that the change is about.
        words: the effect on devices that hold the survey from before.
    """

    kind: Kind
    question: str
    version: int
    words: str

    def as_json(self) -> dict[str, object]:
        """Return the change as `deniable publish --json` prints it."""
        return {
            "kind": self.kind,
            "question": self.question,
            "version": self.version,
            "words": self.words,
        }


@frozen
class Publication:
    """A survey that is ready to be written.

    Attributes:
        survey: with its earlier versions.
        changes: against the survey that was published before.
        notes: warnings, about questions whose earlier versions are unknown.
    """

    survey: Survey
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def publication(
    before: Survey | None, ready: Survey, today: date, forget: Collection[Key] = ()
) -> Publication:
    """Return the survey to publish after `before`.

    Guarantees: every question that `before` asked or kept is asked or kept again, unless it is to
    be forgotten; doing it twice changes nothing more.

    Args:
        before: the survey that is published; None if there is none.
        ready: the survey that people wrote, without a history of its own.
        today: expired questions are said to be.
        forget: earlier (id, version) to leave out.

    Raises:
        InvalidParameter: if a version goes backwards, means something else than before or keeps
            its reports for longer; if what is to be forgotten is not earlier; if both together
            are too many or too large.
    """
    known = {} if before is None else _by_key(before.known)
    _check_versions(known, ready)
    asked = {_key(question) for question in ready.questions}
    kept = {key: levels for key, levels in known.items() if key not in asked}
    _check_forgotten(forget, kept, asked)
    earlier = tuple(q for key in sorted(kept.keys() - set(forget)) for q in kept[key])
    earlier = _with_values_of(ready, earlier)
    if before is not None:
        _check_retention(before, ready)
        earlier = tuple(_as_promised(before, ready, q) for q in earlier)
    survey = replace(ready, earlier=earlier)
    check_history(survey.questions, survey.earlier)
    _check_size(survey)
    changes = () if before is None else tuple(_changes(before, survey, today, forget))
    return Publication(survey, changes, tuple(_gaps(survey, set(forget))))


def _key(question: Question) -> Key:
    return question.id, question.version


def _by_key(questions: Collection[Question]) -> dict[Key, tuple[Question, ...]]:
    """Return the levels of each question and version, in their order."""
    keys = dict.fromkeys(_key(question) for question in questions)
    return {key: tuple(q for q in questions if _key(q) == key) for key in keys}


def _with_values_of(ready: Survey, earlier: tuple[Question, ...]) -> tuple[Question, ...]:
    """Return earlier questions with the segments as they are declared now, values added."""
    now = {segment.name: segment for q in ready.questions for segment in q.segments}
    return tuple(
        replace(q, segments=tuple(now.get(s.name, s) for s in q.segments)) if q.segments else q
        for q in earlier
    )


def _check_segments(old: Question, new: Question) -> None:
    """Raise if a version is published with other segments, or with fewer values of one."""
    kept = [segment.name for segment in old.segments] == [segment.name for segment in new.segments]
    pairs = zip(old.segments, new.segments, strict=False)
    if not kept or not all(set(one.values) <= set(two.values) for one, two in pairs):
        raise InvalidParameter(
            f"Question '{new.id}' version {new.version} was published with other segments. Devices "
            "in the field send those; only values may be added.",
            "Raise its version.",
        )


def _check_declared(known: Contracts, ready: Survey) -> None:
    """Raise if a segment that earlier questions name has lost a value."""
    now = {segment.name: set(segment.values) for q in ready.questions for segment in q.segments}
    for question in (q for levels in known.values() for q in levels):
        for segment in question.segments:
            gone = set(segment.values) - now.get(segment.name, set(segment.values))
            if gone:
                raise InvalidParameter(
                    f"Segment '{segment.name}' has lost {', '.join(sorted(gone))}, which devices "
                    f"in the field still send to '{question.id}'.",
                    "Put it back, or declare a segment with another name.",
                )


def _check_retention(before: Survey, ready: Survey) -> None:
    """Raise if reports to a version would stay for longer than people were told."""
    told = {_key(q): keeping_of(before, q) for q in before.known}
    for question in ready.questions:
        promised = told.get(_key(question))
        if promised is not None and keeping_of(ready, question).exceeds(promised):
            counts = " and keep_counts = false" if not promised.counts else ""
            raise InvalidParameter(
                f"Question '{question.id}' version {question.version} was published with a "
                f"shorter retention: {promised.words()} People answered it on that promise.",
                f"Raise its version, or give the question retention_days = {promised.days}"
                f"{counts} of its own.",
            )


def _as_promised(before: Survey, ready: Survey, question: Question) -> Question:
    """Return an earlier question that keeps its retention where the survey's becomes longer."""
    promised, now = keeping_of(before, question), keeping_of(ready, question)
    if not now.exceeds(promised):
        return question
    counts = 0 if now.counts and not promised.counts else question.keep_counts
    longer = replace(now, counts=promised.counts).exceeds(promised)
    days = promised.days if longer else question.retention_days
    return replace(question, retention_days=days, keep_counts=counts)


def _check_versions(known: Contracts, ready: Survey) -> None:
    """Raise unless every question is one that is known, or newer than all that are."""
    newest: dict[str, int] = {}
    for question_id, version in sorted(known):
        newest[question_id] = version
    _check_declared(known, ready)
    for key, levels in _by_key(ready.questions).items():
        question = levels[0]
        last = newest.get(question.id, 0)
        old = known.get(key)
        higher = f"Use version {last + 1}." if last < MAX_VERSION else "Give it another id."
        if old is not None and [q.digest for q in old] != [q.digest for q in levels]:
            raise InvalidParameter(
                f"Question '{question.id}' version {question.version} was published with other "
                "parameters. Clients in the field answer the old one: raise its version.",
                higher,
            )
        if old is not None:
            _check_segments(old[0], question)
        if old is None and question.version < last:
            raise InvalidParameter(
                f"Question '{question.id}' goes backwards: version {last} was published, version "
                f"{question.version} was not. A version is never used again.",
                higher,
            )
    for question in ready.asked:
        last = newest.get(question.id, 0)
        if question.version < last:
            raise InvalidParameter(
                f"Question '{question.id}' goes backwards from version {last} to "
                f"{question.version}. Devices that answered version {last} would be asked twice.",
                f"Ask version {last} as it was published, or a new one: {last + 1}.",
            )


def _check_forgotten(forget: Collection[Key], kept: Contracts, asked: Collection[Key]) -> None:
    for key in forget:
        if key in kept:
            continue
        name = f"{key[0]}:{key[1]}"
        if key in asked:
            raise InvalidParameter(
                f"{name} is asked.", "Take it out of the survey first; only earlier ones go."
            )
        there = ", ".join(f"{i}:{v}" for i, v in sorted(kept)) or "none"
        raise InvalidParameter(f"{name} is no earlier version. There are: {there}.")


def _check_size(survey: Survey) -> None:
    size, alone = len(survey.published()), len(replace(survey, earlier=()).published())
    if size > MAX_SURVEY_BYTES:
        raise InvalidParameter(
            f"The survey would be published as {size:,} bytes, {alone:,} of questions and "
            f"{size - alone:,} of earlier versions; at most {MAX_SURVEY_BYTES:,} are allowed.",
            "Publish with --forget ID:VERSION what nobody reads any more, or split the survey.",
        )


def _changes(
    before: Survey, after: Survey, today: date, forget: Collection[Key]
) -> Iterator[Change]:
    old_asked = {question.id: question for question in _first_levels(before)}
    old_known = _by_key(before.known)
    for question in _first_levels(after):
        old = old_asked.get(question.id)
        if old is None:
            yield _joined(question, old_known)
        elif old.version != question.version:
            yield Change("raised", *_key(question), _raised(old, question, today))
        elif edited := _edited(old, question) + _kept(before, old, after, question):
            yield Change("edited", *_key(question), edited.strip())
    still = {question.id for question in after.asked}
    for question in old_asked.values():
        if question.id not in still:
            yield Change("withdrawn", *_key(question), _withdrawn(question, today))
    for question_id, version in sorted(forget):
        yield Change(
            "forgotten",
            question_id,
            version,
            "its reports are refused from now on, and those in the store cannot be read with this "
            "survey; no retention_days reaches them any more, so delete them: deniable delete "
            f"{question_id} --version {version}. Never use this version again: devices know what "
            "it meant.",
        )


def _first_levels(survey: Survey) -> tuple[Question, ...]:
    """Return what is asked, of each question its first level."""
    return survey.at_level("").asked


def _joined(question: Question, known: Contracts) -> Change:
    if _key(question) in known:
        words = "it is asked again, as it was; devices that answered it once do not answer again."
        return Change("again", *_key(question), words)
    words = "devices that hold the old survey do not know it yet."
    return Change("new", *_key(question), words)


def _raised(old: Question, new: Question, today: date) -> str:
    return (
        f"follows version {old.version}. Devices that hold the old survey go on answering version "
        f"{old.version}; {_admitted(old, today)} Reports of it that wait on a device are still "
        f"sent. Devices with the new survey are asked anew, which costs each of them epsilon "
        f"{first_cost(new) / MICRO:g} besides what it has spent. Read the old reports with "
        f"--version {old.version}."
    )


def _withdrawn(question: Question, today: date) -> str:
    return (
        "is no longer asked. Devices that hold the old survey go on answering it; "
        f"{_admitted(question, today)} Reports that wait on a device are still sent. What was "
        f"collected is read as before."
    )


def _admitted(question: Question, today: date) -> str:
    if question.expires < today:
        return f"it expired on {question.expires}, so that nothing new is admitted."
    return f"their reports are admitted until it expires, on {question.expires}."


def _edited(old: Question, new: Question) -> str:
    """Return a text of the changes outside the digest; empty if there are none."""
    said = []
    if old.expires != new.expires:
        said.append(
            f"expires on {new.expires}, not on {old.expires}: devices that hold the old survey "
            "keep to the old day."
        )
    old_files = [field.candidates for field in old.fields]
    if old_files != [field.candidates for field in new.fields]:
        said.append("other candidates, which devices do not use.")
    if (old.description, old.owner) != (new.description, new.owner):
        said.append("another description or owner.")
    if old.asked != new.asked:
        said.append("another share of devices is asked.")
    if old.segments != new.segments:
        said.append("another value, or other expected shares, of a segment.")
    return " ".join(said)


def _kept(before: Survey, old: Question, after: Survey, new: Question) -> str:
    """Return a text of a shorter retention; empty if it is the same. A longer one is refused."""
    now: Keeping = keeping_of(after, new)
    if now == keeping_of(before, old):
        return ""
    return f" {now.words()} That holds for those collected before, too."


def _gaps(survey: Survey, forget: Collection[Key]) -> Iterator[str]:
    """Yield a warning for every question whose earlier versions must exist and are unknown."""
    forgotten = {question_id for question_id, _ in forget}
    for question in survey.asked:
        if question.version > 1 and len({q.version for q in survey.versions(question.id)}) == 1:
            if question.id in forgotten:
                continue
            yield (
                f"Nothing is known of '{question.id}' before version {question.version}: reports "
                "of earlier versions are refused and cannot be read. If they were published, copy "
                "the survey.json published last to where this one is written, and publish again."
            )
