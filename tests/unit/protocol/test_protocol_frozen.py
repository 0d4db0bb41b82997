from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from functools import cached_property
from typing import ClassVar

import pytest

from deniable.protocol.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 2
    kind: ClassVar[str] = "point"

    @cached_property
    def total(self) -> int:
        return self.x + self.y


@frozen
class Named(Point):
    name: str = "p"

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@frozen
class Hidden:
    secret: str

    def __repr__(self) -> str:
        return "Hidden"


@dataclass(frozen=True)
class Twin:
    x: int
    y: int = 2
    name: str = "p"


def test_it_is_made_as_a_dataclass_is():
    for values, named in (
        ((1,), {}),
        ((1, 3, "q"), {}),
        ((1,), {"name": "r"}),
        ((), {"x": 5}),
        ((1, 3), {}),
    ):
        ours, theirs = Named(*values, **named), Twin(*values, **named)
        assert (ours.x, ours.y, ours.name) == (theirs.x, theirs.y, theirs.name)
        assert repr(ours) == repr(theirs).replace("Twin", "Named")
        assert [f.name for f in fields(ours)] == [f.name for f in fields(theirs)]


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((), {"y": 1})],
)
def test_it_refuses_the_arguments_that_a_dataclass_refuses(values, named):
    for cls in (Named, Twin):
        with pytest.raises(TypeError):
            cls(*values, **named)


def test_values_are_equal_by_class_and_fields_and_hash_so():
    assert Point(1) == Point(1, 2) != Point(1, 3)
    assert Point(1) != Named(1)
    assert Point(1) != (1, 2)
    assert len({Point(1), Point(1, 2), Point(2)}) == 2


def test_nothing_can_be_assigned_or_deleted_but_a_cached_property_works():
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert point.total == 3
    assert point == Point(1)
    assert point.x == 1


def test_construction_ends_with_post_init_also_when_replaced():
    with pytest.raises(ValueError, match="no name"):
        Named(1, name="")
    assert replace(Named(1), x=7) == Named(7)
    with pytest.raises(ValueError, match="no name"):
        replace(Named(1), name="")


def test_it_can_be_copied_pickled_and_matched():
    assert copy.deepcopy(Named(4)) == pickle.loads(pickle.dumps(Named(4))) == Named(4)  # noqa: S301
    match Point(8):
        case Point(x, y):
            assert (x, y) == (8, 2)


def test_what_the_class_writes_itself_stays():
    assert repr(Hidden("true value")) == "Hidden"
    assert Point.kind == "point"
    assert "kind" not in Point.__match_args__
