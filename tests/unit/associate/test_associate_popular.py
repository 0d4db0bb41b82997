"""Popular strings that nobody listed: which bits are theirs, and how likely sets of them are."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable
from deniable.associate.other import other_likelihood
from deniable.associate.popular import as_peaks, parted, shrunken, standing_out, step_of
from deniable.mechanisms import Rappor


def test_bits_stand_out_of_noise_and_of_each_other(rng):
    noise = np.full((8, 64), 0.01)
    off = noise * rng.standard_normal(noise.shape)
    off[3, 5] = 0.06
    assert np.argwhere(standing_out(off, noise)).tolist() == [[3, 5]]
    # Where strings make all bits differ by more than noise, that one is a bit like the others.
    assert not standing_out(off + 0.03 * rng.standard_normal(noise.shape), noise)[3, 5]


def test_heights_that_differ_by_their_errors_alone_are_one():
    heights, noise = np.array([0.9, 1.1, 1.0, 1.0]), np.full(4, 0.1)
    assert shrunken(heights, noise) == pytest.approx(np.ones(4))
    apart = shrunken(np.array([0.2, 0.2, 1.0, 1.0]), np.full(4, 0.01))
    assert apart == pytest.approx([0.2, 0.2, 1.0, 1.0], abs=0.001)
    assert shrunken(heights[:1], noise[:1]).tolist() == [0.9]


def test_a_peak_that_is_known_worse_is_told_by_the_others(rng):
    """Two strings in 256 cohorts of 16 bits; one bit in three has three times the error."""
    noise = np.where(rng.random((256, 16)) < 1 / 3, 0.3, 0.1)
    true = np.zeros((256, 16), dtype=bool)
    true[:, :2] = True
    off = np.where(true, 1.0, 0.0) + noise * rng.standard_normal(noise.shape)
    sure = standing_out(off, noise)
    chance = as_peaks(off, noise, sure)
    missed, now = (true & ~sure).sum(), (true & (chance < 1 / 2)).sum()
    assert missed > 80
    assert now < missed / 2
    assert (~true & (chance > 1 / 2)).sum() < 60
    # A chance is what it says: as many are peaks as it adds up to.
    assert chance.sum() == pytest.approx(true.sum(), abs=6 * np.sqrt((chance * (1 - chance)).sum()))


def test_bits_below_the_others_are_no_peaks(rng):
    noise = np.full((4, 32), 0.1)
    off = 0.1 * rng.standard_normal(noise.shape)
    off[:, 0], off[0, 5] = [0.6, 3.0, 1.0, 6.0], -5.0
    chance = as_peaks(off, noise, standing_out(off, noise))
    assert chance[0, 5] == 0
    assert (chance[:, 0] > 0.99).all()


def test_cohorts_have_as_many_people_with_popular_strings_as_one_another():
    heights = np.array([[0.30, 0.0], [0.36, 0.0], [0.33, 0.0]])
    part, _ = parted(heights, np.full((3, 2), 0.05), 1)
    assert part == pytest.approx([0.33, 0.33, 0.33], abs=1e-3)
    apart, _ = parted(heights, np.full((3, 2), 1e-4), 1)
    assert apart == pytest.approx([0.30, 0.36, 0.33], abs=1e-3)


def test_sets_are_of_the_bits_that_stand_out_where_they_are_enough():
    heights = np.array([[0.4, 0.4, 0.0, 0.0], [0.0, 0.4, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    part, weights = parted(heights, np.zeros_like(heights) + 1e-9, 2)
    assert part.tolist() == pytest.approx([0.4, 0.4, 0.0])
    assert weights[0] == pytest.approx([999, 999, 0, 0])
    # The other bit of the string is anywhere.
    assert weights[1] == pytest.approx([1.001 / 3, 999, 1.001 / 3, 1.001 / 3])
    assert np.ptp(weights[2]) == 0


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_with_a_popular_string_it_is_still_a_law(hashes, rng):
    tiny = Rappor(bits=16, hashes=hashes, cohorts=2, epsilon=4.0)
    codes = np.where(rng.random(8_000) < 0.5, 0, 1)
    variable = Variable("a", tiny, tiny.simulate(codes, rng, ["listed", "hidden"]), ("listed",))
    records = np.zeros(2**17, dtype=tiny.dtype)
    records["cohort"] = np.repeat([0, 1], 2**16)
    records["bits"] = np.tile(np.arange(2**16, dtype="<u2"), 2).view(np.uint8).reshape(-1, 2)
    flat, peaks = (other_likelihood(variable, name)(records, 0) for name in ("flat", "peaks"))
    assert np.exp(peaks).sum() == pytest.approx(1, abs=1e-3)
    assert np.abs(peaks - flat).max() > 0.1


def test_of_many_reports_a_part_tells_how_popular_strings_are():
    assert [step_of(n, 5) for n in (1_000, 65_536, 65_537, 10**6)] == [1, 1, 2, 4]
    # No more likelihoods than 32 megabytes hold.
    assert step_of(10**6, 100) == 24


def test_what_was_learned_is_learned_once(rng):
    mechanism = Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0)
    reports = mechanism.simulate(rng.integers(0, 2, 4_000), rng, ["listed", "hidden"])
    variable = Variable("a", mechanism, reports, ("listed",))
    assert other_likelihood(variable) is other_likelihood(variable)
    assert set(variable.learned) == {"peaks"}
