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
from deniable.protocol.epochs import ACCEPT_PAST_DAYS
from deniable.protocol.epsilon import as_float
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.profile_domain import Perhaps
from deniable.protocol.question import PLAIN_FIELD
from deniable.protocol.retention import Keeping, keeping_of
from deniable.results.disclosure.in_clear import public_sentences
from deniable.results.disclosure.language import Language, english
from deniable.results.disclosure.odds import EXAMPLES, believed, in_parts, sentence
from deniable.results.disclosure.randomised import how

_YEAR = 365
_NAMED = 12
"""The number of answers that are named: the first ones of a longer list."""


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
    language: str = "en"

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


def disclose(survey: Survey, say: Language | None = None) -> Disclosure:
    """Say in plain words what a survey asks, and what answering could tell anybody.

    Args:
        survey: what is asked.
        say: the sentences; English by default.
    """
    say = say or english()
    year = survey_cost(survey.costliest().questions, _YEAR)
    levels = any(question.level for question in survey.questions)
    return Disclosure(
        title=say("page.title", survey=survey.name),
        introduction=(
            say("page.who", owner=survey.owner, survey=survey.name),
            say("page.how"),
            say("page.consent"),
        ),
        questions=tuple(_asked(survey, question, levels, say) for question in survey.questions),
        closing=_closing(year, survey, say),
        numbers={"survey": survey.name, "owner": survey.owner, "epsilon_of_a_year": as_float(year)},
        language=say.code,
    )


def _asked(survey: Survey, question: Question, levels: bool, say: Language) -> Asked:
    forever = question.epsilon_forever
    title = question.description or question.id
    if question.level:
        title = say("page.question_at_level", question=title, level=question.level)
    clear = public_sentences(question, levels, say)
    visible = (Section(say("headings.visible"), tuple(clear)),) if clear else ()
    return Asked(
        id=question.id,
        version=question.version,
        level=question.level,
        title=title,
        sections=(
            Section(say("headings.collected"), (*_collected(question, say), *_when(question, say))),
            *visible,
            Section(say("headings.changed"), tuple(_how(question, say))),
            Section(say("headings.learned"), tuple(_learned(question, say))),
            *([_kept(keeping_of(survey, question), say)] if _apart(survey) else []),
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


def _collected(question: Question, say: Language) -> list[str]:
    return [point for field in question.fields for point in _what(field, say)]


def _what(field: Field, say: Language) -> list[str]:
    """Return what is collected: a point per field, or one per attribute of a profile."""
    domain = field.domain
    if isinstance(domain, Profile):
        named = [
            say("kinds.named", name=name, sentence=_kind(each, say))
            for name, each in domain.attributes
        ]
        return [say("kinds.profile", count=len(domain.attributes)), *named]
    kind = _kind(domain, say)
    if field.name == PLAIN_FIELD:
        return [kind]
    return [say("kinds.named", name=field.name, sentence=kind)]


def _kind(domain: Domain, say: Language) -> str:
    if isinstance(domain, Perhaps):
        return say("kinds.perhaps", sentence=_kind(domain.known, say))
    if isinstance(domain, Boolean):
        return say("kinds.boolean")
    if isinstance(domain, Categories):
        names = _list(domain.values, say)
        return say("kinds.categories", count=f"{len(domain.values):,}", names=names)
    if isinstance(domain, Sets):
        count, names = f"{len(domain.values):,}", _list(domain.values, say)
        return say("kinds.sets", most=f"{domain.most:,}", count=count, names=names)
    if isinstance(domain, StringSets):
        return say("kinds.string_sets", most=f"{domain.most:,}")
    if isinstance(domain, Numbers):
        return say("kinds.numbers", names=_list(domain.labels, say))
    return say("kinds.strings")


def _list(names: tuple[str, ...], say: Language) -> str:
    shown = ", ".join(say("kinds.quoted", name=name) for name in names[:_NAMED])
    if len(names) <= _NAMED:
        return shown
    return say("kinds.and_more", names=shown, count=f"{len(names) - _NAMED:,}")


def _when(question: Question, say: Language) -> list[str]:
    told = {"owner": question.owner, "day": question.expires}
    if question.repeat == "once":
        times = say("when.once", **told)
    elif question.epoch == 1:
        times = say("when.daily", **told)
    else:
        times = say("when.periods", **told, days=f"{question.epoch:,}")
    return [times, say("when.always" if question.absent else "when.seen")]


def _how(question: Question, say: Language) -> list[str]:
    sentences = []
    for field in question.fields:
        told = " ".join(how(field, say))
        plain = question.plain
        sentences.append(told if plain else say("kinds.named", name=field.name, sentence=told))
    more = "_and_more" if question.segments or question.level else ""
    if question.record_size == 1:
        sentences.append(say(f"leaves.one_byte{more}"))
    else:
        sentences.append(say(f"leaves.bytes{more}", count=f"{question.record_size:,}"))
    return sentences


def _learned(question: Question, say: Language) -> list[str]:
    half, rare = (sentence(question.epsilon_once, before, say) for before in EXAMPLES)
    points = [say("learned.once", half=half, rare=rare), *_over_time(question, say)]
    cohorts = max(cohorts_of(field.parameters) for field in question.fields)
    if cohorts > 1:
        points.append(say("learned.group", count=f"{cohorts:,}"))
    return points


def _over_time(question: Question, say: Language) -> list[str]:
    forever = question.epsilon_forever
    if question.repeat == "once":
        return [say("learned.no_second")]
    if forever is not None:
        half, rare = (sentence(forever, before, say) for before in EXAMPLES)
        same = [say("learned.identical")] if question.repeat == "permanent" else []
        return [say("learned.forever", half=half, rare=rare), say("learned.again"), *same]
    reports = reports_within(question, _YEAR)
    half = sentence(device_cost(question, reports), EXAMPLES[0], say)
    return [say("learned.adds", reports=f"{reports:,}", half=half)]


def _apart(survey: Survey) -> bool:
    """Tell whether reports to different questions stay for different times."""
    return len({keeping_of(survey, question) for question in survey.questions}) > 1


def _kept(keeping: Keeping, say: Language) -> Section:
    """How long reports stay with whoever asks."""
    days = keeping.days
    if days is None:
        return Section(say("headings.kept"), (say("kept.no_day"),))
    until = say("kept.days", days=f"{days:,}") if days > 1 else say("kept.one_day")
    counts = "kept.sums_stay" if keeping.counts else "kept.sums_go"
    # Otherwise late reports are refused before the others are deleted.
    late = [say("kept.late")] if days < ACCEPT_PAST_DAYS else []
    told = (say(counts, sentence=until), *late, say("kept.copies"))
    return Section(say("headings.kept"), told)


def _closing(year: int, survey: Survey, say: Language) -> tuple[Section, ...]:
    half = sentence(year, EXAMPLES[0], say)
    promised = ("closing.others", "closing.address", "closing.device")
    # A survey does not know where it is answered, so that every page says this.
    page = ("web.storage", "web.network", "web.signal")
    # Where all questions are alike it is said once; else each of them says its own.
    kept = [] if _apart(survey) else [_kept(keeping_of(survey, survey.questions[0]), say)]
    return (
        *kept,
        Section(say("headings.together"), (say("closing.year", half=half), say("closing.worst"))),
        Section(say("headings.not_promised"), tuple(map(say, promised))),
        Section(say("headings.web"), tuple(map(say, page))),
        Section(say("headings.check"), (say("closing.check"),)),
    )


def _json(section: Section) -> dict[str, object]:
    return {"heading": section.heading, "points": list(section.points)}
