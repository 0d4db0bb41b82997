"""Bytes give the numbers that floats give, to rounding, with cohorts and one more answer or not."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable, associate, wide_fields
from deniable.associate.scores import score_statistic
from deniable.decode.mixture.packed_factor import PackedFactor
from deniable.decode.mixture.rows import Product
from deniable.kernels.byte_lines import byte_lines
from deniable.mechanisms import OUE
from deniable.mechanisms.packed import PackedAnswers, digit_values


def factor(
    rng: np.random.Generator, rows: int, base: int, cohorts: int, rest: bool
) -> PackedFactor:
    """Return a field of random bytes, whose digits have random likelihoods."""
    values, answers = digit_values(rng.random(base)), 7 + base
    width = -(-answers // values.shape[1])
    packed = rng.integers(0, len(values), (rows, width), np.uint8)
    own = rng.integers(0, cohorts, rows).astype(np.uint16) if cohorts > 1 else None
    wide = PackedAnswers(packed, values, rng.random((cohorts, answers)), own)
    return PackedFactor(wide, rng.random(rows) if rest else None)


@pytest.mark.parametrize("rows", [1, 20, 5_000])
@pytest.mark.parametrize("rest", [(False, False), (True, False), (False, True), (True, True)])
def test_a_product_of_bytes_is_that_of_floats(
    rng: np.random.Generator, rows: int, rest: tuple[bool, bool]
) -> None:
    one, two = factor(rng, rows, 2, 1, rest[0]), factor(rng, rows, 3, 4, rest[1])
    every = slice(None), slice(None)
    shares = np.full(rows, 1 / rows)
    packed = Product((one, two), shares, rows)
    plain = Product((one[every], two[every]), shares, rows)
    assert packed.sizes == plain.sizes
    assert packed.rows == plain.rows
    x, r = rng.random(packed.cells), rng.random(rows)
    np.testing.assert_allclose(packed.mixed(x), plain.mixed(x), rtol=1e-12)
    np.testing.assert_allclose(packed.pulled(r), plain.pulled(r), rtol=1e-12)
    np.testing.assert_allclose(packed.curvature(r), plain.curvature(r), rtol=1e-12)
    for place, size in enumerate(packed.sizes):
        alone, floats = packed.alone(place), plain.alone(place)
        np.testing.assert_allclose(alone.mixed(x[:size]), floats.mixed(x[:size]), rtol=1e-12)
        np.testing.assert_allclose(alone.pulled(r), floats.pulled(r), rtol=1e-12)
        np.testing.assert_allclose(alone.curvature(r), floats.curvature(r), rtol=1e-12)
    margins = [rng.dirichlet(np.ones(size)) for size in packed.sizes]
    assert score_statistic(packed, margins) == pytest.approx(
        score_statistic(plain, margins), rel=1e-6
    )


def test_lines_are_those_of_the_packed_answers(rng: np.random.Generator) -> None:
    wide = factor(rng, 300, 3, 5, False).wide
    assert wide.cohorts is not None
    found = byte_lines(wide.packed, wide.values, wide.scale, wide.cohorts)
    assert np.array_equal(found, wide.lines())


def test_an_association_of_two_wide_fields_is_the_same_by_bytes(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, codes = OUE(20, epsilon=1.0), rng.integers(0, 20, 6_000)
    fields = [Variable(name, mechanism, mechanism.simulate(codes, rng)) for name in ("one", "two")]
    floats, _ = associate(fields)
    monkeypatch.setattr(wide_fields, "_FLOATS", 1)
    assert wide_fields.wide_fields(fields) == [0, 1]
    bytes_, _ = associate(fields)
    np.testing.assert_allclose(bytes_.probability, floats.probability, atol=1e-9)
    np.testing.assert_allclose(bytes_.std_error, floats.std_error, rtol=1e-6)
    alike = [Variable(v.name, mechanism, np.repeat(v.reports[:50], 120)) for v in fields]
    assert wide_fields.wide_fields(alike) == [], "reports that are alike are counted instead"
