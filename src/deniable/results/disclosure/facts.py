"""The facts about a survey for the people who are asked, as sections of sentences."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Field,
    Numbers,
    Profile,
    Question,
    Sets,
    StringSets,
    Survey,
)
from deniable.protocol.composition import device_cost, reports_within, survey_cost
from deniable.protocol.epsilon import as_float
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.profile_domain import Perhaps
from deniable.protocol.question import PLAIN_FIELD
from deniable.results.disclosure.in_clear import public_sentences
from deniable.results.disclosure.odds import EXAMPLES, believed, in_parts, sentence
from deniable.results.disclosure.randomised import how

_YEAR = 365
_NAMED = 12
"""The number of answers that are named: the first ones of a longer list."""


_IN_A_PAGE = (
    "The limit of your device, and the chance that is kept for your answers, last as long as your "
    "browser keeps the page's data. You or the browser may clear them; then you count as a new "
    "device. A page may wait until the browser promises to keep them; where it does not "
    "(storage: “best-effort”), it has to tell you.",
    "A page cannot keep the collector's network from seeing your browser's version and languages "
    "(User-Agent, Accept-Language), or from recognising a connection that your browser shares with "
    "other pages or takes up again (TLS). It sends no cookie, and not which page you were on.",
    "If your browser asks not to be tracked (Global Privacy Control, Do Not Track), that is a no, "
    "until you say yes knowing of it.",
)
"""A survey does not know where it is answered, so that every page says this."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, as separate thoughts."""

    heading: str
    points: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """One question for the people who are asked.

    Attributes:
        id, version, level: those of the question. title: its description.
        sections: what is collected, how it is randomised, what anyone could learn.
        numbers: the same as numbers: epsilons, and beliefs before and after.
    """

    id: str
    version: int
    level: str
    title: str
    sections: tuple[Section, ...]
    numbers: dict[str, object]


@dataclass(frozen=True)
class Disclosure:
    """A survey for the people who are asked."""

    title: str
    introduction: tuple[str, ...]
    questions: tuple[Asked, ...]
    closing: tuple[Section, ...]
    numbers: dict[str, object]

    def as_json(self) -> dict[str, object]:
        """Return the whole page as data."""
        return {
            "title": self.title,
            "introduction": list(self.introduction),
            "questions": [
                {
                    "id": asked.id,
                    "version": asked.version,
                    "level": asked.level,
                    "title": asked.title,
                    **asked.numbers,
                    "sections": [_json(section) for section in asked.sections],
                }
                for asked in self.questions
            ],
            "closing": [_json(section) for section in self.closing],
            **self.numbers,
        }


def disclose(survey: Survey) -> Disclosure:
    """Say in plain words what a survey asks, and what answering could tell anybody."""
    year = survey_cost(survey.costliest().questions, _YEAR)
    levels = any(question.level for question in survey.questions)
    return Disclosure(
        title=f"What {survey.name} asks, and what it cannot know",
        introduction=(
            f"{survey.owner} would like to know how people use {survey.name}, without knowing "
            "what you yourself do.",
            "Before an answer leaves your device, chance changes it. Many answers together still "
            "show what is common; a single one may always have been chance, so that nobody can "
            "hold it against you.",
            "Nothing is collected without your consent, and you can withdraw it at any time.",
        ),
        questions=tuple(_asked(question, levels) for question in survey.questions),
        closing=_closing(year, survey),
        numbers={"survey": survey.name, "owner": survey.owner, "epsilon_of_a_year": as_float(year)},
    )


def _asked(question: Question, levels: bool) -> Asked:
    forever = question.epsilon_forever
    level = f" (level “{question.level}”)" if question.level else ""
    clear = public_sentences(question, levels)
    visible = (Section("What everybody on the way can see", tuple(clear)),) if clear else ()
    return Asked(
        id=question.id,
        version=question.version,
        level=question.level,
        title=f"{question.description or question.id}{level}",
        sections=(
            Section("What is collected", (*_collected(question), *_when(question))),
            *visible,
            Section("How your answer is changed", tuple(_how(question))),
            Section("What anyone could learn about you", tuple(_learned(question))),
        ),
        numbers={
            "epsilon": as_float(question.epsilon_once),
            "epsilon_forever": None if forever is None else as_float(forever),
            "beliefs": [
                {
                    "before": in_parts(before),
                    "after_one_report": in_parts(believed(question.epsilon_once, before)),
                    "for_ever": None if forever is None else in_parts(believed(forever, before)),
                }
                for before in EXAMPLES
            ],
        },
    )


def _collected(question: Question) -> list[str]:
    return [point for field in question.fields for point in _what(field)]


def _what(field: Field) -> list[str]:
    """Return what is collected: a point per field, or one per attribute of a profile."""
    domain = field.domain
    if isinstance(domain, Profile):
        first = (
            f"{len(domain.attributes)} answers together, of which one report is made. It has one "
            "limit for all of them, so that none is protected less than said here."
        )
        return [first, *(f"{name}: {_kind(each)}" for name, each in domain.attributes)]
    name = "" if field.name == PLAIN_FIELD else f"{field.name}: "
    return [f"{name}{_kind(domain)}"]


def _kind(domain: Domain) -> str:
    if isinstance(domain, Perhaps):
        return f"{_kind(domain.known)} Or that your device does not know."
    if isinstance(domain, Boolean):
        return "Yes or no."
    if isinstance(domain, Categories):
        return f"One of {len(domain.values):,} answers: {_list(domain.values)}."
    if isinstance(domain, Sets):
        names = f"{len(domain.values):,} names: {_list(domain.values)}"
        return f"Up to {domain.most:,} of {names}."
    if isinstance(domain, StringSets):
        return (
            f"Up to {domain.most:,} texts. One of them, drawn by lot, leaves your device, and only "
            "as a code that many texts share."
        )
    if isinstance(domain, Numbers):
        return f"A number, and of it only its range: {_list(domain.labels)}."
    return "A text. It leaves your device only as a code that many texts share."


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"


def _when(question: Question) -> list[str]:
    days = "a day" if question.epoch == 1 else f"{question.epoch:,} days"
    often = "once, ever" if question.repeat == "once" else f"at most once in {days}"
    times = [f"{question.owner} asks until {question.expires}. Your device answers {often}."]
    if question.absent:
        return [
            *times,
            "Every device sends something in every period, also where there is nothing to say, so "
            "that sending tells nothing.",
        ]
    return [*times, "That your device sent a report at all can be seen."]


def _how(question: Question) -> list[str]:
    sentences = []
    for field in question.fields:
        name = "" if question.plain else f"{field.name}: "
        sentences.append(name + " ".join(how(field)))
    more = ", and of yourself what stands above" if question.segments or question.level else ""
    sentences.append(
        f"What leaves is {_bytes(question.record_size)}, the same number for everybody, with a "
        "random number that marks this report alone. No name or address goes with it, and of the "
        f"time only the period in which you answered{more}."
    )
    return sentences


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


def _learned(question: Question) -> list[str]:
    half, rare = EXAMPLES
    once = question.epsilon_once
    points = [f"From one report: {sentence(once, half)} about your answer; {sentence(once, rare)}."]
    points.extend(_over_time(question))
    cohorts = max(cohorts_of(field.parameters) for field in question.fields)
    if cohorts > 1:
        points.append(
            f"A report also shows to which of {cohorts:,} groups your device belongs for this "
            "question. The group was drawn by lot and is never used for another question."
        )
    return points


def _over_time(question: Question) -> list[str]:
    half, rare = EXAMPLES
    forever = question.epsilon_forever
    if question.repeat == "once":
        return [
            "There is no second report, so that this is also all that can be learned for ever. (A "
            "new version of the question would count anew.)"
        ]
    again = "Each time that your true answer changes to a new one, as much again can be learned."
    if forever is not None:
        same = (
            ["Reports of an unchanged answer are identical and can be linked to each other."]
            if question.repeat == "permanent"
            else []
        )
        return [
            f"From all reports of one answer together, for ever: {sentence(forever, half)}; "
            f"{sentence(forever, rare)}.",
            again,
            *same,
        ]
    reports = reports_within(question, _YEAR)
    year = device_cost(question, reports)
    return [
        f"Every report adds to this. From the {reports:,} reports of a year: "
        f"{sentence(year, half)}. Your device stops at a limit of its own."
    ]


def _kept(survey: Survey) -> Section:
    """How long reports stay with whoever asks."""
    if survey.retention_days is None:
        return Section("How long reports are kept", ("No day is set on which they are deleted.",))
    days = f"{survey.retention_days:,} days" if survey.retention_days > 1 else "one day"
    counts = (
        "Sums over many devices stay, in which no single report can be found."
        if survey.keep_counts
        else "Sums that were made of them go with them."
    )
    return Section(
        "How long reports are kept",
        (
            f"They are deleted {days} after the period that they are about. {counts}",
            "Results that were published or copied before stay where they are.",
        ),
    )


def _closing(year: int, survey: Survey) -> tuple[Section, ...]:
    return (
        _kept(survey),
        Section(
            "All questions together",
            (
                f"In a year, if your answers stay the same: {sentence(year, EXAMPLES[0])} about "
                "any one thing that the questions ask.",
                "These are limits for the worst case: somebody who sees every report of your "
                "device and knows everything else about you. Usually far less can be learned.",
            ),
        ),
        Section(
            "What is not promised",
            (
                "What is true of most people like you can be learned without your report.",
                "The collector's network sees the address that your device sends from. The "
                "collector does not keep it, which is its operator's word, not mathematics.",
                "Whoever can read your device can read more than this.",
            ),
        ),
        Section("Where the app is a web page", _IN_A_PAGE),
        Section(
            "How you can check",
            (
                "The numbers above follow from the integers in survey.json, which your app holds. "
                "The command “deniable explain survey.json” computes them again, and “deniable "
                "encode” shows what would leave a device.",
            ),
        ),
    )


def _json(section: Section) -> dict[str, object]:
    return {"heading": section.heading, "points": list(section.points)}
