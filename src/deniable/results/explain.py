"""A question in plain words: its promise to people, and its cost to the analyst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deniable._words import crowd, epsilon_text, plural
from deniable.authoring.field import count_listed
from deniable.plan import Prediction, Setting, predict
from deniable.privacy import epsilon_after
from deniable.privacy.average_case import average_case
from deniable.protocol import (
    Field,
    ProfileParameters,
    Question,
    RapporParameters,
    Sets,
    StringSets,
    thresholds,
)
from deniable.protocol.channel import Bits
from deniable.protocol.epsilon import as_float
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.question import WHOLE
from deniable.protocol.retention import Keeping
from deniable.results.alternatives import alternatives, chosen_words, why
from deniable.results.disclosure.in_clear import clear_sentences
from deniable.results.table.text import limit_sentence


@dataclass(frozen=True)
class Explanation:
    """A question in words, with the numbers the words are about.

    Attributes:
        title: the question, its version and its description.
        sentences: the promise, then the cost, one fact each.
        reasons: for engineers, the alternatives in formulas and numbers, a sentence per field.
        numbers: epsilon once, for ever and for life, bytes, and the error per field.
    """

    title: str
    sentences: tuple[str, ...]
    reasons: tuple[str, ...]
    numbers: dict[str, object]

    def as_json(self) -> dict[str, object]:
        """Return the explanation as `deniable explain --json` prints it."""
        words = {"sentences": list(self.sentences), "reasons": list(self.reasons)}
        return {"title": self.title, **words, **self.numbers}


def explain_question(
    question: Question,
    people: int | None = None,
    folder: Path | None = None,
    reports: int | None = None,
    keeping: Keeping | None = None,
) -> Explanation:
    """Explain a question; with the expected number of people also the error to expect.

    In `folder` are the candidate files, whose length matters to the choice of a mechanism. With
    `reports`, also the epsilon of that many reports of one unchanged value; with `keeping`, also
    how long reports stay.
    """
    forever = question.epsilon_forever
    listed = {field.name: _listed(field, folder) for field in question.fields}
    compared = {
        field.name: alternatives(question, field, people, listed[field.name])
        for field in question.fields
    }
    predicted = (
        {f.name: _predicted(question, f, people, listed[f.name]) for f in question.fields}
        if people
        else {}
    )
    return Explanation(
        title=f"{question.title} (version {question.version}): {question.description}",
        sentences=(
            *promise_of(question, people, predicted, keeping),
            *(text for field in question.fields if (text := _on_average(field))),
            *([] if reports is None else [_after(question, reports)]),
            *(
                text
                for field in question.fields
                if (text := chosen_words(field, compared[field.name], people))
            ),
        ),
        reasons=tuple(
            text
            for field in question.fields
            if (text := why(field, compared[field.name], listed[field.name], people))
        ),
        numbers={
            "id": question.id,
            "version": question.version,
            "level": question.level,
            "segments": [segment.name for segment in question.segments],
            "epsilon": as_float(question.epsilon_once),
            "epsilon_forever": None if forever is None else as_float(forever),
            "epsilon_lifetime": _lifetime(question),
            "record_bytes": question.record_size,
            **({} if keeping is None else keeping.as_json()),
            **({} if reports is None else {"epsilon_after": _epsilon_after(question, reports)}),
            "std_error": {name: one.rare_error for name, one in predicted.items()},
            "detection_limit": {name: one.smallest for name, one in predicted.items()},
            "alternatives": {
                name: [choice.as_json() for choice in found if not math.isnan(choice.noise)]
                for name, found in compared.items()
            },
        },
    )


def promise_of(
    question: Question,
    people: int | None = None,
    predicted: Mapping[str, Prediction] | None = None,
    keeping: Keeping | None = None,
) -> tuple[str, ...]:
    """Return the promise, then the cost, one fact each; errors as far as they are predicted."""
    expected = predicted or {}
    return (
        _who(question),
        *_once(question),
        _over_time(question),
        _sending(question),
        *(text for field in question.fields if (text := _members(field))),
        *(text for field in question.fields if (text := _together(field))),
        *(text for field in question.fields if (text := _linking(question, field))),
        *clear_sentences(question),
        *(
            _accuracy(question, field, people, expected[field.name])
            for field in question.fields
            if people and field.name in expected
        ),
        f"A report is {question.record_size} byte{'s' * (question.record_size > 1)}, always.",
        *([] if keeping is None else [keeping.words()]),
    )


def _listed(field: Field, folder: Path | None) -> int:
    return count_listed(folder / field.candidates) if field.candidates and folder else 0


def _who(question: Question) -> str:
    return f"{question.owner} asks it until {question.expires}, inclusive."


def _odds(micros: int) -> str:
    """Return e^epsilon as people say it."""
    ratio = math.exp(as_float(micros))
    return f"{ratio:,.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _once(question: Question) -> list[str]:
    once = question.epsilon_once
    sentences = [
        f"One report has epsilon {epsilon_text(as_float(once))}: whoever reads it can "
        "multiply the odds of "
        f"any guess about the answer by at most {_odds(once)}."
    ]
    if len(question.fields) > 1:
        parts = ", ".join(
            f"{f.name} {epsilon_text(as_float(f.parameters.epsilon_once))}" for f in question.fields
        )
        sentences.append(f"That is the sum over its fields: {parts}.")
    return sentences


def _over_time(question: Question) -> str:
    forever = question.epsilon_forever
    days = "day" if question.epoch == 1 else f"{question.epoch} days"
    if question.repeat == "once":
        return (
            "A device answers once per version, ever; a later value is not reported. A new version "
            "of the question costs the same again."
        )
    if question.repeat == "permanent":
        return (
            f"A device reports at most once per {days}, and every report of one value is the same "
            "for ever: all of them together have epsilon "
            f"{epsilon_text(as_float(question.epsilon_once))}, "
            "that of one. Each different value a person ever holds, and each new version, costs "
            "that much again."
        )
    if forever is None:
        return (
            f"A device reports at most once per {days}, and every report adds "
            f"{epsilon_text(as_float(question.epsilon_once))}: a year of them adds up to "
            f"{as_float(question.epsilon_once) * (365 // question.epoch):,.1f}. Only the device's "
            "own ceiling stops it."
        )
    return (
        f"A device reports at most once per {days}. All reports of one value together, for ever, "
        f"have epsilon {epsilon_text(as_float(forever))} (odds times {_odds(forever)}), "
        "because the first "
        "randomisation is permanent. Each different value a person ever holds, and each new "
        "version, costs that much again."
    )


def _epsilon_after(question: Question, reports: int) -> float:
    """Return the epsilon of a number of reports of one value by one device."""
    # Where a device answers once, or repeats one report, more of them tell no more.
    n = 1 if question.repeat in ("once", "permanent") else reports
    return as_float(sum(epsilon_after(field.parameters, n) for field in question.fields))


def _after(question: Question, reports: int) -> str:
    found = _epsilon_after(question, reports)
    have = "has" if reports == 1 else "have"
    told = plural(reports, "report")
    return f"{told} of one unchanged value {have} epsilon {epsilon_text(found)} together."


def _on_average(field: Field) -> str:
    """Say what a Bloom filter hides on average, which no epsilon counts."""
    parameters = field.parameters
    # Filters with hash functions are RAPPOR's alone.
    if not isinstance(parameters, RapporParameters) or parameters.form != "bloom":
        return ""
    found = average_case(parameters)
    silent = ""
    if parameters.memoised and found.silent > 0:
        silent = (
            f"Of the devices {found.silent:.3g} keep none of their string's {parameters.hashes} "
            "bits in the permanent response: what they report never speaks for it. "
        )
    loss = f"{found.loss_once:.3g}" if math.isfinite(found.loss_once) else "without bound"
    return (
        f"{silent}On average, and promised to nobody: of a million other strings about "
        f"{1e6 * found.namesakes:,.3g} set the same bits in a cohort, and one report moves the "
        f"log-odds between a person's string and another one by {loss}, where epsilon bounds it by "
        f"{as_float(parameters.epsilon_once):.3g}."
    )


def _lifetime(question: Question) -> float | None:
    """Return the epsilon of a device that never changes its value; None if it has no bound."""
    forever = question.epsilon_forever
    return None if forever is None else as_float(forever)


def _sending(question: Question) -> str:
    if question.absent:
        return (
            "Every device that runs the app reports in every epoch, after its end, 'absent' being "
            "one of the answers: sending says nothing."
        )
    return "Only devices that recorded a value report: that a report was sent is itself visible."


def _members(field: Field) -> str:
    domain, parameters = field.domain, field.parameters
    if isinstance(domain, StringSets):
        return (
            f"Of a person's strings one is drawn into {domain.most:,} places and reported: shares "
            f"are {domain.most:,} times those of draws, and their variance {domain.most**2:,} "
            "times. Of a set with more members each is drawn less often, so that shares are biased "
            "down then."
        )
    if not isinstance(domain, Sets):
        return ""
    if parameters.per_member:
        rest = parameters.channel.typical
        differ = sum(rest.differ) if isinstance(rest, Bits) else 0
        return (
            f"Each of the {len(domain.values):,} names has a bit of its own; epsilon is counted "
            f"for the most bits in which two sets can differ, {differ}."
        )
    return (
        f"Of the at most {domain.most:,} names that a person holds, one is drawn at random and "
        "reported; shares are scaled up accordingly, and may add up to more than 100%."
    )


def _together(field: Field) -> str:
    """Say what one report about many attributes covers."""
    parameters = field.parameters
    # Only profiles put several answers into one report.
    if not isinstance(parameters, ProfileParameters):
        return ""
    return (
        f"One report covers all {len(parameters.answers)} attributes together: its epsilon is for "
        f"the whole profile. Tables of up to {parameters.collected} of them can be learned."
    )


def _linking(question: Question, field: Field) -> str:
    parameters = field.parameters
    cohorts = cohorts_of(parameters)
    sentences = []
    if cohorts > 1:
        sentences.append(
            f"A report shows the device's cohort, one of {cohorts}, the same in every report to "
            "this question and unrelated to any other question."
        )
    unchanged = parameters.memoised and parameters.epsilon_forever == parameters.epsilon_once
    if question.repeat != "once" and (unchanged or question.repeat == "permanent"):
        sentences.append(
            "Reports of an unchanged value are identical, so that they can be linked to each other."
        )
    return " ".join(sentences)


def _predicted(question: Question, field: Field, people: int, listed: int) -> Prediction:
    once = as_float(field.parameters.epsilon_once)
    reporting = _reporting(question, people)
    setting = Setting(reporting, once, field.domain, None, question.absent, listed)
    # Only a profile has tables, and a largest number of attributes in one.
    if isinstance(field.parameters, ProfileParameters):
        setting = replace(setting, order=field.parameters.order)
    return predict(field.parameters, setting)


def _reporting(question: Question, people: int) -> int:
    """Return how many of the people report: those who are asked, of this level."""
    asked = 1 if question.asked is None else question.asked / thresholds.ONE
    return max(1, round(people * asked * (question.share / WHOLE if question.share else 1)))


def _accuracy(question: Question, field: Field, people: int, found: Prediction) -> str:
    people = _reporting(question, people)
    name = "" if question.plain else f" of {field.name}"
    what = "a rare answer" if field.domain.kind != "profile" else "a rare level of an attribute"
    return (
        f"With {crowd(people)} the share{name} of {what} is known to within "
        f"±{100 * 1.96 * found.rare_error:.2f} percentage points (95%). "
        f"{limit_sentence(found.smallest)}{' ' * bool(found.assumes)}{found.assumes}"
    )
