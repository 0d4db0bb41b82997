"""Declared members: read, written and checked as their declaration says."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import MECHANISMS, RapporParameters
from deniable.protocol.declared import (
    Declared,
    choice,
    encoded,
    many,
    power_of_two,
    threshold,
    whole,
)
from deniable.protocol.layout import Layout, number, packed

GOOD: list[tuple[Any, Any, Any]] = [
    (whole(2, 5), 5, 5),
    (power_of_two(2, 8), 8, 8),
    (threshold(), 2**64, "18446744073709551616"),
    (choice("a", "b"), "b", "b"),
    (many(whole(1, 9), 1, 3), (1, 1, 9), [1, 1, 9]),
    (many(threshold(), 0, 3), (), []),
    (encoded(), b"\x00\xff", "AP8"),
]
BAD: list[tuple[Any, Any]] = [
    (whole(2, 5), 6),
    (whole(2, 5), True),
    (power_of_two(2, 8), 6),
    (threshold(), 2**63),
    (choice("a", "b"), "c"),
    (many(whole(1, 9), 1, 3), []),
    (many(whole(1, 9), 1, 3), [1, 10]),
    (many(whole(1, 9), 1, 3, rising=True), [2, 2]),
    (encoded(), "AP8="),
]


@pytest.mark.parametrize(("declared", "value", "written"), GOOD)
def test_what_is_written_is_read_again(declared: Declared, value: object, written: object) -> None:
    assert declared.write(value) == written
    assert declared.read("x", "y", written) == value
    declared.check("x", "y", value)


@pytest.mark.parametrize(("declared", "written"), BAD)
def test_what_cannot_be_written_is_not_read(declared: Declared, written: object) -> None:
    with pytest.raises(InvalidParameter, match="'x'"):
        declared.read("x", "y", written)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_member_of_every_mechanism_is_declared(name: str) -> None:
    members = MECHANISMS[name].members_declared()
    assert members
    assert all(isinstance(each, Declared) for each in members.values())


def test_a_member_with_a_default_is_published_only_where_it_has_another_value() -> None:
    basic = RapporParameters("basic", 3, 1, 1, 2**64, 0, 2**63, 2**62)
    assert "members" not in basic.published()
    with pytest.raises(InvalidParameter, match="members"):
        RapporParameters.from_published({**basic.published(), "members": 0})
    with pytest.raises(InvalidParameter, match="answers"):
        RapporParameters.from_published({**basic.published(), "answers": 3})


def test_a_layout_refuses_what_no_client_packs() -> None:
    layout = Layout((number("symbol", 5), packed("bits", 11)))
    assert layout.check(b"\x04\xff\x07") == {"symbol": 4, "bits": b"\xff\x07"}
    with pytest.raises(InvalidReport, match="symbol must be below 5"):
        layout.check(b"\x05\x00\x00")
    with pytest.raises(InvalidReport, match="padding"):
        layout.check(b"\x00\x00\x08")
