"""A survey in plain words, for the person at the device: before the first run, and at any time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable._words import epsilon_text, plural
from deniable.client.consent import DO_NOT_TRACK, Consent, from_environment
from deniable.client.consent import VARIABLE as CONSENT
from deniable.client.ledger import Disclosed
from deniable.errors import StoreError
from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Numbers,
    Profile,
    Question,
    Sets,
    Strings,
    StringSets,
    Survey,
)
from deniable.protocol.odds import believed, in_parts
from deniable.protocol.profile_domain import Perhaps

if TYPE_CHECKING:
    from deniable.client.client import Client

_NAMED = 8
_GUESS = Fraction(1, 2)

CONSENTS = {
    Consent.UNKNOWN: "You have not been asked yet: nothing is collected or sent.",
    Consent.GRANTED: "You have agreed. You can withdraw that at any time.",
    Consent.DENIED: "You have declined: nothing is collected or sent.",
}


def notice(survey: Survey) -> str:
    """Return the notice for a first run: who asks what, how it is protected, how to say no."""
    asked = survey.asked
    lines = [
        f"{survey.name} would like to know how it is used ({survey.owner}).",
        f"It asks {plural(len(asked), 'question')}:",
        *(f"  - {question.description or question.id}" for question in asked),
        "Before an answer leaves this device, chance changes it: a single answer may always have",
        "been chance, and only the answers of many people together say something.",
        f"Setting {DO_NOT_TRACK}=1 says no for good.",
    ]
    return "\n".join(lines)


def explain(client: Client) -> str:
    """Return everything that would leave the device, what it could tell, and what waits now."""
    parts = [_question(question) for question in client.survey.asked]
    return "\n\n".join([_who(client.survey), *parts, _now(client)])


def _who(survey: Survey) -> str:
    asked = plural(len(survey.asked), "question")
    return f"{survey.name} ({survey.owner}) asks {asked}. Every answer is randomised first."


def _question(question: Question) -> str:
    level = f", level {question.level}" if question.level else ""
    lines = [f"{question.id} (version {question.version}{level}): {question.description}"]
    for field in question.fields:
        name = "" if question.plain else f"{field.name}: "
        lines.append(f"  {name}{kind(field.domain)}")
    lines.append(f"  Asked until {question.expires}, {_often(question)}.")
    if question.segments:
        names = ", ".join(segment.name for segment in question.segments)
        lines.append(f"  Sent with it, unchanged and in clear: {names}.")
    lines.append(f"  {_learned(question)}")
    return "\n".join(lines)


def kind(domain: Domain) -> str:
    """Return the possible answers in words.

    Raises:
        NotImplementedError: for a domain that has no words yet.
    """
    match domain:
        case Perhaps():
            return f"{kind(domain.known)} Or that it is not known."
        case Boolean():
            return "Yes or no."
        case Categories():
            return f"One of {_list(domain.values)}."
        case Numbers():
            return f"A number, and of it only its range: {_list(domain.labels)}."
        case Sets():
            return f"Up to {domain.most:,} of {_list(domain.values)}."
        case StringSets():
            return f"Up to {domain.most:,} texts, of which one is drawn and sent as a shared code."
        case Strings():
            return "A text, sent as a code that many texts share."
        case Profile():
            names = tuple(name for name, _ in domain.attributes)
            return f"{plural(len(names), 'answer')} in one report: {_list(names)}."
    raise NotImplementedError(f"There are no words for a domain of {type(domain).__name__}.")


def _often(question: Question) -> str:
    if question.repeat == "once":
        return "once"
    days = "a day" if question.epoch == 1 else f"{question.epoch:,} days"
    if question.absent:
        return f"once in {days}, also where there is nothing to say"
    return f"at most once in {days}"


def _learned(question: Question) -> str:
    once = in_parts(believed(question.epsilon_once, _GUESS))
    told = f"A guess of 1 in 2 about your answer can become at most {once} after one report"
    forever = question.epsilon_forever
    if question.repeat == "once":
        return f"{told}, and there is only one."
    if forever is None:
        return f"{told}; each further report adds as much."
    return f"{told}, and at most {in_parts(believed(forever, _GUESS))} after all of one answer."


def _now(client: Client) -> str:
    lines = [_consent(client.consent)]
    try:
        told: Disclosed = client.disclosed()
        waiting = len(client.pending())
    except StoreError as error:
        return "\n".join([*lines, f"What waits cannot be read: {error}"])
    lines.append(
        f"Disclosed so far: epsilon {epsilon_text(told.epsilon)} of at most "
        f"{epsilon_text(told.ceiling)} in the life of "
        "this device."
    )
    lines.append(f"Waiting to be sent: {plural(waiting, 'report')}.")
    return "\n".join(lines)


def _consent(consent: Consent) -> str:
    if from_environment() is Consent.UNKNOWN:
        return CONSENTS[consent]
    word = "no" if consent is Consent.DENIED else "yes"
    return f"The environment says {word} ({DO_NOT_TRACK} or {CONSENT})."


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"
