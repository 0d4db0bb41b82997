"""Coins for simulation: thresholds of every kind, and ties resolved by the lower bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms.coins import coins, nearest_threshold
from deniable.protocol.thresholds import ONE
from deniable.testing.power import miss_proportion
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9


@pytest.mark.parametrize(("threshold", "expected"), [(0, 0), (ONE, 1000)])
def test_certain_coins(threshold: int, expected: int, rng: np.random.Generator) -> None:
    assert coins(rng, threshold, 1000).sum() == expected


def test_no_coins(rng: np.random.Generator) -> None:
    assert coins(rng, ONE // 3, 0).size == 0


@pytest.mark.parametrize("threshold", [1, 2**56, 2**56 - 1, 3 * 2**55, ONE // 3, ONE - 1])
def test_coins_have_their_probability(threshold: int, rng: np.random.Generator) -> None:
    shown = int(coins(rng, threshold, 200_000).sum())
    accept(proportion(shown, 200_000, threshold / ONE), ALPHA)


def test_a_coin_decided_by_its_upper_byte_alone_is_rejected(rng: np.random.Generator) -> None:
    """At 1.5/256 the upper byte alone would give 1/256: the ties carry half as much again."""
    shown = int(coins(rng, 3 * 2**55, 200_000).sum())
    miss = miss_proportion(1.5 / 256, 1 / 256, 200_000, ALPHA)
    assert miss < 1e-9
    reject(proportion(shown, 200_000, 1 / 256), ALPHA, miss=miss)


class Tied(np.random.Generator):
    """A generator whose bytes are always tied and whose further bits are given."""

    def __init__(self, byte: int, rest: int) -> None:
        super().__init__(np.random.PCG64(1))
        self._byte, self._rest = byte, rest

    def bytes(self, length: int) -> bytes:
        return bytes([self._byte]) * length

    def integers(self, *_: object, size: int, dtype: type, **__: object) -> np.ndarray:
        return np.full(size, self._rest, dtype=dtype)


@pytest.mark.parametrize(("rest", "shown"), [(41, True), (42, False), (43, False)])
def test_ties_compare_the_lower_56_bits_exactly(rest: int, shown: bool) -> None:
    assert coins(Tied(7, rest), (7 << 56) + 42, 3).tolist() == [shown] * 3


def test_nearest_threshold() -> None:
    assert nearest_threshold(Fraction(1, 2)) == ONE // 2
    assert nearest_threshold(Fraction(2, 3)) == (2 * ONE + 1) // 3
    assert nearest_threshold(Fraction(0)) == 0
    assert nearest_threshold(Fraction(1)) == ONE
