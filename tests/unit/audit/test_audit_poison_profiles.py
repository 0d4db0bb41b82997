"""Crafted reports about profiles: admitted, worth what leverage says, and often strange."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.audit.attack.crafted import CRAFTED, shifted_estimate, worst_attribute
from deniable.audit.attack.detection import advice_finding, advise, most_equal
from deniable.crafted.cells import table_shift, ways
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.crafted.worth import Leverage
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Reports
from deniable.protocol import PROFILE_MECHANISMS, ProfileParameters, Question
from deniable.testing.ledger import LEDGER
from material.audits import ONCE, a_question, about_profiles, profile_of

QUESTIONS = {
    question.id: question for question in (*about_profiles((2, 2, 2)), *about_profiles((2, 3, 5)))
}
ALPHA = 1e-10
LOOSE = ("inp_olh", "contrasts")
"""No seed is searched as long as the bound allows, and contrasts are bounded one by one."""


def shape_of(question: Question) -> ProfileParameters:
    parameters = question.fields[0].parameters
    assert isinstance(parameters, ProfileParameters)
    return parameters


def test_every_mechanism_is_attacked() -> None:
    assert {shape_of(question).mechanism for question in QUESTIONS.values()} == set(
        PROFILE_MECHANISMS
    )


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_shift_is_what_leverage_allows_and_most_of_it(
    name: str, down: bool, rng: np.random.Generator
) -> None:
    question = QUESTIONS[name]
    (field,) = question.fields
    parameters = shape_of(question)
    found = shifted_estimate(question, field, people=6_000, rng=rng, down=down)
    LEDGER.add(1e-11)
    assert found.within
    least = 0.3 if any(word in name for word in LOOSE) else 0.85
    most = max(
        one_way(way, down) for way in ways(parameters, (worst_attribute(parameters, CRAFTED),))
    )
    assert (-found.shift if down else found.shift) >= least * most - found.slack


def one_way(leverage: Leverage, down: bool) -> float:
    """Return what leverage allows in one direction alone."""
    only = Leverage(0.0, leverage.down, leverage.about) if down else leverage
    if not down:
        only = Leverage(leverage.up, -1 / leverage.about, leverage.about)
    return only.shift(CRAFTED)


@pytest.mark.parametrize("name", QUESTIONS)
def test_one_report_counts_for_so_many(name: str, rng: np.random.Generator) -> None:
    """One crafted report in many honest ones moves the number of holders by about `up`."""
    question = QUESTIONS[name]
    (field,) = question.fields
    parameters, n = shape_of(question), 60_000
    mechanism = mechanism_of(field, False)
    codes = rng.integers(0, parameters.answers, size=(n, len(parameters.answers)))
    honest = mechanism.accumulate(mechanism.simulate(codes, rng))
    before = mechanism.estimate(honest)
    for attribute, count in enumerate(parameters.answers):
        place = sum(parameters.answers[:attribute])
        up = max(way.up for way in ways(parameters, (attribute,)))
        down = max(way.down + 1 / way.about for way in ways(parameters, (attribute,)))
        for _ in range(3):
            fake = crafted_cells(parameters, (attribute,), (0,), 1, rng)
            after = mechanism.estimate(honest.merge(mechanism.accumulate(fake)))
            moved = after.frequency * after.n - before.frequency * before.n
            # A quarter for the share of honest reports about a coefficient, which is random.
            own = moved[place : place + count]
            assert own[0] <= 1.25 * up + 1
            assert own.min() >= -1.25 * down - 1


def test_the_worst_attribute_and_the_share_of_reports_about_it() -> None:
    parameters = shape_of(QUESTIONS["marg_ps-2x3x5"])
    every = [way.most for i in range(3) for way in ways(parameters, (i,))]
    assert leverage_of(QUESTIONS["marg_ps-2x3x5"].fields[0]).most == max(every)
    tables = shape_of(QUESTIONS["marg_rr-2x2x2"])
    assert [way.about for way in ways(tables, (0,))] == pytest.approx([2 / 3])


def test_a_share_of_attackers_among_reports_about_a_part() -> None:
    one = Leverage(up=20.0, down=8.0, about=0.1)
    assert one.shift(0.0) == 0
    assert one.shift(0.01) == pytest.approx(0.01 / (0.01 + 0.099) * 2.0)
    assert one.shift(1.0) == pytest.approx(2.0)
    assert one.shift(0.01) < 0.01 * 20.0
    parameters = shape_of(QUESTIONS["coefficients-2x2x2"])
    shifts = [table_shift(parameters, (0,), share) for share in (0.0, 0.01, 0.05, 0.5)]
    assert shifts == sorted(shifts)


class TestAdvice:
    def honest(self, question: Question, rng: np.random.Generator, n: int = 4_000) -> Reports:
        parameters = shape_of(question)
        codes = rng.integers(0, parameters.answers, size=(n, len(parameters.answers)))
        codes[: n // 2] = 1  # half of the people hold one record
        return mechanism_of(question.fields[0], False).simulate(codes, rng)

    def strange(self, question: Question, reports: Reports) -> bool:
        looks = advise(shape_of(question), reports)
        return bool(advice_finding("q", looks, len(reports), ALPHA).numbers.get("strange"))

    @pytest.mark.parametrize("name", [name for name in QUESTIONS if name.endswith("2x3x5")])
    def test_honest_reports_pass(self, name: str, rng: np.random.Generator) -> None:
        LEDGER.add(ALPHA)
        assert not self.strange(QUESTIONS[name], self.honest(QUESTIONS[name], rng))

    @pytest.mark.parametrize(
        "mechanism",
        [name for name in PROFILE_MECHANISMS if name not in ("inp_ps", "inp_em")],
    )
    def test_crafted_ones_are_seen(self, mechanism: str, rng: np.random.Generator) -> None:
        """One in ten; k-RR over the whole profile, and its bits, give no hold."""
        question = a_question("q", profile_of(*(2,) * 6), mechanism, ONCE)
        reports = self.honest(question, rng, 20_000)
        fake = crafted_cells(shape_of(question), (0,), (0,), 2_000, rng)
        reports[:2_000] = np.frombuffer(fake, dtype=reports.dtype)
        LEDGER.add(1e-12)
        assert self.strange(question, reports)

    def test_too_many_ones_of_inp_em(self, rng: np.random.Generator) -> None:
        question = a_question("q", profile_of(*(2,) * 32), "inp_em", ONCE)
        reports = self.honest(question, rng)
        reports["bits"][:400] = 255
        LEDGER.add(1e-12)
        assert self.strange(question, reports)

    def test_equal_records_are_no_likelier_than_said(self) -> None:
        for question in QUESTIONS.values():
            assert 0 < most_equal(shape_of(question)) <= 1
