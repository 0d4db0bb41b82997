"""Small shuffled crowds written out as fractions, over all that others hold, against the forms."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from deniable.mechanisms import KRR, Rappor
from deniable.privacy.shuffling.blanket import Blanket
from deniable.privacy.shuffling.central import shuffled
from deniable.privacy.shuffling.two_level import Levels, levels
from deniable.privacy.shuffling.yes_no_crowds import YesNo

Counts = tuple[int, ...]
GROWN = [Fraction(n, 10) for n in (10, 11, 13, 17, 23)]
"""e^eps."""
DELTA = 1e-6


@cache
def crowd(k: int, ratio: Fraction, held: Counts) -> dict[Counts, Fraction]:
    """Return the exact law of how often each symbol is reported by people who hold these."""
    if not held:
        return {(0,) * k: Fraction(1)}
    low, law = 1 / (ratio + k - 1), defaultdict[Counts, Fraction](Fraction)
    for counts, chance in crowd(k, ratio, held[:-1]).items():
        for symbol in range(k):
            more = (*counts[:symbol], counts[symbol] + 1, *counts[symbol + 1 :])
            law[more] += chance * low * (ratio if symbol == held[-1] else 1)
    return law


def worst(k: int, ratio: Fraction, people: int, grown: Fraction) -> Fraction:
    """Return the largest delta over all that the others may hold; 0 and 1 are x and z."""
    found = []
    for others in combinations_with_replacement(range(k), people - 1):
        one, other = crowd(k, ratio, (*others, 0)), crowd(k, ratio, (*others, 1))
        found.append(sum(max(Fraction(0), one[c] - grown * other[c]) for c in one))
    return max(found)


def of_krr(k: int, ratio: Fraction) -> Levels:
    low = 1 / (ratio + k - 1)
    return Levels(ratio, low, Fraction(0), (k - 2) * low)


@pytest.mark.parametrize("ratio", [Fraction(5, 2), Fraction(6)])
@pytest.mark.parametrize("people", [1, 2, 3, 6])
def test_a_yes_or_no_is_exact(ratio: Fraction, people: int) -> None:
    form = YesNo(of_krr(2, ratio), people, DELTA)
    assert form.looked_at_all
    for grown in GROWN:
        exact, epsilon = float(worst(2, ratio, people, grown)), math.log(grown)
        assert form.delta(epsilon) - form.outside == pytest.approx(exact, abs=1e-12)
        assert form.attained(epsilon) <= exact <= form.delta(epsilon)


@pytest.mark.parametrize("ratio", [Fraction(5, 2), Fraction(6)])
@pytest.mark.parametrize(("k", "people"), [(2, 5), (3, 2), (3, 3), (3, 5), (4, 3), (4, 4), (5, 3)])
def test_the_truth_is_between_the_two_answers(k: int, people: int, ratio: Fraction) -> None:
    form = Blanket(of_krr(k, ratio), people, DELTA)
    for grown in GROWN:
        exact, epsilon = float(worst(k, ratio, people, grown)), math.log(grown)
        assert exact <= form.delta(epsilon)
        if k > 2:
            assert form.attained(epsilon) <= exact


@pytest.mark.parametrize(("k", "people"), [(3, 3), (3, 5), (4, 4), (5, 3)])
def test_the_blanket_is_attained_where_epsilon_is_small(k: int, people: int) -> None:
    """Then both answers are the same, and so is the truth."""
    ratio = Fraction(6)
    form = Blanket(of_krr(k, ratio), people, DELTA)
    for grown in GROWN[:3]:
        exact, epsilon = float(worst(k, ratio, people, grown)), math.log(grown)
        assert form.delta(epsilon) == pytest.approx(exact, abs=1e-8)
        assert form.attained(epsilon) == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize(("k", "people", "grown"), [(3, 2, GROWN[4]), (4, 4, GROWN[2])])
def test_counts_of_two_cells_alone_are_no_bound(k: int, people: int, grown: Fraction) -> None:
    """The form of (A + D1, C - A + D2), written out, and crowds that exceed it."""
    ratio = Fraction(5, 2)
    low = 1 / (ratio + k - 1)
    rest = 1 - (ratio + 1) * low
    laws = {"other": (low, low), "x": (ratio * low, low), "z": (low, ratio * low)}

    def counted(own: str) -> dict[tuple[int, int], Fraction]:
        found = {(0, 0): Fraction(1)}
        for who in ["other"] * (people - 1) + [own]:
            x, z = laws[who]
            longer = defaultdict[tuple[int, int], Fraction](Fraction)
            for (a, b), chance in found.items():
                longer[a + 1, b] += chance * x
                longer[a, b + 1] += chance * z
                longer[a, b] += chance * (1 - x - z if who == "other" else rest)
            found = longer
        return found

    one, other = counted("x"), counted("z")
    form = float(sum(max(Fraction(0), one[c] - grown * other[c]) for c in one))
    exact, blanket = float(worst(k, ratio, people, grown)), Blanket(of_krr(k, ratio), people, DELTA)
    assert blanket.attained(math.log(grown)) == pytest.approx(form, abs=1e-8)
    assert form < exact <= blanket.delta(math.log(grown))


def slow_yes_no(found: Levels, people: int, epsilon: float) -> float:
    """Every m, the law of the sum of coins one by one, and the difference summed."""
    move, grown, largest = float(found.low), math.exp(epsilon), 0.0
    for m in range(people):
        law = np.ones(1)
        for person in range(people - 1):
            yes = 1 - move if person < m else move
            law = np.convolve(law, [1 - yes, yes])
        more, same = np.append(0.0, law), np.append(law, 0.0)
        one, other = (1 - move) * more + move * same, move * more + (1 - move) * same
        largest = max(largest, float(np.maximum(0.0, one - grown * other).sum()))
    return largest


@pytest.mark.parametrize("people", [9, 60])
def test_a_yes_or_no_of_more_people_is_the_slow_one(people: int) -> None:
    found = levels(KRR(2, epsilon=1.0).parameters)
    assert found is not None
    form = YesNo(found, people, DELTA)
    for epsilon in (0.0, 0.1, 0.4, 0.8):
        slow = slow_yes_no(found, people, epsilon)
        assert form.delta(epsilon) - form.outside == pytest.approx(slow, abs=1e-12)


def test_crowds_that_share_a_place_are_on_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    found = levels(KRR(2, epsilon=1.0).parameters)
    assert found is not None
    fine = YesNo(found, 300, DELTA)
    monkeypatch.setattr("deniable.privacy.shuffling.yes_no_crowds._CROWDS", 40)
    coarse = YesNo(found, 300, DELTA)
    assert fine.looked_at_all
    assert not coarse.looked_at_all
    for epsilon in (0.05, 0.15, 0.25):
        assert fine.delta(epsilon) <= coarse.delta(epsilon) <= 1.5 * fine.delta(epsilon)
        assert coarse.attained(epsilon) <= fine.delta(epsilon)


@pytest.mark.parametrize("people", [100, 10**5])
def test_what_is_printed_says_how_near_it_is(people: int) -> None:
    one_bit = Rappor.basic(f=0.5, p=0.25, q=0.75)
    for mechanism in (KRR(2, epsilon=1.0), one_bit):
        found = shuffled(mechanism.parameters, people, 1e-8)
        assert found.bound == "yes or no"
        assert found.at_least is not None
        assert 0.99 * found.epsilon < found.at_least <= found.epsilon
    third = shuffled(KRR(3, epsilon=1.0).parameters, people, 1e-8)
    assert third.bound == ("every crowd" if people == 100 else "blanket")
    assert third.at_least is not None
    assert 0.99 * third.epsilon < third.at_least <= third.epsilon
    assert third.as_json()["at_least"] == third.at_least


def test_a_very_small_delta_has_the_blanket() -> None:
    """There Fourier transforms would not be exact enough."""
    found = shuffled(KRR(2, epsilon=1.0).parameters, 1_000, 1e-12)
    assert (found.bound, found.at_least) == ("blanket", None)
