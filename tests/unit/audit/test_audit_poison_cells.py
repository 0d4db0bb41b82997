"""Reports crafted about a cell of a table: admitted, and worth what leverage says, either way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from deniable.audit.attack.poison_profiles import crafted_cells
from deniable.errors import InvalidReport
from deniable.marginals.raw import raw_table
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_of
from deniable.privacy.leverage.tables import shares_of_one, table_shift
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

ATTACKERS, PEOPLE = 0.01, 100_000
LEAST = 0.6
"""So much of the bar is reached in one of the two directions."""


@dataclass(frozen=True)
class Case:
    """A cell of a table: the levels of some attributes."""

    question: Question
    attributes: tuple[int, ...]
    levels: tuple[int, ...]


CASES = {
    question.id: Case(question, attributes, cell)
    for levels, order, attributes, cell in (
        ((2, 2, 2, 2), 2, (0, 2), (0, 1)),
        ((2, 3, 5), 2, (1, 2), (1, 2)),
        ((2, 2, 2, 2, 2), 3, (0, 1, 3), (1, 0, 1)),
    )
    for question in about_profiles(levels, order=order)
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
    codes = rng.integers(0, parameters.levels, size=(PEOPLE, len(parameters.levels)))
    codes[:, case.attributes] = case.levels
    if not held:
        codes[:, case.attributes[0]] = 1 - min(1, case.levels[0])
    return mechanism.accumulate(mechanism.simulate(codes, rng))


def rarest(parameters: ProfileParameters) -> float:
    """Return the share of honest reports about the part that has the fewest."""
    if isinstance(parameters, CoefficientsParameters | InpHTParameters):
        return float(shares_of_one(parameters).min())
    if isinstance(parameters, MargHTParameters):
        return 1 / parameters.marginals / (parameters.most_cells - 1)
    if isinstance(parameters, MargPSParameters | MargRRParameters):
        return 1 / parameters.marginals
    return 1 / len(parameters.views) if isinstance(parameters, ViewsParameters) else 1.0


def slack(parameters: ProfileParameters, bar: float, error: float) -> float:
    """Return seven deviations of chance: in honest answers, and in how many are about a part."""
    share = rarest(parameters)
    among = ATTACKERS / (ATTACKERS + share * (1 - ATTACKERS))
    parts = bar * np.sqrt((1 - share) / (PEOPLE * share))
    return 7 * float(among * error + parts)


def test_every_mechanism_is_attacked() -> None:
    found = {case.question.fields[0].parameters.mechanism for case in CASES.values()}
    assert found == set(PROFILE_MECHANISMS)


@pytest.mark.parametrize("name", CASES)
def test_the_bar_holds_and_is_not_idle(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    mechanism, parameters = read(case)
    bar = table_shift(parameters, case.attributes, ATTACKERS)
    liars = round(PEOPLE * ATTACKERS / (1 - ATTACKERS))
    reached = []
    for down in (False, True):
        before = honest(case, down, rng)
        fake = crafted_cells(parameters, case.attributes, case.levels, liars, rng, down=down)
        after = before.merge(mechanism.accumulate(fake))
        one, other = (raw_table(mechanism, counts, case.attributes) for counts in (before, after))
        assert one.std_error is not None
        moved = other.probability[case.levels] - one.probability[case.levels]
        assert (moved < 0) == down
        LEDGER.add(1e-11)
        assert abs(moved) <= bar + slack(parameters, bar, float(one.std_error[case.levels]))
        reached.append(abs(moved) / bar)
    assert max(reached) >= LEAST


@pytest.mark.parametrize("name", SYMBOLS)
def test_no_possible_report_does_better(name: str, rng: np.random.Generator) -> None:
    """Every report that is one symbol, sent by all liars: no cell of the table is moved further."""
    case = CASES[name]
    mechanism, parameters = read(case)
    bar = table_shift(parameters, case.attributes, ATTACKERS)
    before = honest(case, True, rng)
    table = raw_table(mechanism, before, case.attributes)
    assert table.std_error is not None
    most = bar + slack(parameters, bar, float(table.std_error.max()))
    liars = round(PEOPLE * ATTACKERS / (1 - ATTACKERS))
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
