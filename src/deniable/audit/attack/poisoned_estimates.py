"""The shift of an estimate by a share of crafted reports, beside the bound of leverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.audit.answers import per_bit, some_strings
from deniable.audit.attack.poison import crafted
from deniable.audit.attack.poison_profiles import crafted_profile_reports
from deniable.audit.findings import Finding
from deniable.mechanisms import Candidate, Mechanism, mechanism_of
from deniable.mechanisms.base import Reports
from deniable.mechanisms.candidates import every_code
from deniable.privacy.leverage.estimates import leverage_of
from deniable.privacy.leverage.profiles import profile_shift, ways
from deniable.protocol import Answer, Field, ProfileParameters, Question, Sets
from deniable.protocol.domain import code_key, set_key, string_key

PEOPLE = 4_000
ATTACKERS = 0.05


@dataclass(frozen=True)
class Poisoned:
    """An estimate before and after the attack.

    Attributes:
        honest, attacked: the target's estimated frequency, from the same people.
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
        """Seven standard deviations of the chance part of the shift.

        The replaced honest reports are random. Where reports are about parts, so is the number of
        honest ones about the target's part, which moves the estimate by at most half its deviation.
        """
        parts = 0.5 if self.about < 1 else 0.0
        return 7 * self.noise * float(np.sqrt(2 * ATTACKERS) + parts)

    @property
    def shift(self) -> float:
        """The shift of the estimate by the attack; below 0 where it pushes down."""
        return self.attacked - self.honest

    @property
    def within(self) -> bool:
        """True if the shift, either way, is at most the bound of leverage, chance included."""
        return abs(self.shift) <= self.bound + self.slack


def poison_field(
    question: Question,
    field: Field,
    *,
    people: int = PEOPLE,
    attackers: float = ATTACKERS,
    rng: np.random.Generator,
    hidden: bool = False,
    down: bool = False,
) -> Poisoned:
    """Push an answer that nobody holds, by replacing a share of honest reports by crafted ones.

    Args:
        question: under attack.
        field: of the question.
        people: the number of reports.
        attackers: the share of them that is crafted.
        rng: the only source of randomness.
        hidden: see `crafted`.
        down: push an answer that everybody holds down instead.
    """
    parameters = field.parameters
    before, after = poisoned_reports(
        question, field, people=people, attackers=attackers, rng=rng, hidden=hidden, down=down
    )
    mechanism = mechanism_of(field, question.absent)
    asked = None
    if not isinstance(parameters, ProfileParameters):
        asked = _asked(mechanism, field, question.absent)
    one, other = (
        mechanism.estimate(mechanism.accumulate(reports), asked) for reports in (before, after)
    )
    place, bound, about = 0, leverage_of(field).shift(attackers), leverage_of(field).about
    if isinstance(parameters, ProfileParameters):
        worst = worst_attribute(parameters, attackers)
        place, bound = sum(parameters.levels[:worst]), profile_shift(parameters, worst, attackers)
        about = min(way.about for way in ways(parameters, worst))
    shares = float(one.frequency[place]), float(other.frequency[place])
    return Poisoned(*shares, bound, float(one.std_error[place]), about)


def poisoned_reports(
    question: Question,
    field: Field,
    *,
    people: int,
    attackers: float,
    rng: np.random.Generator,
    hidden: bool = False,
    down: bool = False,
) -> tuple[Reports, Reports]:
    """Return honest reports, and the same with crafted ones in the place of the first ones.

    The target is the first answer; of a profile, the first level of the attribute that shifts
    most; of strings, the first of `some_strings`.
    """
    parameters, liars = field.parameters, round(people * attackers)
    mechanism = mechanism_of(field, question.absent)
    if isinstance(parameters, ProfileParameters):
        worst = worst_attribute(parameters, attackers)
        codes = rng.integers(0, parameters.levels, size=(people, len(parameters.levels)))
        codes[:, worst] = 0 if down else np.maximum(codes[:, worst], 1)
        honest = mechanism.simulate(codes, rng)
        fake = crafted_profile_reports(parameters, worst, 0, liars, rng, down=down)
    else:
        asked = _asked(mechanism, field, question.absent)
        honest = _honest(mechanism, field, people, rng, asked, down)
        fake = crafted(parameters, _target(field), liars, rng, hidden=hidden, down=down)
    mixed = honest.copy()
    mixed[:liars] = mechanism.records(fake)
    return honest, mixed


def worst_attribute(parameters: ProfileParameters, attackers: float) -> int:
    """Return the attribute whose levels a share of attackers can shift most."""
    every = range(len(parameters.levels))
    return max(every, key=lambda i: profile_shift(parameters, i, attackers))


def _target(field: Field) -> Answer:
    """Return the first answer, the target."""
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
    down: bool,
) -> Reports:
    """Return the reports of people who all hold another answer, or all hold the target."""
    domain = field.domain
    if isinstance(domain, Sets):
        held = np.full((people, domain.most), len(domain.values), dtype=np.int64)
        held[:, 0] = 0 if down else len(domain.values)
        return mechanism.simulate(held, rng)
    codes = np.full(people, not down, dtype=np.int64)
    return mechanism.simulate(
        codes, rng, asked if domain.size is None or mechanism.hashed else None
    )


def poisoning_finding(
    about: str, question: Question, field: Field, rng: np.random.Generator
) -> Finding:
    """Attack one field, up and down, and compare the shifts with the bound of leverage.

    The replaced honest reports are random too: seven standard deviations of chance are allowed.
    """
    up, down = (poison_field(question, field, rng=rng, down=way) for way in (False, True))
    each = leverage_of(field).up
    words = (
        f"{ATTACKERS:.0%} crafted reports move an answer by {up.shift:+.3f} or {down.shift:+.3f}; "
        f"leverage allows {up.bound:.3f} each way. One counts for up to {each:.1f} honest holders"
    )
    numbers = {
        "leverage": each,
        "shift": up.shift,
        "shift_down": down.shift,
        "shift_bound": up.bound,
    }
    return Finding(about, "poisoning", up.within and down.within, words, numbers)
