"""What a share of fake clients does to an estimate, beside the bound that leverage gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.audit.answers import per_bit, some_strings
from deniable.audit.findings import Finding
from deniable.audit.poison import crafted
from deniable.audit.poison_records import crafted_records
from deniable.mechanisms import Candidate, Mechanism, mechanism_of
from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.candidates import every_code
from deniable.privacy.leverage import leverage_of
from deniable.privacy.record_leverage import record_shift, ways
from deniable.protocol import Answer, Field, Question, RecordParameters, Sets
from deniable.protocol.domain import code_key, set_key, string_key

PEOPLE = 4_000
ATTACKERS = 0.05


@dataclass(frozen=True)
class Poisoned:
    """An estimate before and after the attack.

    Attributes:
        honest, attacked: the target's estimated frequency, of the same people.
        bound: the largest shift that the share of attackers allows, by leverage.
        noise: one standard deviation of the estimate.
        about: the share of honest reports that say anything about the target.
    """

    honest: float
    attacked: float
    bound: float
    noise: float
    about: float = 1.0

    @property
    def slack(self) -> float:
        """Seven standard deviations of what chance adds to the shift.

        The replaced honest reports are random; where reports are about parts, so is how many honest
        ones are about the target's, which moves the estimate by at most half its deviation.
        """
        parts = 0.5 if self.about < 1 else 0.0
        return 7 * self.noise * float(np.sqrt(2 * ATTACKERS) + parts)

    @property
    def shift(self) -> float:
        """How far the attack moved the estimate."""
        return self.attacked - self.honest


def poison_field(
    question: Question,
    field: Field,
    *,
    people: int = PEOPLE,
    attackers: float = ATTACKERS,
    rng: np.random.Generator,
    hidden: bool = False,
) -> Poisoned:
    """Push an answer that nobody holds, by replacing a share of honest reports by crafted ones.

    Args:
        question: what is asked.
        field: of which.
        people: the number of reports.
        attackers: the share of them that is crafted.
        rng: the only source of randomness.
        hidden: see `crafted`.
    """
    parameters = field.parameters
    if isinstance(parameters, RecordParameters):
        return _poison_record(question, field, parameters, people, attackers, rng)
    mechanism = mechanism_of(field, question.absent)
    asked = _asked(mechanism, field, question.absent)
    honest = _honest(mechanism, field, people, rng, asked)
    fake = crafted(field.parameters, _target(field), round(people * attackers), rng, hidden=hidden)
    mixed = honest.copy()
    forged = mechanism.records(fake)
    mixed[: len(forged)] = forged
    before, after = (
        mechanism.estimate(mechanism.accumulate(reports), asked) for reports in (honest, mixed)
    )
    bound = leverage_of(field).shift(attackers)
    noise: Floats = before.std_error
    shares = float(before.frequency[0]), float(after.frequency[0])
    return Poisoned(*shares, bound, float(noise[0]), leverage_of(field).about)


def _poison_record(
    question: Question,
    field: Field,
    parameters: RecordParameters,
    people: int,
    attackers: float,
    rng: np.random.Generator,
) -> Poisoned:
    """Push the first level of the attribute that is moved most; people hold others."""
    every = range(len(parameters.levels))
    worst = max(every, key=lambda i: record_shift(parameters, i, attackers))
    codes = rng.integers(0, parameters.levels, size=(people, len(parameters.levels)))
    codes[:, worst] = np.maximum(codes[:, worst], 1)
    mechanism = mechanism_of(field, question.absent)
    honest = mechanism.simulate(codes, rng)
    fake = crafted_records(parameters, worst, 0, round(people * attackers), rng)
    mixed = honest.copy()
    forged = mechanism.records(fake)
    mixed[: len(forged)] = forged
    place = sum(parameters.levels[:worst])
    before, after = (
        mechanism.estimate(mechanism.accumulate(reports)) for reports in (honest, mixed)
    )
    return Poisoned(
        float(before.frequency[place]),
        float(after.frequency[place]),
        record_shift(parameters, worst, attackers),
        float(before.std_error[place]),
        min(way.about for way in ways(parameters, worst)),
    )


def _target(field: Field) -> Answer:
    """Return the first answer: what nobody holds here."""
    if field.domain.size is None:
        return Answer(string_key(some_strings(field.domain)[0]))
    if isinstance(field.domain, Sets) and per_bit(field):
        return Answer(set_key((0,)), members=(0,))
    return Answer(code_key(0), 0)


def _asked(mechanism: Mechanism, field: Field, absent: bool) -> list[Candidate] | None:
    if field.domain.size is None:
        return [*some_strings(field.domain)[:2]]
    if isinstance(field.domain, Sets) or not mechanism.hashed:
        return None
    return every_code(field.domain.size, absent)


def _honest(
    mechanism: Mechanism,
    field: Field,
    people: int,
    rng: np.random.Generator,
    asked: list[Candidate] | None,
) -> Reports:
    """Return the reports of people who all hold another answer."""
    domain = field.domain
    if isinstance(domain, Sets):
        none = np.full((people, domain.most), len(domain.values), dtype=np.int64)
        return mechanism.simulate(none, rng)
    codes = np.ones(people, dtype=np.int64)
    return mechanism.simulate(
        codes, rng, asked if domain.size is None or mechanism.hashed else None
    )


def poisoning_finding(
    about: str, question: Question, field: Field, rng: np.random.Generator
) -> Finding:
    """Attack one field, and say whether the shift stays within what leverage allows.

    The replaced honest reports are random too: seven standard deviations of them are allowed.
    """
    found = poison_field(question, field, rng=rng)
    each = leverage_of(field).up
    words = (
        f"{ATTACKERS:.0%} crafted reports move an answer by {found.shift:.3f}; leverage allows "
        f"{found.bound:.3f}. One counts for up to {each:.1f} honest holders"
    )
    numbers = {"leverage": each, "shift": found.shift, "shift_bound": found.bound}
    return Finding(about, "poisoning", found.shift <= found.bound + found.slack, words, numbers)
