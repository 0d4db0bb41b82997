"""The domain of profiles: from a mapping of values to codes and canonical bytes."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.protocol import ABSENT, Attribute, Boolean, Categories, Numbers, Profile
from deniable.protocol.domain_reading import domain_from_published

TRIP = Profile(
    (
        Attribute("toll", Boolean()),
        Attribute("kind", Categories(("a", "b", "é"))),
        Attribute("fare", Numbers(("0", "10"))),
    )
)
VALUE = {"fare": 10, "toll": True, "kind": "e\u0301"}


def test_an_answer_has_the_codes_of_every_attribute_in_order() -> None:
    answer = TRIP.answer(VALUE)
    assert answer.codes == (1, 2, 2)
    assert answer.key == b"r" + bytes.fromhex("010000000200000002000000")
    assert answer.code == -1
    assert answer.members == ()
    assert repr(answer) == "Answer(<hidden>)"


def test_shape() -> None:
    assert TRIP.names == ("toll", "kind", "fare")
    assert TRIP.answers == (2, 3, 3)
    assert TRIP.cells == 18
    assert TRIP.size is None
    assert TRIP.labels == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "type"),
        (["toll"], "type"),
        ({"toll": True, "kind": "a"}, "missing_field"),
        ({**VALUE, "colour": "red"}, "unknown_field"),
        ({**VALUE, "toll": 1}, "type"),
        ({**VALUE, "toll": ABSENT}, "type"),
        ({**VALUE, "kind": "secret name"}, "unknown_category"),
        ({**VALUE, "fare": float("nan")}, "not_a_number"),
    ],
)
def test_what_is_no_profile_is_refused_without_the_value(value: object, reason: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        TRIP.answer(value)
    assert caught.value.reason == reason
    assert "secret" not in str(caught.value)


def test_published_and_read_again() -> None:
    assert domain_from_published(TRIP.published()) == TRIP


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda listed: listed[:1], "list of 2 to 32"),
        (lambda listed: listed * 11, "list of 2 to 32"),
        (lambda listed: "abc", "list of 2 to 32"),
        (lambda listed: [*listed, listed[0]], "different names"),
        (lambda listed: [*listed, "far"], "object with a name, a domain"),
        (lambda listed: [*listed, {"name": "A", "domain": {"type": "boolean"}}], "must match"),
        (lambda listed: [*listed, {"name": "x", "domain": {"type": "strings"}}], "closed"),
        (lambda listed: [*listed, {"name": "x", "domain": TRIP.published()}], "closed"),
        (lambda listed: [*listed, {"name": "x", "domain": 7}], "must be an object"),
    ],
)
def test_what_no_survey_says_is_refused(change: Any, message: str) -> None:
    listed = TRIP.published()["attributes"]
    with pytest.raises(InvalidParameter, match=message):
        domain_from_published({"type": "profile", "attributes": change(listed)})
