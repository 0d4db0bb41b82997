"""Made-up populations for simulations and the demo: true answers, and their true shares."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.crowd.profiles import draw_profiles, profile_truth
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Candidate, Codes, Floats, Reports
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.records import join_records
from deniable.protocol import (
    ABSENT,
    Domain,
    Field,
    Numbers,
    Profile,
    Question,
    Sets,
    Strings,
    StringSets,
)
from deniable.protocol.domain import Absent
from deniable.protocol.profile_domain import Perhaps

CHUNK = 100_000
"""People simulated at a time, so that memory does not grow with the population."""

Answers = Sequence[str | Absent]


def _answers_of(question: Question, field: Field, candidates: Sequence[str]) -> Answers:
    """Return the answers people in the population may give, in order of their codes."""
    if isinstance(field.domain, Profile):
        return list(field.domain.names)
    if isinstance(field.domain, Sets):
        known = list(field.domain.values)
    else:
        known = list(field.domain.labels or _fitted(field, candidates))
    if not known:
        raise InvalidParameter(
            f"Question '{question.id}' takes strings: name a file of them with --candidates."
        )
    sets = isinstance(field.domain, StringSets)
    return [*known, ABSENT] if question.absent and not sets else known


def _fitted(field: Field, candidates: Sequence[str]) -> list[str]:
    """Return strings as answers: cut and escaped as their domain says, each once."""
    if not isinstance(field.domain, Strings):
        return list(candidates)
    texts = (unicodedata.normalize("NFC", text) for text in candidates)
    return list(dict.fromkeys(field.domain.fitted(text) for text in texts))


def _weights_of(field: Field, answers: Answers, turned: bool) -> Floats:
    """Return plausible shares: a bell over bins of numbers, else Zipf's law.

    Turned, the bell stands nearer to the upper end, and the last answer is the most frequent.
    """
    rank = np.arange(len(answers), dtype=float)
    if field.domain.kind == "numbers":
        middle, width = (len(answers) - 1) * (0.8 if turned else 0.5), max(1.0, len(answers) / 5)
        weights = np.exp(-(((rank - middle) / width) ** 2) / 2)
    else:
        weights = 1 / ((rank[::-1] if turned else rank) + 1)
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, repr=False)
class Population:
    """The true answers of people: per field the possible answers and each person's code.

    Its repr shows none of them.

    For a set, a person has a row of codes, as `deniable.mechanisms.members_matrix` makes them; for
    a profile, a code per attribute.
    """

    question: Question
    answers: Mapping[str, Answers]
    codes: Mapping[str, Codes]
    shares: Mapping[str, Floats] = dataclasses.field(default_factory=dict)

    @property
    def people(self) -> int:
        """The number of people."""
        return len(next(iter(self.codes.values())))

    def __repr__(self) -> str:
        return f"Population({self.question.id!r}, {self.people:,} people)"

    def value(self, person: int) -> object:
        """Return a person's true answer as an app would record it."""
        values = {
            field.name: _value(field, self.answers[field.name], self.codes[field.name][person])
            for field in self.question.fields
        }
        return next(iter(values.values())) if self.question.plain else values

    def of(self, question: Question, people: Codes) -> Population:
        """Return some of the people, who answer a level of the same question."""
        codes = {name: codes[people] for name, codes in self.codes.items()}
        return Population(question, self.answers, codes)

    def after(self, person: int) -> Population:
        """Return the population without the people before `person`."""
        rest = {name: codes[person:] for name, codes in self.codes.items()}
        return Population(self.question, self.answers, rest, self.shares)

    def stated(self, field: str) -> dict[str, float]:
        """Return the shares of the population that the people were drawn from, by label.

        Edge cases: sets and profiles are drawn person by person: theirs are those of the people.
        """
        if field not in self.shares:
            return self.truth(field)
        labels = ["(absent)" if isinstance(a, Absent) else a for a in self.answers[field]]
        return dict(zip(labels, self.shares[field].tolist(), strict=True))

    def truth(self, field: str) -> dict[str, float]:
        """Return each answer's share among these people, by label ("attribute=answer")."""
        codes, answers = self.codes[field], len(self.answers[field])
        domain = next(one.domain for one in self.question.fields if one.name == field)
        if isinstance(domain, Profile):
            return profile_truth(domain, codes)
        if isinstance(domain, StringSets):
            counts = np.bincount(codes[codes < answers], minlength=answers)
        elif codes.ndim == 1:
            counts = np.bincount(codes, minlength=answers)
        else:
            counts = _holders(codes, answers, self.question.absent)
        labels = ["(absent)" if isinstance(a, Absent) else a for a in self.answers[field]]
        shares = counts / max(1, self.people)
        return dict(zip(labels, shares.tolist(), strict=True))

    def records(self, rng: np.random.Generator) -> Iterator[tuple[int, bytes]]:
        """Yield simulated records, packed, with their number, some people at a time."""
        for start in range(0, self.people, CHUNK):
            part = slice(start, start + CHUNK)
            reports = {
                field.name: self._simulate(field, self.codes[field.name][part], rng)
                for field in self.question.fields
            }
            yield min(CHUNK, self.people - start), join_records(self.question, reports)

    def _simulate(self, field: Field, codes: Codes, rng: np.random.Generator) -> Reports:
        mechanism = mechanism_of(field, self.question.absent)
        if isinstance(field.domain, StringSets):
            # One of the places of each person; an empty one has the code after the last string.
            places = rng.integers(0, codes.shape[1], size=len(codes))
            drawn = codes[np.arange(len(codes)), places]
            return mechanism.simulate(drawn, rng, [*self.answers[field.name], ABSENT])
        if isinstance(field.domain, Profile):
            return mechanism.simulate(codes, rng)
        listed: Sequence[Candidate] | None = self.answers[field.name]
        if field.domain.size is not None:
            hashed = mechanism.hashed and codes.ndim == 1
            listed = every_code(field.domain.size, self.question.absent) if hashed else None
        return mechanism.simulate(codes, rng, listed)


def _holders(codes: Codes, answers: int, absent: bool) -> Codes:
    """Return the number of people who hold each name and, last, of those who are absent."""
    names = answers - absent
    counts = np.bincount(codes[codes < names], minlength=answers)
    if absent:
        counts[names] = np.count_nonzero(codes[:, 0] > names)
    return counts


def _value(field: Field, answers: Answers, person: Codes | np.int64) -> object:
    """Return a value whose answer has the code, or a set or profile with these codes."""
    if isinstance(field.domain, Profile):
        parts = zip(field.domain.attributes, np.atleast_1d(person).tolist(), strict=True)
        return {
            name: _labelled(domain.known if isinstance(domain, Perhaps) else domain, code)
            for (name, domain), code in parts
            if not (isinstance(domain, Perhaps) and code == len(domain.known.labels))
        }
    if isinstance(field.domain, StringSets):
        return [answers[m] for m in np.atleast_1d(person) if m < len(answers)]
    if isinstance(field.domain, Sets):
        members = np.atleast_1d(person)
        if int(members[0]) > len(field.domain.values):
            return ABSENT
        return [field.domain.values[m] for m in members if m < len(field.domain.values)]
    code = int(person)
    if isinstance(answers[code], Absent):
        return ABSENT
    return answers[code] if field.domain.size is None else _labelled(field.domain, code)


def _labelled(domain: Domain, code: int) -> object:
    """Return a value of a closed domain that has the code."""
    if isinstance(domain, Numbers):
        return domain.bounds[0] - 1 if code == 0 else domain.bounds[code - 1]
    return bool(code) if domain.kind == "boolean" else domain.labels[code]


def draw_population(
    question: Question,
    people: int,
    rng: np.random.Generator,
    candidates: Mapping[str, Sequence[str]],
    together: float = 0.0,
    *,
    turned: bool = False,
) -> Population:
    """Draw the true answers of a number of people.

    Args:
        question: the question whose fields are answered.
        people: the number of people.
        rng: the only source of randomness.
        candidates: the strings that people may answer, by field name.
        together: the share of people whose answers to all fields have the same rank; the fields of
            the others are independent of each other.
        turned: give rare answers the shares of frequent ones, and the other way round.
    """
    answers: dict[str, Answers] = {}
    codes: dict[str, Codes] = {}
    shares: dict[str, Floats] = {}
    for field in question.fields:
        known = _answers_of(question, field, candidates.get(field.name, ()))
        answers[field.name] = known
        if isinstance(field.domain, Profile):
            drawn = draw_profiles(field.domain, people, rng)
            levels = np.array(field.domain.answers)
            codes[field.name] = levels - 1 - drawn if turned else drawn
            continue
        weights = _weights_of(field, known, turned)
        if isinstance(field.domain, Sets | StringSets):
            names = len(known) - (question.absent and isinstance(field.domain, Sets))
            most = min(field.domain.most, names)
            codes[field.name] = _draw_sets(names, most, people, rng, weights, question.absent)
            if isinstance(field.domain, StringSets):
                codes[field.name] = _with_places(codes[field.name], names, field.domain.most)
        else:
            shares[field.name] = weights
            drawn = rng.choice(len(known), size=people, p=weights)
            codes[field.name] = drawn.astype(np.int64)
    sets = Sets | StringSets
    single = [field.name for field in question.fields if not isinstance(field.domain, sets)]
    if together > 0 and len(single) > 1:
        alike = rng.random(people) < together
        for name in single[1:]:
            same = codes[single[0]] % len(answers[name])
            codes[name] = np.where(alike, same, codes[name])
            if name in shares and single[0] in shares:
                first = np.arange(len(shares[single[0]])) % len(answers[name])
                moved = np.bincount(first, shares[single[0]], minlength=len(answers[name]))
                shares[name] = together * moved + (1 - together) * shares[name]
    return Population(question, answers, codes, shares)


def _with_places(codes: Codes, names: int, most: int) -> Codes:
    """Return sets of strings with all their places; whoever is absent has an empty set."""
    rows = np.full((len(codes), most), names, dtype=np.int64)
    rows[:, : codes.shape[1]] = np.minimum(codes, names)
    return rows


def _draw_sets(
    names: int, most: int, people: int, rng: np.random.Generator, weights: Floats, absent: bool
) -> Codes:
    """Return sets of uniformly random size, frequent names in more of them; some are absent.

    Names are drawn without repetition, with probabilities by weight: those with the shortest
    exponential times, each divided by the name's weight (Efraimidis and Spirakis). A part of the
    people is drawn at a time, so that memory stays bounded.
    """
    rows = np.full((people, most), names, dtype=np.int64)
    step = max(1, 2**22 // names)
    for start in range(0, people, step):
        part = rows[start : start + step]
        times = rng.exponential(size=(len(part), names)) / weights[:names]
        chosen = np.argsort(times, axis=1)[:, :most]
        sizes = rng.integers(0, most + 1, size=(len(part), 1))
        part[:] = np.sort(np.where(np.arange(most) < sizes, chosen, names), axis=1)
        if absent:
            part[rng.random(len(part)) < weights[-1]] = names + 1
    return rows
