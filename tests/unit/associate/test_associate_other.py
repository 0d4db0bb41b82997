from __future__ import annotations

import itertools

import numpy as np
import pytest

from deniable.associate import Variable
from deniable.associate.other import PROFILES, fit_of_bits, other_likelihood
from deniable.associate.profile_columns import _mixed_sets
from deniable.errors import InvalidParameter
from deniable.mechanisms import HCMS, OLH, ORR, PGR, Rappor
from deniable.mechanisms.drawn_bits import unlisted_bits
from material.associate_people import OPEN, STRINGS


def every_profile(mechanism: Rappor) -> np.ndarray:
    """Return all records of a mechanism of 4 bits and 2 cohorts."""
    records = np.zeros(32, dtype=mechanism.dtype)
    for place, (cohort, bits) in enumerate(itertools.product(range(2), range(16))):
        records[place] = (cohort, [bits])
    return records


def test_probabilities_of_all_records_sum_to_one(rng):
    tiny = Rappor(bits=4, hashes=1, cohorts=2, epsilon=1.0)
    reports = tiny.simulate(rng.integers(0, 5, 2_000), rng, [f"s{i}" for i in range(5)])
    variable = Variable("a", tiny, reports, ("s0", "s1"))
    for profile in PROFILES:
        logs = other_likelihood(variable, profile)(every_profile(tiny), 0)
        # Halves have two profiles, one for the even places and one for the odd ones.
        total = 1.0 if profile != "halves" else pytest.approx(1.0, abs=0.2)
        assert np.exp(logs).sum() == pytest.approx(total)


def test_the_flat_profile_is_the_mean_over_hash_functions(rng):
    """The slow twin: the mean over all bits that two hash functions can choose."""
    tiny = Rappor(bits=4, hashes=2, cohorts=2, epsilon=6.0)
    variable = Variable("a", tiny, tiny.simulate([0] * 50, rng, STRINGS), STRINGS)
    pure, records = tiny.pure, every_profile(tiny)
    bits = np.unpackbits(records["bits"], axis=1, bitorder="little")[:, :4]
    expected = np.zeros(len(records))
    for chosen in itertools.product(range(4), repeat=2):
        one = np.where(np.isin(np.arange(4), chosen), pure.p, pure.q)
        expected += np.prod(np.where(bits == 1, one, 1 - one), axis=1) / 16 / 2
    assert np.allclose(np.exp(other_likelihood(variable, "flat")(records, 0)), expected)
    # Independent bits are another law: a report without a one is likelier.
    each = pure.q + pure.gap * (1 - (3 / 4) ** 2)
    assert (1 - each) ** 4 / 2 > 1.1 * expected[0]
    channel = tiny.parameters.channel.typical
    assert [float(channel.flat(value)) / 2 for value in range(16)] == pytest.approx(expected[:16])


@pytest.mark.parametrize("hashes", [1, 2, 3, 4])
def test_sets_of_bits_with_any_profile_are_a_law(hashes, rng):
    """Of an even profile it is the flat one; of any other its probabilities sum to 1."""
    tiny = Rappor(bits=4, hashes=hashes, cohorts=2, epsilon=4.0)
    records, pure = every_profile(tiny), tiny.pure
    ones = np.bitwise_count(records["bits"]).sum(axis=1, dtype=np.int64)
    alone = pure.q**ones * (1 - pure.q) ** (4 - ones) / 2
    even = alone * _mixed_sets(tiny, np.full((2, 4), pure.q + 0.1))(records)
    assert np.allclose(even, np.exp(unlisted_bits(4, hashes, pure)[ones]) / 2)
    uneven = alone * _mixed_sets(tiny, pure.q + rng.random((2, 4)) / 4)(records)
    assert uneven.sum() == pytest.approx(1)
    assert np.abs(uneven - even).max() > 0.001
    # One string that everybody holds: its bits, and no others.
    assert np.isfinite(np.log(_mixed_sets(tiny, np.eye(2, 4) * pure.gap + pure.q)(records))).all()


def test_a_fitted_profile_knows_the_string_that_nobody_listed(rng):
    mechanism = OPEN["bloom"]
    codes = rng.choice(2, 40_000, p=[0.6, 0.4])
    reports = mechanism.simulate(codes, rng, ["alpha", "hidden"])
    variable = Variable("a", mechanism, reports, ("alpha", "beta"))
    hidden = mechanism.likelihood(reports[:500], ["hidden"], log=True)[:, 0]
    apart = {
        profile: np.abs(other_likelihood(variable, profile)(reports[:500], 0) - hidden).mean()
        for profile in ("flat", "fitted", "peaks")
    }
    assert apart["fitted"] < 0.4 * apart["flat"]
    assert apart["peaks"] < 0.1 * apart["flat"]
    # The product of the heights of bits, as sets of them were taken before, is further away.
    fit = fit_of_bits(variable, mechanism)
    heights = fit.column(fit.peaks().profile)(reports[:500], 0)
    assert apart["peaks"] < np.abs(heights - hidden).mean()


def test_without_peaks_the_profile_is_flat(rng):
    mechanism = OPEN["bloom"]
    names = [*STRINGS, *(f"rare {number}" for number in range(400))]
    codes = np.where(rng.random(4_000) < 0.8, 0, rng.integers(3, 403, 4_000))
    reports = mechanism.simulate(codes, rng, names)
    variable = Variable("a", mechanism, reports, STRINGS)
    flat, peaks = (other_likelihood(variable, name)(reports, 0) for name in ("flat", "peaks"))
    assert np.allclose(flat, peaks)


def test_symbols_have_profiles_too(rng):
    mechanism = ORR(epsilon=2.0, symbols=4, cohorts=16)
    codes = rng.choice(2, 30_000, p=[0.6, 0.4])
    reports = mechanism.simulate(codes, rng, ["alpha", "hidden"])
    variable = Variable("a", mechanism, reports, ("alpha", "beta"))
    every = np.zeros(64, dtype=mechanism.dtype)
    every["cohort"], every["symbol"] = np.divmod(np.arange(64), 4)
    hidden = mechanism.likelihood(every, ["hidden"])[:, 0]
    found = np.exp(other_likelihood(variable, "fitted")(every, 0))
    assert found.sum() == pytest.approx(1)
    assert np.abs(found - hidden).max() < 0.25 * np.abs(1 / 64 - hidden).max()
    assert np.allclose(np.exp(other_likelihood(variable)(every, 0)), 1 / 64)


def test_other_mechanisms_have_the_mean_over_strings_nobody_holds(rng):
    olh = OLH(epsilon=1.0, seeds=4, symbols=3)
    local = Variable("a", olh, olh.simulate([0] * 5, rng, STRINGS), STRINGS)
    assert np.allclose(np.exp(other_likelihood(local)(local.reports, 0)), 1 / 12)
    points = PGR(epsilon=1.0, cohorts=2, points=50)
    drawn = Variable("a", points, points.simulate([0] * 50, rng, STRINGS), STRINGS)
    logs = other_likelihood(drawn)(drawn.reports, 0)
    table = points.likelihood(drawn.reports, STRINGS, log=True)
    assert np.all(logs > table.min() - 1e-9)
    assert np.all(logs < table.max() + 1e-9)


def test_of_a_sketch_it_is_the_mean_over_all_buckets(rng):
    hcms = HCMS(epsilon=1.0, rows=3, width=8)
    every = np.zeros(48, dtype=hcms.dtype)
    every["row"], rest = np.divmod(np.arange(48), 16)
    every["coefficient"], every["sign"] = np.divmod(rest, 2)
    sketch = Variable("a", hcms, every, STRINGS)
    found = np.exp(other_likelihood(sketch)(every, 0))
    assert found.sum() == pytest.approx(1)
    # Over strings enough every bucket of a row is met about equally often: 5,000 of them, eight
    # buckets. 0.1 is 14 standard deviations of the mean of the smaller probabilities.
    strings = [f"string {number}" for number in range(5_000)]
    mean = hcms.likelihood(every, strings).mean(axis=1)
    assert np.allclose(found, mean, rtol=0.1)
    assert not np.allclose(found, 1 / 48, rtol=0.1)


def test_no_mass_left_means_the_flat_profile(rng):
    mechanism = Rappor(bits=64, hashes=2, cohorts=2, epsilon=12.0)
    reports = mechanism.simulate(rng.integers(0, 3, 3_000), rng, STRINGS)
    variable = Variable("a", mechanism, reports, STRINGS)
    flat, fitted = (other_likelihood(variable, name)(reports, 0) for name in ("flat", "fitted"))
    assert flat.shape == fitted.shape
    assert np.isfinite(fitted).all()


def test_an_unknown_profile_is_refused(rng):
    mechanism = OPEN["bloom"]
    variable = Variable("a", mechanism, mechanism.simulate([0], rng, STRINGS), STRINGS)
    with pytest.raises(InvalidParameter, match="The 'profile' parameter"):
        other_likelihood(variable, "bumpy")
