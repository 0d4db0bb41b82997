"""The fast transform against the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.kernels.walsh import transform


def slow_transform(values: list[int]) -> list[int]:
    """The twin: the definition, entry by entry."""
    size = range(len(values))
    return [sum(values[b] * (-1) ** (a & b).bit_count() for b in size) for a in size]


@settings(max_examples=60, deadline=None)
@given(exponent=st.integers(0, 8), rows=st.integers(0, 3), seed=st.integers(0, 2**32))
def test_integers_equal_the_definition(exponent: int, rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-(10**9), 10**9, (rows, 2**exponent))
    expected = [slow_transform(row) for row in values.tolist()]
    assert transform(values) is values
    assert values.tolist() == expected


@pytest.mark.parametrize("exponent", [11, 12, 13, 14, 15])
def test_across_the_blocks_of_the_cache(exponent: int) -> None:
    values = np.zeros(2**exponent, dtype=np.int64)
    place = 2**exponent - 3
    values[place] = 1
    transform(values)
    row = [(-1) ** (place & b).bit_count() for b in range(2**exponent)]
    assert values.tolist() == row
    assert np.count_nonzero(transform(values)) == 1
    assert values[place] == 2**exponent


def test_floats() -> None:
    values = np.random.default_rng(1).normal(size=(4, 1024))
    twice = transform(transform(values.copy()))
    assert np.allclose(twice, 1024 * values, rtol=0, atol=1e-9)
    integers = np.arange(2048.0)
    assert transform(integers.copy()).tolist() == slow_transform(list(range(2048)))


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(3),
        np.zeros((2, 0)),
        np.zeros(4, dtype=np.float32),
        np.zeros((4, 4))[:, :2],
        np.frombuffer(bytes(32), dtype=np.float64),
        np.array(1.0),
    ],
    ids=["not a power of two", "empty", "32-bit", "not contiguous", "read-only", "a number"],
)
def test_what_cannot_be_transformed_in_place_is_refused(values: NDArray[np.float64]) -> None:
    with pytest.raises(InvalidParameter):
        transform(values)
