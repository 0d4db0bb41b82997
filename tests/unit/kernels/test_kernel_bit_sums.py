"""Bits added up in rows of memory, against unpacking every bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.kernels.bit_sums import sum_bits

Packed = NDArray[np.uint8]


def random_reports(n: int, bits: int, seed: int) -> Packed:
    rng = np.random.default_rng(seed)
    ones = rng.random((n, bits)) < rng.random()
    return np.packbits(ones, axis=1, bitorder="little")


def slow_sums(packed: Packed, bits: int) -> list[int]:
    """The twin: one report, one bit at a time."""
    table = [0] * bits
    for row in packed.tolist():
        for i in range(bits):
            table[i] += row[i // 8] >> (i % 8) & 1
    return table


@settings(max_examples=150, deadline=None)
@given(n=st.integers(0, 260), bits=st.integers(1, 700), seed=st.integers(0, 2**32))
def test_equal_to_the_slow_twin(n: int, bits: int, seed: int) -> None:
    packed = random_reports(n, bits, seed)
    assert sum_bits(packed, bits).tolist() == slow_sums(packed, bits)


@pytest.mark.parametrize("bits", [1, 8, 9, 64, 120, 256, 512, 513, 4_096])
def test_a_long_run_against_unpackbits(bits: int) -> None:
    packed = random_reports(2_000_003 // bits + 1, bits, bits)
    expected = np.unpackbits(packed, axis=1, bitorder="little", count=bits).sum(axis=0, dtype=int)
    assert (sum_bits(packed, bits) == expected).all()


@pytest.mark.parametrize("width", [1, 8, 24, 64, 96])
def test_planes_are_emptied_before_they_overflow(width: int) -> None:
    # 12 planes hold 4,095 rows of lcm(width, 64) bytes: three times as many, every bit set.
    packed = np.full((3 * 4_095 * np.lcm(width, 64) // width + 7, width), 255, dtype=np.uint8)
    assert (sum_bits(packed, 8 * width) == len(packed)).all()


@pytest.mark.parametrize("bits", [5, 64, 100, 256])
def test_reports_may_lie_apart_backwards_or_at_an_odd_address(bits: int) -> None:
    plain = random_reports(4_000, bits, 3)
    wide = np.full((len(plain), plain.shape[1] + 3), 255, dtype=np.uint8)
    wide[:, 2:-1] = plain
    expected = sum_bits(plain, bits).tolist()
    assert sum_bits(wide[:, 2:-1], bits).tolist() == expected
    assert sum_bits(plain[::-1], bits).tolist() == expected
    odd = np.frombuffer(b"x" + plain.tobytes(), dtype=np.uint8, offset=1).reshape(plain.shape)
    assert sum_bits(odd, bits).tolist() == expected


def test_the_reports_stay_as_they_were() -> None:
    packed = random_reports(5_000, 128, 6)
    before = packed.tobytes()
    sum_bits(packed, 128)
    assert packed.tobytes() == before


@pytest.mark.parametrize(("bits", "byte"), [(1, 2), (7, 128), (121, 2), (129, 2), (521, 4)])
def test_a_padding_bit_is_refused(bits: int, byte: int) -> None:
    packed = random_reports(50, bits, 8)
    packed[17, -1] |= byte
    with pytest.raises(InvalidReport, match="padding"):
        sum_bits(packed, bits)
