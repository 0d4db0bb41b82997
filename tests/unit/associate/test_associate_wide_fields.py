from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable, associate, independence
from deniable.associate.fields import field_rows
from deniable.associate.independence import independence_of_patterns
from deniable.associate.joint import joint_of_patterns, marginal_fits
from deniable.associate.other import DEFAULT_PROFILE, PROFILES
from deniable.associate.patterns import patterns_of
from deniable.associate.wide_fields import wide_field
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.rows import Product
from deniable.errors import InvalidParameter
from deniable.mechanisms import HCMS, KRR, OLH, OUE, PGR, Rappor, Subset

N = 90_000
WIDE = {
    "basic": Rappor.basic(60, epsilon=3.0),
    "oue": OUE(60, epsilon=3.0),
    "subset": Subset(60, epsilon=2.0),
    "permuted": Rappor.permuted(60, bits=32, hashes=2, cohorts=8, epsilon=3.0),
    "bloom": Rappor(bits=32, hashes=2, cohorts=8, epsilon=4.0),
    "olh": OLH(epsilon=2.0),
    "hcms": HCMS(epsilon=2.0),
    "bloom of three": Rappor(bits=64, hashes=3, cohorts=4, epsilon=4.0),
}
STRINGS = tuple(f"word {number}" for number in range(60))


def fields(rng, kind="basic", n=N, wide_first=True):
    """A wide field, and a narrow one that says yes for most of its even answers."""
    x = rng.integers(0, 60, n)
    y = np.where(rng.random(n) < 0.7, x % 2, 1 - x % 2)
    narrow = KRR(2, epsilon=2.0)
    strings = STRINGS if WIDE[kind].hashed else None
    listed = strings and strings[:55]
    found = [
        Variable("wide", WIDE[kind], WIDE[kind].simulate(x, rng, strings), listed),
        Variable("narrow", narrow, narrow.simulate(y, rng)),
    ]
    return found if wide_first else found[::-1]


def lines_of(variable, profile=DEFAULT_PROFILE):
    """The likelihoods of every report as floats."""
    rows = field_rows(variable, profile=profile)
    return rows.lines if rows.codes is None else rows.lines[:, rows.codes]


@pytest.mark.parametrize("kind", WIDE)
def test_bytes_have_the_likelihoods_of_their_reports(kind, rng):
    variables = fields(rng, kind)
    patterns = patterns_of(variables)
    assert isinstance(patterns, PackedProduct)
    cohorts = variables[0].reports["cohort"] if "cohort" in WIDE[kind].dtype.names else np.zeros(N)
    order = np.lexsort((variables[1].reports["symbol"], cohorts))
    expected = lines_of(variables[0])[:, order[::5_000]]
    found = patterns.dense().factors[0][:, ::5_000]
    scale = expected.max(axis=0) / found.max(axis=0)
    assert np.allclose(found * scale, expected, rtol=1e-11, atol=0)
    assert len(found) == (56 if WIDE[kind].hashed else 60)


@pytest.mark.parametrize("kind", ["basic", "bloom", "permuted"])
@pytest.mark.parametrize("wide_first", [True, False])
def test_results_are_those_of_floats(kind, wide_first, rng):
    variables = fields(rng, kind, wide_first=wide_first)
    patterns = patterns_of(variables)
    assert isinstance(patterns, PackedProduct)
    dense, size = patterns.dense(), len(variables[0 if wide_first else 1].categories)
    joint, test = associate(variables)
    same = joint_of_patterns(variables, dense)
    assert joint.probability.shape == ((size, 2) if wide_first else (2, size))
    assert joint.gap < 1e-6 * joint.n
    assert np.allclose(joint.probability, same.probability, rtol=0, atol=1e-7)
    assert np.allclose(joint.unbounded, same.unbounded, rtol=0, atol=1e-7)
    assert np.allclose(joint.std_error, same.std_error, rtol=1e-5)
    expected = independence_of_patterns(variables, dense, margins=marginal_fits(patterns))
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert test.dof == expected.dof == size - 1
    assert test.p_value < 1e-9


@pytest.mark.parametrize("profile", PROFILES)
def test_other_strings_have_every_profile_in_bytes_too(profile, rng):
    variables = fields(rng, "bloom")
    patterns = patterns_of(variables, profile=profile)
    assert isinstance(patterns, PackedProduct)
    order = np.lexsort((variables[1].reports["symbol"], variables[0].reports["cohort"]))
    lines = lines_of(variables[0], profile)[:, order[::4_999]]
    found = patterns.dense().factors[0][:, ::4_999]
    assert np.allclose(found[-1] / found[0], lines[-1] / lines[0], rtol=1e-10)


def test_the_moments_test_reads_bits_too(rng):
    variables = fields(rng)
    found = independence(variables, method="moments")
    dense = patterns_of(variables).dense()
    expected = independence_of_patterns(variables, dense, method="moments")
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)


def test_three_fields_are_tested_as_floats_are(rng):
    variables = fields(rng)
    third = Rappor.basic(epsilon=1.0)
    flags = Variable("flag", third, third.simulate(rng.integers(0, 2, N), rng))
    several = [variables[1], variables[0], flags]
    patterns = patterns_of(several)
    assert isinstance(patterns, PackedProduct)
    assert patterns.sizes == (2, 60, 2)
    margins = marginal_fits(patterns)
    tests = [
        independence_of_patterns(several, rows, margins=margins)
        for rows in (patterns, patterns.dense())
    ]
    assert tests[0].statistic == pytest.approx(tests[1].statistic, rel=1e-10)


def test_the_chunk_does_not_matter(rng):
    variables = fields(rng)
    one, two = patterns_of(variables), patterns_of(variables, chunk=777)
    assert isinstance(one, PackedProduct)
    assert isinstance(two, PackedProduct)
    assert np.array_equal(one.packed, two.packed)
    assert np.array_equal(one.others[0], two.others[0])


def test_few_reports_or_answers_and_other_answers_stay_floats(rng):
    wide, narrow = fields(rng)
    assert wide_field([narrow, wide]) == 1
    few = fields(rng, n=1_000)
    assert wide_field(few) is None
    short = Rappor.basic(10, epsilon=3.0)
    small = Variable("small", short, np.zeros(2**20, short.dtype))
    assert wide_field([small, small]) is None
    some = Variable("some", wide.mechanism, wide.reports, candidates=("0", "1", "2"))
    assert wide_field([some, narrow]) is None


def test_fields_that_do_not_group_keep_bytes_from_being_used(rng):
    wide, _ = fields(rng)
    filters = Rappor(bits=64, hashes=2, cohorts=16, epsilon=2.0)
    reports = filters.simulate(rng.integers(0, 2, N), rng, ("a", "b"))
    patterns = patterns_of([Variable("word", filters, reports, ("a",)), wide])
    assert isinstance(patterns, Product)
    assert patterns.sizes == (2, 60)


def test_records_that_occur_often_are_counted_instead(rng):
    _, narrow = fields(rng)
    points = PGR(60, epsilon=2.0)
    wide = Variable("wide", points, points.simulate(rng.integers(0, 60, N), rng))
    assert wide_field([wide, narrow]) is None
    patterns = patterns_of([wide, narrow])
    assert isinstance(patterns, Product)
    assert patterns.rows < 1_000


def test_bits_that_always_agree_are_named(rng):
    wide, narrow = fields(rng)
    reports = wide.reports.copy()
    reports["bits"][:, 0] &= 0b11110111
    reports["bits"][:, 0] |= (reports["bits"][:, 0] & 1) << 3
    same = Variable("wide", wide.mechanism, reports)
    with pytest.raises(InvalidParameter, match=r"'wide' cannot be told apart.*'0', '3'"):
        patterns_of([same, narrow])
