from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest

from deniable.client.encoders.base import Draws
from deniable.errors import InvalidParameter
from deniable.privacy import channel, enumerate_outputs, paths_at_most, worst_ratio
from deniable.protocol.thresholds import ONE

THIRD = Fraction(1, 3)


def test_a_coin_has_two_outcomes() -> None:
    found = enumerate_outputs(lambda draws: draws.coin(3, bits=8))
    assert found == {True: Fraction(3, 256), False: Fraction(253, 256)}


def test_certain_coins_have_one_outcome() -> None:
    assert enumerate_outputs(lambda draws: draws.coin(0)) == {False: 1}
    assert enumerate_outputs(lambda draws: draws.coin(ONE)) == {True: 1}


def test_below_is_uniform() -> None:
    assert enumerate_outputs(lambda draws: draws.below(3)) == {0: THIRD, 1: THIRD, 2: THIRD}
    assert enumerate_outputs(lambda draws: draws.below(1)) == {0: 1}


def test_nothing_drawn_is_one_output() -> None:
    assert enumerate_outputs(lambda draws: "always") == {"always": 1}


def test_later_draws_may_depend_on_earlier_ones() -> None:
    def function(draws: Draws) -> int:
        return draws.below(draws.below(3) + 1)

    # 1/3 of {0}, 1/3 of {0, 1}, 1/3 of {0, 1, 2}
    assert enumerate_outputs(function) == {
        0: Fraction(11, 18),
        1: Fraction(5, 18),
        2: Fraction(1, 9),
    }


def test_weights_sum_to_one() -> None:
    def function(draws: Draws) -> tuple[bool, int, bool]:
        return draws.coin(12_345), draws.below(5), draws.coin(ONE - 1)

    found = enumerate_outputs(function)
    assert sum(found.values()) == 1
    assert len(found) == 20


def test_against_brute_force_over_all_words() -> None:
    """The slow twin: run the function on every pair of 4-bit words."""

    def function(draws: Draws) -> int:
        return draws.coin(5, bits=4) + 2 * draws.coin(11, bits=4)

    counts = dict.fromkeys(range(4), 0)
    for first in range(16):
        for second in range(16):
            counts[(first < 5) + 2 * (second < 11)] += 1
    assert enumerate_outputs(function) == {o: Fraction(n, 256) for o, n in counts.items()}


def test_other_randomness_is_noticed() -> None:
    state = count(1)
    with pytest.raises(InvalidParameter, match="nothing but its draws"):
        enumerate_outputs(lambda draws: draws.coin(next(state)))


def test_too_many_paths_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="more than 100 paths"):
        enumerate_outputs(lambda draws: draws.below(101), most_runs=100)
    assert len(enumerate_outputs(lambda draws: draws.below(100), most_runs=100)) == 100


def test_paths_are_counted() -> None:
    assert paths_at_most(lambda draws: draws.below(100), 100)
    assert not paths_at_most(lambda draws: draws.below(100), 99)


@pytest.mark.parametrize("threshold", [-1, ONE + 1])
def test_impossible_thresholds_are_refused(threshold: int) -> None:
    with pytest.raises(InvalidParameter, match="threshold"):
        enumerate_outputs(lambda draws: draws.coin(threshold))


@pytest.mark.parametrize("bound", [0, 2**32 + 1])
def test_impossible_bounds_are_refused(bound: int) -> None:
    with pytest.raises(InvalidParameter, match="bound"):
        enumerate_outputs(lambda draws: draws.below(bound))


def warner(answer: bool, draws: Draws) -> bool:
    return draws.coin(3 if answer else 1, bits=2)


def test_the_worst_ratio_of_a_channel() -> None:
    assert worst_ratio(channel(warner, [True, False])) == 3
    assert worst_ratio(channel(warner, [True])) == 1


def test_an_output_that_only_one_answer_has_is_infinitely_telling() -> None:
    assert worst_ratio({"a": {0: Fraction(1)}, "b": {1: Fraction(1)}}) is None
    half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert worst_ratio({"a": half, "b": {0: Fraction(1)}}) is None
