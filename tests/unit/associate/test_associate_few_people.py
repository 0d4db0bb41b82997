"""Errors of few people, and of few reports that tell, beside slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.ask.associate.pair_tables import marginal
from deniable.associate import Variable, estimate_joint
from deniable.associate.covariance import on_simplex
from deniable.associate.drawn import _PRIVATE, _UNLISTED, reported
from deniable.associate.few_people import SAID, _imagined
from deniable.mechanisms import KRR, Mechanism, Prefixes

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAMES = ("alpha", "beta", "gamma")
SHARES = np.array([0.2, 0.2, 0.1, 0.5])


def prefixes(people: int, epsilon: float = 8.0) -> Prefixes:
    return Prefixes(epsilon=epsilon, alphabet=LETTERS, length=6, people=people)


def pair(mechanism: Mechanism, people: int, rng: np.random.Generator) -> list[Variable]:
    """Return the reports of strings, half of which nobody listed, beside a yes/no."""
    codes, dark = rng.choice(4, people, p=SHARES), KRR(2, epsilon=8.0)
    if mechanism.hashed:
        reports = mechanism.simulate(codes, rng, [*NAMES, "hidden"])
        site = Variable("site", mechanism, reports, NAMES)
    else:
        site = Variable("site", mechanism, mechanism.simulate(codes, rng))
    return [site, Variable("dark", dark, dark.simulate(codes % 2, rng))]


def yes_no(people: int, rng: np.random.Generator) -> list[Variable]:
    dark = KRR(2, epsilon=8.0)
    return [Variable("dark", dark, dark.simulate(rng.integers(0, 2, people), rng))]


def test_the_moments_of_a_report(rng: np.random.Generator) -> None:
    """The slow twin: every imagined report by itself. Their second moments are the covariance."""
    variables, n = pair(prefixes(200), 200, rng), 200
    y = np.full(8, 1 / 8)
    imagined = _imagined(variables, (4, 2), y)
    assert imagined is not None
    sigma = on_simplex(n * imagined.information())
    patterns = imagined.patterns
    lines = np.stack([patterns.mixed(row) for row in np.eye(8)])
    second = third = 0.0
    for place in range(patterns.rows):
        psi = sigma @ lines[:, place] / imagined.at[place]
        weight = n * patterns.shares[place] * imagined.at[place] / imagined.drawn[place]
        second, third = second + weight * psi**2, third + weight * psi**3
    assert second == pytest.approx(sigma.diagonal())
    assert imagined.grain(sigma) == pytest.approx(third / second)


def test_a_report_that_is_certain_adds_its_own_share(rng: np.random.Generator) -> None:
    """Without noise a cell is a binomial count: k3 / k2 = (1 - 2 x) / n."""
    joint = estimate_joint(pair(KRR(4, epsilon=12.0), 60, rng))
    assert joint.grain is not None
    y = (60 * joint.probability + 0.5) / 64
    expected = (1 - 2 * y) / 60
    assert joint.grain.reshape(4, 2) == pytest.approx(expected, rel=0.15, abs=1e-3)


def test_a_telling_report_stands_for_many(rng: np.random.Generator) -> None:
    """Of prefixes, only verifiers tell strings that begin alike apart, and half of them hide."""
    joint = estimate_joint(pair(prefixes(200), 200, rng))
    assert joint.grain is not None
    assert SAID in joint.notes
    assert (joint.grain.reshape(4, 2)[:3] > 3 / 200).all()


def test_of_many_telling_reports_nothing_is_said(rng: np.random.Generator) -> None:
    joint = estimate_joint(pair(prefixes(200_000), 200_000, rng)[:1] + yes_no(200_000, rng))
    assert joint.grain is None
    assert SAID not in joint.notes


def test_noise_has_no_grain(rng: np.random.Generator) -> None:
    """A yes/no at epsilon 0.1 errs to both sides alike, however few people there are."""
    dark = KRR(2, epsilon=0.1)
    both = [Variable(name, dark, dark.simulate(rng.integers(0, 2, 50), rng)) for name in "ab"]
    joint = estimate_joint(both)
    assert joint.grain is not None
    assert (np.abs(joint.grain) < 0.2 * joint.std_error.reshape(-1)).all()


def test_names_that_nobody_drew_do_not_matter(rng: np.random.Generator) -> None:
    """Imagined reports are those that all 1,000 made-up strings would give."""
    mechanism, people = prefixes(200), 40
    site = pair(mechanism, people, rng)[0]
    codes = rng.integers(0, 4, people)
    found = reported(site, codes, np.random.default_rng(5)).reports
    again = np.random.default_rng(5)
    made_up = [chr(_PRIVATE + number) * 6 for number in range(_UNLISTED)]
    whole = np.where(codes == 3, 3 + again.integers(0, _UNLISTED, people), codes)
    slow = mechanism.simulate(whole, again, [*NAMES, *made_up])
    assert np.array_equal(found, slow)


def test_an_interval_of_one_report_may_be_everything(rng: np.random.Generator) -> None:
    """n = 1: no grain makes an interval that leaves out what one report cannot exclude."""
    for mechanism in (prefixes(100), KRR(4, epsilon=8.0)):
        both = [replace(one, reports=one.reports[:1]) for one in pair(mechanism, 100, rng)]
        joint = estimate_joint(both)
        assert np.isfinite(joint.low).all()
        assert (joint.low <= joint.probability).all()
        assert (joint.high >= joint.probability).all()
        assert (joint.low >= 0).all()
        assert (joint.high <= 1).all()


def test_sums_of_cells_have_intervals_as_cells_have(rng: np.random.Generator) -> None:
    """The table of two fields out of three: few people and few telling reports are allowed for."""
    site, dark = pair(prefixes(200), 200, rng)
    joint = estimate_joint([site, dark, *(replace(one, name="third") for one in yes_no(200, rng))])
    assert joint.grain is not None
    found = marginal(joint, ("site", "dark"))
    assert found.grain is not None
    assert joint.unbounded_covariance is not None
    assert found.unbounded_covariance is not None
    cells = joint.grain * joint.unbounded_covariance.diagonal()
    third = cells.reshape(4, 2, 2).sum(axis=2).reshape(-1)
    assert found.grain * found.unbounded_covariance.diagonal() == pytest.approx(third)
    assert (found.low >= 0).all()
    assert (found.low <= found.probability).all()
    assert (found.high >= found.probability).all()
    assert (found.high <= 1).all()
