"""What people who report again do to intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.ask.estimate import table_of
from deniable.ask.intervals import overlap
from deniable.ask.options import Options
from deniable.engines.accumulated import Accumulated
from deniable.mechanisms import Rappor
from deniable.protocol import Boolean, Field, Question
from deniable.protocol.epochs import date_of
from deniable.results.words.shares import Z
from deniable.testing.statistics import accept, proportion, reject


def test_the_overlap_of_known_cases() -> None:
    assert overlap([]) == 1
    assert overlap([500]) == 1
    assert overlap([100] * 9) == pytest.approx(9)
    # min over all pairs: 900 + 100 + 2 * 100.
    assert overlap([900, 100]) == pytest.approx(1_200 / 1_000)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50))
def test_the_overlap_is_the_sum_of_the_smaller_of_all_pairs(counts: list[int]) -> None:
    slow = sum(min(one, two) for one in counts for two in counts) / sum(counts)
    assert overlap(counts) == pytest.approx(slow)
    assert 1 <= overlap(counts) <= len(counts) * (1 + 1e-12)


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
        counted = Accumulated(asked, {"value": four}, epochs)
        yes = table_of(counted, field, options=Options(of="reporters")).rows[1]
        scaled += yes.interval[0] <= 0.25 <= yes.interval[1]
        plain += abs(yes.frequency - 0.25) <= Z * yes.std_error / 2
    accept(proportion(scaled, trials, 0.95, tolerance=0.01))
    reject(proportion(plain, trials, 0.95, tolerance=0.01), miss=1e-12)
