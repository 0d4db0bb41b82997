"""How likely a string is found: closed forms where there are some, and what competition does."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from deniable.discover.prefixes.chance_of_finding import Group, Hurdle, Way
from deniable.mechanisms.closed_form import Pure

PURE = Pure(0.5, 0.25, 0.25)
FREE = -math.inf


def way(*odds: float, n: float = 10_000.0, tested: int = 100) -> Way:
    return Way([Hurdle(Group(n, PURE), 1_000, one) for one in odds], Group(n, PURE), tested)


def test_without_competition_only_the_test_decides() -> None:
    one, last = way(FREE, FREE), Group(10_000.0, PURE)
    limit = float(stats.norm.isf(0.05 / 100)) * last.noise
    for share in (0.5 * limit, limit, 1.3 * limit):
        expected = stats.norm.cdf((share - limit) / last.deviation(share))
        assert one.chance(share, 0.05) == pytest.approx(float(expected))
    assert one.half(0.05) == pytest.approx(limit, rel=0.01)


def test_more_competition_and_more_levels_need_a_larger_share() -> None:
    shares = [way(*odds).half(0.05) for odds in ((FREE,), (0.0,), (5.0,), (5.0, 20.0))]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_evidence_adds_up() -> None:
    """A level asks for the same; the one before it has said much of the string, or nothing."""
    last, limit = Group(10_000.0, PURE), Hurdle(Group(10_000.0, PURE), 1_000, 0.0)
    chances = [
        Way([Hurdle(Group(n, PURE), 1_000, FREE), limit], last, 100).chance(0.06, 0.05)
        for n in (1.0, 1_000.0, 10_000.0)
    ]
    assert chances[0] < chances[1] < chances[2]


def test_it_rises_with_the_share_and_says_the_same_again() -> None:
    one = way(1.0, 2.0, 3.0)
    chances = [one.chance(0.01 * 1.2**step, 0.05) for step in range(12)]
    assert chances == sorted(chances)
    assert chances == [one.chance(0.01 * 1.2**step, 0.05) for step in range(12)]


def test_where_nothing_is_found() -> None:
    assert math.isnan(way(FREE, n=3.0).half(0.05))
    assert math.isnan(way(1e9).half(0.05))


def test_collisions_and_drawing_people_add_noise() -> None:
    plain, more = Group(100.0, PURE), Group(100.0, PURE, 0.01)
    assert more.noise**2 == pytest.approx(plain.noise**2 + 0.01)
    drawn = 0.2 * 0.8 / 100
    assert plain.deviation(0.2) ** 2 == pytest.approx(float(plain.variance(0.2)) + drawn)
