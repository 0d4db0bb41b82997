"""Intervals are symmetric, are not clipped, and cover: also when devices report again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.ask.estimate import table_of
from deniable.ask.intervals import normal_intervals, repeat_factor
from deniable.engines.local import Accumulated
from deniable.mechanisms import Rappor
from deniable.protocol import Boolean, Field, Question
from deniable.protocol.epochs import date_of
from deniable.results.words import Z
from deniable.testing.statistics import accept, proportion, reject


def test_the_interval_is_1_96_standard_errors_on_each_side() -> None:
    low, high = normal_intervals(np.array([0.01, 0.99]), np.array([0.1, 0.1]))
    assert pytest.approx(1.959964, abs=1e-6) == Z
    assert low == pytest.approx([0.01 - 0.1 * Z, 0.99 - 0.1 * Z])
    assert high == pytest.approx([0.01 + 0.1 * Z, 0.99 + 0.1 * Z])
    assert low[0] < 0 < 1 < high[1]


def test_what_cannot_be_learned_has_no_interval() -> None:
    low, high = normal_intervals(np.array([math.nan]), np.array([math.nan]))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_the_factor_of_known_cases() -> None:
    assert repeat_factor([]) == 1
    assert repeat_factor([500]) == 1
    assert repeat_factor([100] * 9) == pytest.approx(3)
    assert repeat_factor([900, 100]) == pytest.approx((30 + 10) / math.sqrt(1000))


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50))
def test_the_factor_lies_between_1_and_the_root_of_the_epochs(counts: list[int]) -> None:
    assert 1 <= repeat_factor(counts) <= math.sqrt(len(counts)) * (1 + 1e-12)


def test_intervals_over_several_epochs_cover_although_noise_comes_back(
    rng: np.random.Generator,
) -> None:
    """Every device sends its permanent response itself, the same in each of four epochs.

    So the noise of the epochs is the same, the factor 2 is exact, and 95% are covered; intervals
    of as many independent reports cover 67%. alpha 1e-9, and the control misses with less.
    """
    mechanism = Rappor.basic(f=0.5, p=0.0, q=1.0)
    field = Field("value", Boolean(), mechanism.parameters)
    asked = Question("q", 1, "?", "us", date_of(30_000), 1, "epoch", "recorded", (field,))
    people, trials, scaled, plain = 2_000, 1_500, 0, 0
    codes = (np.arange(people) % 4 == 0).astype(np.int64)
    for _ in range(trials):
        once = mechanism.accumulate(mechanism.simulate(codes, rng))
        four = once.merge(once).merge(once.merge(once))
        epochs = dict.fromkeys(range(4), people)
        yes = table_of(Accumulated(asked, {"value": four}, epochs), field).rows[1]
        scaled += yes.interval[0] <= 0.25 <= yes.interval[1]
        plain += abs(yes.frequency - 0.25) <= Z * yes.std_error / 2
    accept(proportion(scaled, trials, 0.95, tolerance=0.01))
    reject(proportion(plain, trials, 0.95, tolerance=0.01), miss=1e-12)
