"""A channel that is not what the encoder does is a finding, at every size and of every kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from deniable.audit.exact.proofs import prove_field
from deniable.authoring import resolve
from deniable.protocol import Answer, Categories, Domain, Field, Question, Strings
from deniable.protocol.channel import Own, Public

FEW, MANY = Categories(tuple("abc")), Categories(tuple(str(i) for i in range(300)))
CASES: list[tuple[str, Domain]] = [
    ("krr", FEW),
    ("krr", MANY),
    ("pgr", MANY),
    ("hadamard", MANY),
    ("olh", Strings()),
    ("hcms", Strings()),
    ("oue", MANY),
    ("subset", MANY),
    ("subset", FEW),
]
OTHER = "states another probability"
Change = Callable[[Own], Any]


def problems(mechanism: str, domain: Domain, change: Change | None) -> list[str]:
    """Return the faults that the proof names, with another own place in the channel."""
    parameters = resolve(mechanism, {"epsilon": 1.0}, domain, False)
    channel = parameters.channel
    if change is not None:

        def own(answer: Answer, public: Public) -> Own:
            return change(channel.own(answer, public))

        vars(parameters)["channel"] = replace(channel, own=own)
    field = Field("value", domain, parameters)
    asked = Question("q", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    return [proven.problem for proven in prove_field(asked, field, np.random.default_rng(3))]


@pytest.mark.parametrize(("mechanism", "domain"), CASES)
def test_our_channels_are_what_the_encoders_do(mechanism: str, domain: Domain) -> None:
    assert problems(mechanism, domain, None) == [""]


@pytest.mark.parametrize(("mechanism", "domain"), CASES)
def test_another_own_place_is_named(mechanism: str, domain: Domain) -> None:
    def other(own: Own) -> object:
        assert isinstance(own, int)
        if mechanism in ("hadamard", "hcms"):
            return -own
        return own << 1 if mechanism == "oue" else own ^ 1

    (problem,) = problems(mechanism, domain, other)
    # The proof of a large subset compares each set with its draws.
    assert OTHER in problem or "not the one that its draws say" in problem


@pytest.mark.parametrize(("mechanism", "domain"), [c for c in CASES if c != ("subset", MANY)])
def test_no_own_place_is_named(mechanism: str, domain: Domain) -> None:
    (problem,) = problems(mechanism, domain, lambda _: None)
    assert "gives an answer no own place" in problem
