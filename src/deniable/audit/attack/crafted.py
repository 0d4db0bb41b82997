"""The shift of an estimate by a share of crafted reports, beside the bound of leverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.audit.answers import some_strings
from deniable.audit.findings import Finding
from deniable.crafted.cells import table_shift, ways
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.mechanisms import Candidate, Mechanism, mechanism_of
from deniable.mechanisms.base import Reports
from deniable.mechanisms.candidates import every_code
from deniable.protocol import (
    ABSENT,
    Answer,
    Field,
    ProfileParameters,
    Question,
    Sets,
    StringSets,
)
from deniable.protocol.domain import code_key, set_key, string_key

PEOPLE = 4_000
CRAFTED = 0.05


@dataclass(frozen=True)
class Shifted:
    """An estimate without and with crafted reports.

    Attributes:
        honest, crafted: the target's estimated frequency, from the same people.
        bound: the largest shift that the share of crafted reports allows, by leverage.
        noise: one standard deviation of the estimate.
        about: the share of honest reports that say anything about the target.
    """

    honest: float
    crafted: float
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
        return 7 * self.noise * float(np.sqrt(2 * CRAFTED) + parts)

    @property
    def shift(self) -> float:
        """The shift of the estimate; below 0 where crafted reports push down."""
        return self.crafted - self.honest

    @property
    def within(self) -> bool:
        """True if the shift, either way, is at most the bound of leverage, chance included."""
        return abs(self.shift) <= self.bound + self.slack


def shifted_estimate(
    question: Question,
    field: Field,
    *,
    people: int = PEOPLE,
    rng: np.random.Generator,
    down: bool = False,
) -> Shifted:
    """Push an answer that nobody holds, by replacing honest reports by crafted ones.

    Args:
        question: whose estimate is shifted.
        field: of the question.
        people: the number of reports; a share CRAFTED of them is crafted.
        rng: the only source of randomness.
        down: push an answer that everybody holds down instead.
    """
    both = honest_and_crafted(question, field, people, CRAFTED, rng, down=down)
    mechanism = mechanism_of(field, question.absent)
    asked = _asked(mechanism, field, question.absent)
    one, other = (mechanism.estimate(mechanism.accumulate(reports), asked) for reports in both)
    leverage, parameters = leverage_of(field), field.parameters
    place, bound, about = 0, leverage.shift(CRAFTED), leverage.about
    # The target of a profile is a level of one attribute, whose shift has a form of its own.
    if isinstance(parameters, ProfileParameters):
        worst = worst_attribute(parameters, CRAFTED)
        place, bound = sum(parameters.answers[:worst]), table_shift(parameters, (worst,), CRAFTED)
        about = min(way.about for way in ways(parameters, (worst,)))
    # Of a set of strings, a draw stands for `most` of its members.
    scale = field.domain.most if isinstance(field.domain, StringSets) else 1
    shares = scale * float(one.frequency[place]), scale * float(other.frequency[place])
    return Shifted(*shares, bound, scale * float(one.std_error[place]), about)


def honest_and_crafted(
    question: Question,
    field: Field,
    people: int,
    crafted: float,
    rng: np.random.Generator,
    *,
    down: bool = False,
) -> tuple[Reports, Reports]:
    """Return honest reports, and the same with crafted ones in the place of the first ones.

    The target is the first answer; of a profile, the first level of the attribute that shifts
    most; of strings, the first of `some_strings`.
    """
    parameters, count = field.parameters, round(people * crafted)
    mechanism = mechanism_of(field, question.absent)
    # Profiles are simulated from a code of each attribute, other answers from one code.
    if isinstance(parameters, ProfileParameters):
        worst = worst_attribute(parameters, crafted)
        codes = rng.integers(0, parameters.answers, size=(people, len(parameters.answers)))
        codes[:, worst] = 0 if down else np.maximum(codes[:, worst], 1)
        honest = mechanism.simulate(codes, rng)
        fake = crafted_cells(parameters, (worst,), (0,), count, rng, down=down)
    else:
        honest = _honest(mechanism, field, people, rng, question.absent, down)
        fake = crafted_reports(parameters, _target(field), count, rng, down=down)
    mixed = honest.copy()
    mixed[:count] = mechanism.records(fake)
    return honest, mixed


def worst_attribute(parameters: ProfileParameters, crafted: float) -> int:
    """Return the attribute whose answers a share of crafted reports can shift most."""
    every = range(len(parameters.answers))
    return max(every, key=lambda i: table_shift(parameters, (i,), crafted))


def _target(field: Field) -> Answer:
    """Return the first answer, the target."""
    if field.domain.size is None:
        return Answer(string_key(some_strings(field.domain)[0]))
    if field.parameters.per_member:
        return Answer(set_key((0,)), members=(0,))
    return Answer(code_key(0), 0)


def _asked(mechanism: Mechanism, field: Field, absent: bool) -> list[Candidate] | None:
    domain = field.domain
    # Profiles and sets are estimated whole: no candidates are asked for.
    if isinstance(field.parameters, ProfileParameters) or isinstance(domain, Sets):
        return None
    if domain.size is None:
        return [*some_strings(domain)[:2]]
    return every_code(domain.size, absent) if mechanism.hashed else None


def _honest(
    mechanism: Mechanism,
    field: Field,
    people: int,
    rng: np.random.Generator,
    absent: bool,
    down: bool,
) -> Reports:
    """Return the reports of people who all hold another answer, or all hold the target."""
    domain = field.domain
    if isinstance(domain, Sets):
        held = np.full((people, domain.most), len(domain.values), dtype=np.int64)
        held[:, 0] = 0 if down else len(domain.values)
        return mechanism.simulate(held, rng)
    codes = np.full(people, not down, dtype=np.int64)
    asked = _asked(mechanism, field, absent)
    if isinstance(domain, StringSets) and asked is not None:
        # A set holds the answer in one of its places, and nothing in the others.
        codes[rng.integers(0, domain.most, size=people) > 0] = len(asked)
        asked = [*asked, ABSENT]
    return mechanism.simulate(codes, rng, asked)


def crafted_finding(
    about: str, question: Question, field: Field, rng: np.random.Generator
) -> Finding:
    """Push an answer of one field up and down, and compare the shifts with leverage's bound.

    The replaced honest reports are random too: seven standard deviations of chance are allowed.
    """
    up, down = (shifted_estimate(question, field, rng=rng, down=way) for way in (False, True))
    each = leverage_of(field).up
    words = (
        f"{CRAFTED:.0%} crafted reports move an answer by {up.shift:+.3f} or {down.shift:+.3f}; "
        f"leverage allows {up.bound:.3f} each way. One counts for up to {each:.1f} honest holders"
    )
    numbers = {
        "leverage": each,
        "shift": up.shift,
        "shift_down": down.shift,
        "shift_bound": up.bound,
    }
    return Finding(about, "crafted reports", up.within and down.within, words, numbers)
