"""Imagined crowds of n-grams: their ends, their shapes, and what a large dictionary takes away."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.discover.ngrams.imagined_crowd import Imagined
from deniable.discover.ngrams.imagined_marginals import Place
from deniable.discover.ngrams.marginals import MOST_GRAMS
from deniable.mechanisms import NGrams
from deniable.protocol.ngrams import possible_grams

LETTERS = "abcdefgh"


def crowd(people: int, letters: str = LETTERS, epsilon: float = 6.0, **changes: int) -> Imagined:
    shape = {"length": 6, **changes}
    mechanism = NGrams(alphabet=letters, epsilon=epsilon, **shape)
    return Imagined(mechanism, len(letters), people, 0.1, 2_000)


SHAPES = [{}, {"step": 1}, {"n": 3}, {"n": 1, "grams": 3}, {"n": 6}, {"length": 5}, {"n": 4}]


@pytest.mark.parametrize("changes", SHAPES)
def test_many_people_find_all_and_few_find_nothing(changes: dict[str, int]) -> None:
    shares, rng = np.full(4, 0.2), np.random.default_rng(1)
    assert crowd(10**7, **changes).found(shares, rng).all()
    assert not crowd(100, **changes).found(shares, rng).any()


def test_frequent_strings_are_found_before_rare_ones() -> None:
    shares, rng = np.repeat([0.08, 0.02], [5, 20]), np.random.default_rng(2)
    found = np.mean([crowd(40_000, epsilon=5.0).found(shares, rng) for _ in range(20)], axis=0)
    assert found[:5].mean() > found[5:].mean() + 0.5


def test_more_strings_than_common_n_grams_cannot_all_be_found() -> None:
    """However many people: 40 n-grams of a place are common, of 80 strings that share few."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = crowd(10**9, letters, length=4).found(np.full(80, 1 / 80), np.random.default_rng(3))
    assert 0.1 < found.mean() < MOST_GRAMS / 80 + 0.1


def test_the_same_seed_gives_the_same_crowd() -> None:
    one, other = (
        crowd(40_000).found(np.full(20, 0.05), np.random.default_rng(4)) for _ in range(2)
    )
    assert one.tolist() == other.tolist()


def test_the_guess_falls_with_people() -> None:
    assert crowd(10**4).guess > crowd(10**5).guess > crowd(10**6).guess > 0


def test_crowds_are_fewer_where_they_take_longer() -> None:
    one = crowd(10**4, length=20)
    assert one.crowds(5) > one.crowds(12) > one.crowds(40) == 1
    assert one.crowds(40, 2) == 2


def test_the_first_look_keeps_what_stands_out_in_order() -> None:
    mechanism = NGrams(alphabet=LETTERS, length=6, epsilon=6.0)
    place = Place(mechanism.gram, 50_000.0, len(LETTERS), possible_grams(len(LETTERS), 2))
    texts = np.array([[0, 1], [2, 3], [0, 1], [4, 5]])
    look = place.look(texts, np.array([0.2, 0.15, 0.2, 1e-5]), 0.0, np.random.default_rng(5))
    assert look.holds[0] == look.holds[2] == 0
    assert look.holds[1] == 1
    assert look.holds[3] == -1
    assert look.grams[0].tolist() == [0, 1]
    assert look.shares[:2] == pytest.approx([0.4, 0.15])
    assert len(look.shares) == len(look.errors) == len(look.noise) == len(look.grams)


def test_what_a_place_of_a_large_dictionary_asks_for() -> None:
    """Half of the n-grams of a share pass where it is the limit times what the chosen ones take."""
    mechanism = NGrams(alphabet=LETTERS, length=12, n=5, epsilon=3.0)
    dictionary = possible_grams(len(LETTERS), 5)
    place = Place(mechanism.gram, 100_000.0, len(LETTERS), dictionary)
    tail = 299 / (dictionary - 1)
    z = float(stats.norm.pdf(stats.norm.isf(tail))) / tail
    taken = 1 + 299 / (128 * 64) * z**2
    deviation = math.sqrt(float(mechanism.gram.variance(1, 0.03)) / 100_000 / (1 - 300 / 8_192))
    limit = float(stats.norm.isf(0.05 / dictionary)) * deviation * taken
    rng, alone = np.random.default_rng(6), np.zeros((1, 5), dtype=np.int64)
    looks = [place.look(alone, np.array([limit]), 0.0, rng).holds[0] >= 0 for _ in range(400)]
    assert 0.35 < np.mean(looks) < 0.65
    assert taken > 1.25
