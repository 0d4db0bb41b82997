"""Reports crafted about a cell of a table: admitted, and worth what leverage says, either way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from deniable.crafted.cells import table_shift
from deniable.crafted.parts import of_one_coefficient
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.errors import InvalidReport
from deniable.marginals.raw import raw_table
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_of
from deniable.protocol import (
    PROFILE_MECHANISMS,
    CoefficientsParameters,
    InpHTParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    Question,
    ViewsParameters,
)
from deniable.testing.ledger import LEDGER
from material.audits import about_profiles

CRAFTED, PEOPLE = 0.01, 100_000
LEAST = 0.6
"""So much of the bar is reached in one of the two directions."""


@dataclass(frozen=True)
class Case:
    """A cell of a table: the answers of some attributes."""

    question: Question
    attributes: tuple[int, ...]
    answers: tuple[int, ...]


CASES = {
    question.id: Case(question, attributes, cell)
    for answers, order, attributes, cell in (
        ((2, 2, 2, 2), 2, (0, 2), (0, 1)),
        ((2, 3, 5), 2, (1, 2), (1, 2)),
        ((2, 2, 2, 2, 2), 3, (0, 1, 3), (1, 0, 1)),
    )
    for question in about_profiles(answers, order=order)
}
SYMBOLS = [
    name
    for name in CASES
    if name.endswith("-2x3x5")
    and name.startswith(("inp_ps", "inp_ht-", "marg_ps", "marg_ht", "co", "views"))
]


def read(case: Case) -> tuple[ProfileMechanism, ProfileParameters]:
    (field,) = case.question.fields
    mechanism = mechanism_of(field, False)
    assert isinstance(mechanism, ProfileMechanism)
    return mechanism, mechanism.parameters


def honest(case: Case, held: bool, rng: np.random.Generator) -> Counts:
    """Return the reports of people who are all in the cell, or all beside it."""
    mechanism, parameters = read(case)
    codes = rng.integers(0, parameters.answers, size=(PEOPLE, len(parameters.answers)))
    codes[:, case.attributes] = case.answers
    if not held:
        codes[:, case.attributes[0]] = 1 - min(1, case.answers[0])
    return mechanism.accumulate(mechanism.simulate(codes, rng))


def rarest(parameters: ProfileParameters) -> float:
    """Return the share of honest reports about the part that has the fewest."""
    if isinstance(parameters, CoefficientsParameters | InpHTParameters):
        return float(of_one_coefficient(parameters, (0,)).min())
    if isinstance(parameters, MargHTParameters):
        return 1 / parameters.marginals / (parameters.most_cells - 1)
    if isinstance(parameters, MargPSParameters | MargRRParameters):
        return 1 / parameters.marginals
    return 1 / len(parameters.views) if isinstance(parameters, ViewsParameters) else 1.0


def slack(parameters: ProfileParameters, bar: float, error: float) -> float:
    """Return seven deviations of chance: in honest answers, and in how many are about a part."""
    share = rarest(parameters)
    among = CRAFTED / (CRAFTED + share * (1 - CRAFTED))
    parts = bar * np.sqrt((1 - share) / (PEOPLE * share))
    return 7 * float(among * error + parts)


def test_every_mechanism_is_attacked() -> None:
    found = {case.question.fields[0].parameters.mechanism for case in CASES.values()}
    assert found == set(PROFILE_MECHANISMS)


@pytest.mark.parametrize("name", CASES)
def test_the_bar_holds_and_is_not_idle(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    mechanism, parameters = read(case)
    bar = table_shift(parameters, case.attributes, CRAFTED)
    liars = round(PEOPLE * CRAFTED / (1 - CRAFTED))
    reached = []
    for down in (False, True):
        before = honest(case, down, rng)
        fake = crafted_cells(parameters, case.attributes, case.answers, liars, rng, down=down)
        after = before.merge(mechanism.accumulate(fake))
        one, other = (raw_table(mechanism, counts, case.attributes) for counts in (before, after))
        assert one.std_error is not None
        moved = other.probability[case.answers] - one.probability[case.answers]
        assert (moved < 0) == down
        LEDGER.add(1e-11)
        assert abs(moved) <= bar + slack(parameters, bar, float(one.std_error[case.answers]))
        reached.append(abs(moved) / bar)
    assert max(reached) >= LEAST


@pytest.mark.parametrize("name", SYMBOLS)
def test_no_possible_report_does_better(name: str, rng: np.random.Generator) -> None:
    """Every report that is one symbol, sent by all liars: no cell of the table is moved further."""
    case = CASES[name]
    mechanism, parameters = read(case)
    bar = table_shift(parameters, case.attributes, CRAFTED)
    before = honest(case, True, rng)
    table = raw_table(mechanism, before, case.attributes)
    assert table.std_error is not None
    most = bar + slack(parameters, bar, float(table.std_error.max()))
    liars = round(PEOPLE * CRAFTED / (1 - CRAFTED))
    symbols, moved = possible(mechanism), []
    for symbol in symbols:
        fake = np.zeros(liars, dtype=mechanism.dtype)
        fake["symbol"] = symbol
        after = raw_table(mechanism, before.merge(mechanism.accumulate(fake)), case.attributes)
        moved.append(np.abs(after.probability - table.probability).max())
    LEDGER.add(1e-10)
    assert len(symbols) > 30
    assert 0 < max(moved) <= most


def possible(mechanism: ProfileMechanism) -> list[int]:
    """Return the symbols that the collector admits."""
    found, layout = [], mechanism.parameters.layout
    for symbol in range(1 << 8 * layout.size):
        record = layout.pack({"symbol": symbol})
        try:
            mechanism.parameters.check_record(record)
        except InvalidReport:
            continue
        found.append(symbol)
    return found
