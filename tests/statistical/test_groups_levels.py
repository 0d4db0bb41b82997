"""The level of "no change", its power, and the coverage of pooled shares, over whole histories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pytest

from deniable._distributions import binomial_sf
from deniable.ask.intervals import overlap
from deniable.decode.lasting import NOTHING, Lasting, lasting_of
from deniable.decode.reading import Reading, read
from deniable.groups import change_over_epochs, compare_groups
from deniable.mechanisms import Counts, Mechanism
from deniable.mechanisms.base import Floats
from deniable.testing.statistics import Check, accept, proportion, reject
from material.histories import Crowd, groups_of, krr, rappor

HISTORIES = 4_000
SHARES = np.array([0.6, 0.3, 0.1])
RARE, FEW = np.array([0.97, 0.02, 0.01]), [300, 30, 30, 300, 30, 30]
EVEN, UNEQUAL = [800] * 8, [2_400, 240, 240, 2_400, 240, 240]


def at_most(hits: int, trials: int, level: float) -> Check:
    """Test that trials hit with a probability of at most `level`, one-sided and exact."""
    words = f"{hits} of {trials} hit with probability {level:.3g} at most"
    return Check(words, hits / trials, float(binomial_sf(hits - 1, trials, level)))


def rejections(crowd: Crowd, people: str, histories: int, rng: np.random.Generator) -> int:
    """Return in how many histories "no change" is rejected at 5%."""
    hits = 0
    for _ in range(histories):
        found = change_over_epochs(groups_of(crowd.mechanism, crowd.draw(rng)), people=people)
        assert found is not None
        hits += found.p_value < 0.05
    return hits


@pytest.mark.parametrize(
    ("mechanism", "sizes", "churn", "people", "shares"),
    [
        pytest.param(rappor(3), EVEN, 0.0, "unknown", SHARES, id="the same devices"),
        pytest.param(krr(3, 3.0), EVEN, 0.4, "unknown", SHARES, id="changing devices"),
        pytest.param(krr(3, 3.0), UNEQUAL, 0.1, "unknown", SHARES, id="unequal epochs"),
        pytest.param(krr(3, 2.0, 5.0), UNEQUAL, 0.0, "same", SHARES, id="the same, and said so"),
        pytest.param(krr(3, 5.0), FEW, 1.0, "new", RARE, id="rare answers of few people"),
        pytest.param(krr(3, 5.0), FEW, 0.0, "same", SHARES, id="few fresh coins"),
    ],
)
def test_no_change_is_rejected_in_one_of_twenty_histories_at_most(
    mechanism: Mechanism,
    sizes: Sequence[int],
    churn: float,
    people: str,
    shares: Floats,
    rng: np.random.Generator,
) -> None:
    """alpha 1e-9 each."""
    crowd = Crowd(mechanism, np.tile(shares, (len(sizes), 1)), sizes, churn)
    accept(at_most(rejections(crowd, people, HISTORIES, rng), HISTORIES, 0.05))


def test_calling_new_people_the_same_is_noticed(rng: np.random.Generator) -> None:
    """The control: with other people in every epoch, what is said to cancel does not."""
    crowd = Crowd(krr(3, 3.0), np.tile(SHARES, (8, 1)), EVEN, 1.0)
    reject(at_most(rejections(crowd, "same", 300, rng), 300, 0.05), miss=1e-12)


def test_a_change_of_eight_errors_is_seen_and_its_step_named(rng: np.random.Generator) -> None:
    """alpha 1e-9: 8 standard errors of the difference are 3 beyond the largest critical value."""
    mechanism, n = krr(3, 3.0), 2_000
    groups = groups_of(mechanism, Crowd(mechanism, np.tile(SHARES, (2, 1)), [n, n]).draw(rng))
    step = 8 * float(np.sqrt(2 * groups.variance[0, 0]))
    shares = np.tile(SHARES, (6, 1))
    shares[3:] += [-step, step, 0.0]
    crowd, seen = Crowd(mechanism, shares, [n] * 6, 1.0), 0
    for _ in range(200):
        found = change_over_epochs(groups_of(mechanism, crowd.draw(rng)))
        assert found is not None
        assert found.largest is not None
        seen += found.p_value < 0.05 and found.largest.epoch == 3
    accept(proportion(seen, 200, 0.995, tolerance=0.005))


@pytest.mark.parametrize("mechanism", [rappor(3), krr(3, 3.0)], ids=["rappor", "krr"])
@pytest.mark.parametrize("sizes", [[400] * 12, [2_000, 2_000, *[100] * 10]])
def test_pooled_intervals_cover_whoever_came_back(
    mechanism: Mechanism, sizes: list[int], rng: np.random.Generator
) -> None:
    """95% of the population's shares are covered; as if reports were independent, fewer are.

    alpha 1e-9 each; the controls of k-RR, whose sample's error is large, miss with less.
    """
    lasting, again, runs = lasting_of(mechanism.parameters), overlap(sizes), 600
    hits = naive = 0
    crowd = Crowd(mechanism, np.tile(SHARES, (len(sizes), 1)), sizes)
    for _ in range(runs):
        found = mechanism.estimate(reduce(Counts.merge, crowd.draw(rng)))
        low, high = read(found, _reading(again, lasting)).interval(0.05)
        hits += int(low[1] <= SHARES[1] <= high[1])
        low, high = read(found, _reading(1.0, NOTHING)).interval(0.05)
        naive += int(low[1] <= SHARES[1] <= high[1])
    accept(proportion(hits, runs, 0.965, tolerance=0.025))
    if lasting is NOTHING:
        reject(proportion(naive, runs, 0.965, tolerance=0.025), miss=1e-9)


def _reading(again: float, lasting: Lasting) -> Reading:
    return Reading(noise=1 + (again - 1) * lasting.ends[1], people=again, lasting=lasting)


def test_arms_that_do_not_differ_are_called_different_in_one_of_twenty(
    rng: np.random.Generator,
) -> None:
    """Level and control of comparing two groups of different people. alpha 1e-9."""
    mechanism, runs = krr(3, 2.0), 4_000
    tile = np.tile(SHARES, (2, 1))
    same = Crowd(mechanism, tile, [1_500, 700], 1.0)
    moved = Crowd(mechanism, tile + np.array([[0, 0, 0], [-0.15, 0.15, 0]]), [1_500, 700], 1.0)
    hits = sum(
        compare_groups(groups_of(mechanism, same.draw(rng))).overall < 0.05 for _ in range(runs)
    )
    accept(at_most(hits, runs, 0.05))
    seen = sum(
        compare_groups(groups_of(mechanism, moved.draw(rng))).overall < 0.05 for _ in range(200)
    )
    reject(at_most(seen, 200, 0.05), miss=1e-12)
