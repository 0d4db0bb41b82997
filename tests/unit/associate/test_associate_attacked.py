"""Attacks on what follows from a joint table: shares given a condition, odds ratios, tests."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deniable.associate import (
    Derived,
    Joint,
    Variable,
    conditional,
    estimate_joint,
    independence,
    odds_ratios,
)
from deniable.crafted.independence import crafted_test
from deniable.crafted.joint import Shifts, crafted_shifts, margins_wanted
from deniable.crafted.ratios import crafted_conditional, crafted_odds
from deniable.crafted.search import Ends
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Mechanism, Rappor
from material.associate_people import STRINGS, dependent
from material.attacks_on_tables import poisoned, strongest, without_first

PEOPLE = 4_000
MIXES: dict[str, tuple[Mechanism, Mechanism]] = {
    "krr": (KRR(3, epsilon=1.5), KRR(3, epsilon=1.5)),
    "basic RAPPOR": (Rappor.basic(3, epsilon=2.0), Rappor.basic(3, epsilon=2.0)),
    "Bloom with other": (Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0), KRR(3, epsilon=2.0)),
}
EXACT = 1e-6
"""What the solver leaves of the likelihood is seen here."""


def fields_of(mix: str, rng: np.random.Generator) -> list[Variable]:
    """Return two fields whose answers go together; a quarter of the strings is not listed."""
    found = []
    for name, mechanism, codes in zip("ab", MIXES[mix], dependent(rng, PEOPLE), strict=True):
        if mechanism.hashed:
            held = np.where(rng.random(PEOPLE) < 0.25, 3, codes)
            reports = mechanism.simulate(held, rng, (*STRINGS, "unlisted"))
            found.append(Variable(name, mechanism, reports, STRINGS))
        else:
            found.append(Variable(name, mechanism, mechanism.simulate(codes, rng)))
    return found


def yes_or_no(rng: np.random.Generator, people: int = 2_000) -> list[Variable]:
    mechanism = KRR(2, epsilon=1.5)
    x, y = dependent(rng, people, 2)
    return [
        Variable(name, mechanism, mechanism.simulate(codes, rng))
        for name, codes in (("a", x), ("b", y))
    ]


def derived(joint: Joint) -> list[Derived]:
    return [conditional(joint, "b", "a"), conditional(joint, "a", "b"), odds_ratios(joint)]


def attacked(joint: Joint, shifts: Shifts) -> list[tuple[Derived, Ends]]:
    one, two, odds = derived(joint)
    shares = [(part, crafted_conditional(joint, part, shifts)) for part in (one, two)]
    return [*shares, (odds, crafted_odds(joint, odds, shifts))]


def added(found: Derived, ends: Ends) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the values themselves: without what the statistical interval has."""
    low, high = ends
    if found.value.max() > 1:  # odds ratios: by factors; an interval that is open stays so
        bounded = np.isfinite(found.high)
        below = np.divide(low, found.low, out=np.zeros_like(low), where=found.low > 0)
        above = np.divide(high, found.high, out=np.full_like(high, np.inf), where=bounded)
        with np.errstate(invalid="ignore"):  # a ratio that is infinite itself is not known
            return found.value * below, found.value * above
    return found.value - (found.low - low), found.value + (high - found.high)


def test_no_way_to_leave_out_reports_leads_outside(rng):
    """The slow twin: every way to leave out 20 of 2,000 reports to two yes/no questions."""
    variables, liars = yes_or_no(rng), 20
    mechanism = variables[0].mechanism
    channel = mechanism.likelihood(mechanism.records(np.array([0, 1], "<u4").tobytes()))
    solve = np.linalg.inv(np.kron(channel, channel))
    seen = np.bincount(2 * variables[0].reports["symbol"] + variables[1].reports["symbol"])
    ways = [way for way in itertools.product(range(liars + 1), repeat=4) if sum(way) == liars]
    left = seen - np.array(ways)
    tables = (left / (2_000 - liars) @ solve.T).reshape(-1, 2, 2)
    ratios = [
        tables / tables.sum(axis=2, keepdims=True),
        (tables / tables.sum(axis=1, keepdims=True)).transpose(0, 2, 1),
        _cross(tables),
    ]
    shifts = crafted_shifts(variables, liars / 2_000, margins=margins_wanted(2))
    second = attacked(estimate_joint(variables), shifts)
    for (found, ends), every in zip(second, ratios, strict=True):
        low, high = added(found, ends)
        least, most = every.min(axis=0), every.max(axis=0)
        assert np.all(low <= least + EXACT)
        assert np.all(high >= most - EXACT)
        # Not idle: at least a third of the bar can be reached.
        assert np.all(found.value - least > 0.33 * (found.value - low))
        assert np.all(most - found.value > 0.33 * (high - found.value))


def _cross(tables: np.ndarray) -> np.ndarray:
    ratio = tables[:, 0, 0] * tables[:, 1, 1] / (tables[:, 0, 1] * tables[:, 1, 0])
    return np.stack([ratio, 1 / ratio, 1 / ratio, ratio], axis=1).reshape(-1, 2, 2)


def test_no_way_to_leave_out_reports_has_another_statistic(rng):
    """The slow twin: of k-RR the test is Pearson's on the symbols."""
    variables, liars = yes_or_no(rng), 20
    seen = np.bincount(2 * variables[0].reports["symbol"] + variables[1].reports["symbol"])
    ways = [way for way in itertools.product(range(liars + 1), repeat=4) if sum(way) == liars]
    left = (seen - np.array(ways)).reshape(-1, 2, 2)
    expected = left.sum(2)[:, :, None] * left.sum(1)[:, None, :] / (2_000 - liars)
    every = ((left - expected) ** 2 / expected).sum(axis=(1, 2))
    found = crafted_test(variables, liars / 2_000)
    assert found.low == pytest.approx(every.min(), rel=1e-6)
    assert found.high == pytest.approx(every.max(), rel=1e-3)


CASES = [
    *itertools.product(["krr", "basic RAPPOR"], [0.01, 0.03], [0, 1]),
    ("Bloom with other", 0.03, 1),
]
"""Attacks on a cell: on the first so that answers go together more, on the second less."""


@pytest.mark.parametrize(("mix", "share", "cell"), CASES)
def test_what_the_honest_say_lies_within(mix, share, cell, rng):
    """The honest reports by themselves have their table, ratios and statistic within the bars."""
    variables, liars = fields_of(mix, rng), round(share * PEOPLE)
    crafted = strongest(variables, estimate_joint(variables), cell, 1, rng)
    wrong = poisoned(variables, crafted, liars)
    honest, joint = estimate_joint(without_first(variables, liars)), estimate_joint(wrong)
    shifts = crafted_shifts(wrong, share, margins=margins_wanted(2))
    for (found, ends), truth in zip(attacked(joint, shifts), derived(honest), strict=True):
        low, high = added(found, ends)
        known = np.isfinite(found.std_error) & np.isfinite(truth.std_error)
        assert known.sum() >= 8
        # What is open at one end says nothing there: at most one of the nine.
        assert (found.low[known] > 0).sum() >= 7
        assert np.isfinite(found.high[known]).all()
        assert np.all(low[known] <= truth.value[known] + EXACT)
        assert np.all(high[known] >= truth.value[known] - EXACT)
    test = crafted_test(wrong, share)
    rest = independence(without_first(variables, liars)).statistic
    assert test.low <= rest <= test.high


def test_margins_have_shifts_of_their_own(rng):
    """Three fields: less can be done to a pair than to its cells added up."""
    mechanism, liars = KRR(2, epsilon=2.0), 40
    x, y = dependent(rng, PEOPLE, 2)
    codes = (x, y, rng.integers(0, 2, PEOPLE))
    variables = [
        Variable(name, mechanism, mechanism.simulate(code, rng))
        for name, code in zip("abc", codes, strict=True)
    ]
    for variable in variables:
        variable.reports["symbol"][:liars] = 1
    share = liars / PEOPLE
    shifts = crafted_shifts(variables, share, margins=margins_wanted(3))
    joint, honest = estimate_joint(variables), estimate_joint(without_first(variables, liars))
    assert set(shifts.margins) == {(0, 1), (0, 2), (1, 2)}
    for axes, bar in shifts.margins.items():
        (summed,) = set(range(3)) - set(axes)
        moved = joint.unbounded.sum(axis=summed) - honest.unbounded.sum(axis=summed)
        assert np.all(moved <= bar.up + EXACT)
        assert np.all(-moved <= bar.down + EXACT)
        assert moved[1, 1] > 0.9 * bar.up[1, 1]
        assert np.all(bar.up < 0.9 * shifts.up.sum(axis=summed))
    found = conditional(joint, "c", ["a", "b"])
    low, high = added(found, crafted_conditional(joint, found, shifts))
    truth = conditional(honest, "c", ["a", "b"]).value
    assert np.all((low <= truth + EXACT) & (truth - EXACT <= high))


def test_four_fields_need_pairs_and_what_the_last_is_given():
    assert margins_wanted(4) == ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 1, 2))


def test_nobody_changes_nothing_and_half_everything(rng):
    variables = yes_or_no(rng)
    joint, seen = estimate_joint(variables), independence(variables).statistic
    none = crafted_test(variables, 0)
    assert (none.low, none.high) == (seen, seen)
    for found, ends in attacked(joint, crafted_shifts(variables, 0, margins=margins_wanted(2))):
        assert np.allclose(ends.low, found.low)
        assert np.allclose(ends.high, found.high)
    half = crafted_test(variables, 0.5)
    assert (half.low, half.high) == (0, np.inf)
    every = attacked(joint, crafted_shifts(variables, 0.5, margins=margins_wanted(2)))
    for (_, ends), most in zip(every, (1, 1, np.inf), strict=True):
        assert np.all(ends.low == 0)
        assert np.all(ends.high == most)


def test_too_few_honest_reports_tell_nothing():
    """Without two of a hundred reports the first field has two symbols, for three answers."""
    three, two = KRR(3, epsilon=1.0), KRR(2, epsilon=1.0)
    people = np.arange(100)
    symbols = np.where(people < 98, people // 2 % 2, 2), np.where(people < 98, people % 2, 1)
    variables = [
        Variable(name, mechanism, mechanism.records(column.astype("<u4").tobytes()))
        for name, mechanism, column in zip("ab", (three, two), symbols, strict=True)
    ]
    found = crafted_test(variables, 0.02)
    # Nothing but rounding, which depends on the processor's linear algebra.
    assert found.low == pytest.approx(0, abs=1e-12)
    assert found.high == np.inf


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan"), "1%", True])
def test_what_is_no_share_is_refused(share, rng):
    with pytest.raises(InvalidParameter, match="The 'crafted' parameter of a test"):
        crafted_test(yes_or_no(rng, 100), share)
