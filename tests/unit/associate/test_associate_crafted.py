"""Attacks on joint tables: what crafted reports do lies within what `crafted_shifts` says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deniable.associate import Variable, estimate_joint
from deniable.crafted import joint
from deniable.crafted.joint import crafted_shifts
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OLH, OUE, Mechanism, Rappor
from deniable.testing.ledger import LEDGER
from material.associate_people import STRINGS, dependent
from material.attacks_on_tables import poisoned, strongest, without_first

PEOPLE = 6_000
MIXES: dict[str, tuple[Mechanism, Mechanism]] = {
    "krr": (KRR(3, epsilon=1.0), KRR(3, epsilon=1.0)),
    "krr at a small epsilon": (KRR(3, epsilon=0.5), KRR(3, epsilon=0.7)),
    "krr at a large epsilon": (KRR(3, epsilon=5.0), KRR(3, epsilon=4.0)),
    "basic RAPPOR": (Rappor.basic(3, epsilon=2.0), Rappor.basic(3, epsilon=2.0)),
    "Bloom with other": (Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0), KRR(3, epsilon=2.0)),
    "Bloom without others": (Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0), KRR(3, epsilon=2)),
    "oue and olh": (OUE(3, epsilon=2.0), OLH(epsilon=2.0)),
    "olh and krr": (OLH(epsilon=3.0), KRR(3, epsilon=1.0)),
}
ALL_STRINGS = (*STRINGS, "unlisted")


def fields_of(mix: str, rng: np.random.Generator) -> list[Variable]:
    """Return two fields whose answers go together; a quarter of the strings is not listed.

    Of "Bloom without others" all are, so that "(other)" is empty.
    """
    x, y = dependent(rng, PEOPLE)
    hidden = 0.0 if mix == "Bloom without others" else 0.25
    fields = zip("ab", MIXES[mix], (x, y), strict=True)
    return [_field(name, mechanism, codes, hidden, rng) for name, mechanism, codes in fields]


def _field(
    name: str, mechanism: Mechanism, codes: np.ndarray, hidden: float, rng: np.random.Generator
) -> Variable:
    if not mechanism.hashed:
        return Variable(name, mechanism, mechanism.simulate(codes, rng))
    held = np.where(rng.random(codes.size) < hidden, 3, codes)
    return Variable(name, mechanism, mechanism.simulate(held, rng, ALL_STRINGS), STRINGS)


def stays_within(mix: str, share: float, sign: int, reached: float, rng: np.random.Generator):
    """Attack a cell; the replaced honest reports are random: seven deviations of them are allowed.

    Where the search is tight the bound is not idle: so large a part of it is reached.
    """
    variables, cell, liars = fields_of(mix, rng), 1, round(share * PEOPLE)
    honest = estimate_joint(variables)
    attacked = poisoned(variables, strongest(variables, honest, cell, sign, rng), liars)
    found = crafted_shifts(attacked, share)
    bound = (found.up if sign > 0 else found.down).flat[cell]
    after = estimate_joint(attacked).unbounded.flat[cell]
    noise = 7 * honest.std_error.flat[cell] * np.sqrt(2 * share)
    LEDGER.add(1e-11)
    assert sign * (after - honest.unbounded.flat[cell]) <= bound + noise
    if not mix.startswith("Bloom") and sign > 0:
        rest = estimate_joint(without_first(variables, liars)).unbounded.flat[cell]
        assert after - rest > reached * bound


@pytest.mark.parametrize("sign", [1, -1], ids=["up", "down"])
@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("mix", MIXES)
def test_crafted_reports_stay_within_the_shift(mix, share, sign, rng):
    stays_within(mix, share, sign, 0.98 if mix.startswith("krr") else 0.9, rng)


@pytest.mark.parametrize("sign", [1, -1], ids=["up", "down"])
@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("mix", [mix for mix in MIXES if not mix.startswith("krr")])
def test_so_they_do_where_cells_are_not_searched_one_by_one(mix, share, sign, rng, monkeypatch):
    """As in tables of more than 256 cells, with the table small enough to be attacked."""
    monkeypatch.setattr(joint, "MOST_SEARCHED", 1)
    stays_within(mix, share, sign, 0.8, rng)


def test_tables_that_fit_exactly_have_the_largest_shift_of_all(rng):
    """The slow twin: every way to leave out 20 of 2,000 reports to two yes/no questions."""
    mechanism, liars = KRR(2, epsilon=1.5), 20
    codes = rng.integers(0, 2, (2, 2_000))
    variables = [
        Variable(name, mechanism, mechanism.simulate(code, rng))
        for name, code in zip("ab", codes, strict=True)
    ]
    channel = mechanism.likelihood(mechanism.records(np.array([0, 1], "<u4").tobytes()))
    solve = np.linalg.inv(np.kron(channel, channel))
    seen = np.bincount(2 * variables[0].reports["symbol"] + variables[1].reports["symbol"])
    ways = [way for way in itertools.product(range(liars + 1), repeat=4) if sum(way) == liars]
    moved = solve @ seen / 2_000 - ((seen - np.array(ways)) / (2_000 - liars)) @ solve.T
    found = crafted_shifts(variables, liars / 2_000)
    assert np.allclose(found.up.reshape(-1), moved.max(axis=0), atol=1e-6)
    assert np.allclose(found.down.reshape(-1), -moved.min(axis=0), atol=1e-6)


def test_more_liars_can_do_more_and_none_nothing(rng):
    variables = fields_of("krr", rng)
    none, few, many = (crafted_shifts(variables, share) for share in (0, 0.01, 0.05))
    assert none.up.shape == few.up.shape == (3, 3)
    assert not none.up.any()
    assert not none.down.any()
    assert np.all(few.up > 0)
    assert np.all(many.up > few.up)
    assert np.all(many.down > few.down)


@pytest.mark.parametrize("share", [0.5, 1])
def test_half_of_the_reports_can_say_anything(share, rng):
    found = crafted_shifts(fields_of("krr", rng), share)
    assert np.all(found.up == 1)
    assert np.all(found.down == 1)


def test_too_few_honest_reports_tell_nothing():
    """Without two of a hundred reports the first field has one symbol, for three answers."""
    three, two = KRR(3, epsilon=1.0), KRR(2, epsilon=1.0)
    symbols = np.repeat([0, 1], [98, 2]), np.where(np.arange(100) < 50, 0, 1)
    variables = [
        Variable(name, mechanism, mechanism.records(column.astype("<u4").tobytes()))
        for name, mechanism, column in zip("ab", (three, two), symbols, strict=True)
    ]
    found = crafted_shifts(variables, 0.02)
    assert np.all(found.up == 1)
    assert np.all(found.down == 1)


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan"), "1%", True])
def test_what_is_no_share_is_refused(share, rng):
    with pytest.raises(InvalidParameter, match="The 'crafted' parameter"):
        crafted_shifts(fields_of("krr", rng), share)


def unary_fields(rng, answers: int, people: int) -> list[Variable]:
    wide = OUE(answers, epsilon=3.0)
    codes = rng.integers(0, answers, (2, people))
    return [Variable(n, wide, wide.simulate(c, rng)) for n, c in zip("ab", codes, strict=True)]


def test_tables_without_errors_are_refused(rng):
    with pytest.raises(InvalidParameter, match=r"at most 2,048 cells.*Got 2,116"):
        crafted_shifts(unary_fields(rng, 46, 500), 0.01)


def test_large_tables_have_shifts_of_cells_and_margins(rng):
    found = crafted_shifts(unary_fields(rng, 17, 5_000), 0.01, margins=((0,),))
    assert found.up.shape == found.down.shape == (17, 17)
    assert found.margins[0,].up.shape == (17,)
    for part in (found, found.margins[0,]):
        assert part.up.min() > 0
        assert part.down.min() > 0
        assert max(part.up.max(), part.down.max()) < 0.2


def test_progress_covers_both_directions_of_every_cell(rng):
    krr = KRR(2, epsilon=1.0)
    fields = [Variable(name, krr, krr.simulate(rng.integers(0, 2, 500), rng)) for name in "ab"]
    seen: list[tuple[int, int]] = []
    crafted_shifts(fields, 0.01, lambda done, total: seen.append((done, total)))
    assert seen == [(done, 8) for done in range(9)]
