"""Fixed-size little-endian records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidReport
from deniable.protocol import Item, Layout

LAYOUT = Layout((Item("cohort", 2), Item("bits", 1, 3), Item("sign", 1), Item("seed", 4)))


def test_items_follow_each_other_little_endian_without_gaps() -> None:
    record = LAYOUT.pack({"cohort": 0x0102, "bits": b"abc", "sign": 255, "seed": 0x01020304})
    assert record.hex() == "0201" + "616263" + "ff" + "04030201"
    assert LAYOUT.size == len(record) == 10


@given(
    st.integers(0, 2**16 - 1),
    st.binary(min_size=3, max_size=3),
    st.integers(0, 255),
    st.integers(0, 2**32 - 1),
)
def test_unpacking_gives_back_what_was_packed(a: int, bits: bytes, c: int, d: int) -> None:
    values = {"cohort": a, "bits": bits, "sign": c, "seed": d}
    assert LAYOUT.unpack(LAYOUT.pack(values)) == values


@given(st.binary(max_size=30))
def test_only_the_declared_size_is_read(record: bytes) -> None:
    if len(record) == LAYOUT.size:
        assert LAYOUT.pack(LAYOUT.unpack(record)) == record
        return
    with pytest.raises(InvalidReport, match="10 bytes long") as caught:
        LAYOUT.unpack(record)
    assert caught.value.reason == "record"


def test_the_description_is_the_one_of_numpy() -> None:
    assert LAYOUT.descr == [
        ("cohort", "<u2"),
        ("bits", "u1", (3,)),
        ("sign", "<u1"),
        ("seed", "<u4"),
    ]
