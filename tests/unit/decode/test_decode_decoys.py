from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode import decoys
from deniable.decode.decoys import PER_CANDIDATE, Tail, added_evidence, decoy_tail
from deniable.decode.design import Shape
from deniable.decode.regression import Regression

SHAPE = Shape(cohorts=8, bits=32, hashes=2)


def fitted(rng: np.random.Generator, candidates: int = 5) -> Regression:
    design = SHAPE.random(candidates, rng)
    return Regression.of(rng.normal(size=design.rows), np.ones(design.rows), design)


def test_inside_the_sample_p_values_count_the_decoys_that_reach_it():
    tail = Tail(1_000, np.sort(np.linspace(2.0, 3.0, 50)))
    for z in (2.0, 2.005, 2.31, 2.75):
        reach = int(np.sum(tail.largest >= z))
        assert tail.p_values(np.array([z]))[0] == pytest.approx((1 + reach) / 1001)


def test_below_the_tail_decoys_say_nothing():
    tail = Tail(1_000, np.linspace(2.0, 3.0, 50))
    assert np.array_equal(tail.p_values(np.array([-5.0, 0.0, 1.99])), [0, 0, 0])


def test_p_values_never_grow_with_the_score(rng):
    tail = Tail(20_000, np.sort(rng.normal(size=20_000))[-1_000:])
    z = np.linspace(tail.largest[0], 12, 5_000)
    assert (np.diff(tail.p_values(z)) <= 1e-15).all()


def test_beyond_the_sample_normal_scores_get_p_values_that_are_not_too_small():
    # The quantiles of a normal sample without its randomness.
    total = 20_000
    z = stats.norm.isf((np.arange(1_000, 0, -1) - 0.5) / total)
    beyond = np.array([4.5, 5.0, 6.0])
    assert (Tail(total, z).p_values(beyond) > stats.norm.sf(beyond)).all()
    assert (Tail(total, z).p_values(beyond) < 1e-4).all()


def test_the_tail_is_that_of_scoring_every_decoy(rng):
    part = fitted(rng)
    tail = decoy_tail((part,), SHAPE, 5, np.random.default_rng(7))
    assert tail is not None
    z = added_evidence((part,), SHAPE.random(tail.total, np.random.default_rng(7))).z
    assert np.allclose(tail.largest, np.sort(z)[-tail.largest.size :])
    assert tail.largest.size == int(0.05 * tail.total)


def test_rough_and_exact_scores_give_one_tail(rng, monkeypatch):
    part = fitted(rng, 40)
    exact = decoy_tail((part,), SHAPE, 5, np.random.default_rng(7))
    monkeypatch.setattr(decoys, "_EXACT_WORK", 0)
    rough = decoy_tail((part,), SHAPE, 5, np.random.default_rng(7))
    assert exact is not None
    assert rough is not None
    assert rough.total == exact.total
    assert np.allclose(rough.largest[-100:], exact.largest[-100:])


def test_there_are_at_least_twenty_decoys_per_candidate(rng):
    part = fitted(rng)
    tail = decoy_tail((part,), SHAPE, 3_000, np.random.default_rng(1))
    assert tail is not None
    assert tail.total >= PER_CANDIDATE * 3_000


def test_two_parts_add_their_evidence(rng):
    first, second = fitted(rng), fitted(rng)
    more = SHAPE.random(3, rng)
    both = added_evidence((first, second), more)
    expected = first.evidence(more) + second.evidence(more)
    assert np.array_equal(both.score, expected.score)
    assert np.array_equal(both.information, expected.information)


def test_a_design_without_room_has_no_decoys():
    shape = Shape(cohorts=1, bits=2, hashes=1)
    design = shape.design(np.array([[[0]]]))
    part = Regression.of(np.array([0.3, 0.7]), np.ones(2), design)
    assert decoy_tail((part,), shape, 1, np.random.default_rng(1)) is None
