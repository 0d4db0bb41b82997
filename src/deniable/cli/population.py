"""Made-up populations for simulations and the demo: true answers, and their true shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.base import Codes, Floats
from deniable.mechanisms.records import join_records
from deniable.protocol import ABSENT, Field, Numbers, Question
from deniable.protocol.domain import Absent

CHUNK = 100_000
"""People simulated at a time, so that memory does not grow with the population."""

Answers = Sequence[str | Absent]


def answers_of(question: Question, field: Field, candidates: Sequence[str]) -> Answers:
    """Return the answers people in the population may give, in order of their codes."""
    known = list(field.domain.labels or candidates)
    if not known:
        raise InvalidParameter(
            f"Question '{question.id}' takes strings: name a file of them with --candidates."
        )
    return [*known, ABSENT] if question.absent else known


def weights_of(field: Field, answers: Answers) -> Floats:
    """Return plausible shares: a bell over bins of numbers, else Zipf's law."""
    rank = np.arange(len(answers), dtype=float)
    if field.domain.kind == "numbers":
        middle, width = (len(answers) - 1) / 2, max(1.0, len(answers) / 5)
        weights = np.exp(-(((rank - middle) / width) ** 2) / 2)
    else:
        weights = 1 / (rank + 1)
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Population:
    """The true answers of people: per field the possible answers and each person's code."""

    question: Question
    answers: Mapping[str, Answers]
    codes: Mapping[str, Codes]

    @property
    def people(self) -> int:
        """The number of people."""
        return len(next(iter(self.codes.values())))

    def value(self, person: int) -> object:
        """Return a person's true answer as an app would record it."""
        values = {
            field.name: _value(field, self.answers[field.name], int(self.codes[field.name][person]))
            for field in self.question.fields
        }
        return next(iter(values.values())) if self.question.plain else values

    def after(self, person: int) -> Population:
        """Return the population without the people before `person`."""
        rest = {name: codes[person:] for name, codes in self.codes.items()}
        return Population(self.question, self.answers, rest)

    def truth(self, field: str) -> dict[str, float]:
        """Return the true share of each answer, by its label."""
        counts = np.bincount(self.codes[field], minlength=len(self.answers[field]))
        labels = ["(absent)" if isinstance(a, Absent) else a for a in self.answers[field]]
        shares = counts / max(1, self.people)
        return dict(zip(labels, shares.tolist(), strict=True))

    def records(self, rng: np.random.Generator) -> Iterator[tuple[int, bytes]]:
        """Yield simulated records, packed, with their number, some people at a time."""
        for start in range(0, self.people, CHUNK):
            part = slice(start, start + CHUNK)
            reports = {
                field.name: mechanism_for(field.parameters).simulate(
                    self.codes[field.name][part],
                    rng,
                    None if field.domain.labels else self.answers[field.name],
                )
                for field in self.question.fields
            }
            yield min(CHUNK, self.people - start), join_records(self.question, reports)


def _value(field: Field, answers: Answers, code: int) -> object:
    """Return a value whose answer has the code."""
    if isinstance(answers[code], Absent):
        return ABSENT
    if isinstance(field.domain, Numbers):
        bounds = field.domain.bounds
        return bounds[0] - 1 if code == 0 else bounds[code - 1]
    return bool(code) if field.domain.kind == "boolean" else answers[code]


def draw_population(
    question: Question,
    people: int,
    rng: np.random.Generator,
    candidates: Mapping[str, Sequence[str]],
) -> Population:
    """Draw the true answers of so many people, fields independent of each other."""
    answers, codes = {}, {}
    for field in question.fields:
        known = answers_of(question, field, candidates.get(field.name, ()))
        answers[field.name] = known
        drawn = rng.choice(len(known), size=people, p=weights_of(field, known))
        codes[field.name] = drawn.astype(np.int64)
    return Population(question, answers, codes)
