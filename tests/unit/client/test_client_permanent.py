"""repeat = "permanent": all reports of a value are one record, at the price of one epsilon."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.errors import RecordRefused
from deniable.protocol import Boolean, Categories, Domain, Question, Sets, Strings
from material.clients import BLOOM, COLOURS, Clock, a_field, question, strict, survey

SECRET = bytes(range(32))
MANY = Categories(tuple(f"c{i}" for i in range(60)))
TOOLS = Sets(("git", "vim", "ssh", "curl"), 2)


def permanent(domain: Domain, mechanism: str) -> Question:
    parameters = BLOOM if isinstance(domain, Strings) else {"epsilon": 1.0}
    return question("q", domain, mechanism, parameters, repeat="permanent")


ASKED = {
    "krr": (permanent(MANY, "krr"), "c7", "c8"),
    "rappor": (permanent(Strings(), "rappor"), "a", "b"),
    "oue": (permanent(MANY, "oue"), "c7", "c8"),
    "hadamard": (permanent(MANY, "hadamard"), "c7", "c8"),
    "subset": (permanent(MANY, "subset"), "c7", "c8"),
    "olh": (permanent(MANY, "olh"), "c7", "c8"),
    "set": (permanent(TOOLS, "olh"), ["git", "vim"], ["ssh"]),
}


class NoDraws:
    """Fresh draws that must not be drawn."""

    def coin(self, threshold: int, bits: int = 64) -> bool:
        raise AssertionError("a permanent report drew a fresh coin")

    def below(self, bound: int) -> int:
        raise AssertionError("a permanent report drew a fresh number")


@pytest.mark.parametrize("name", ASKED)
def test_records_of_one_value_are_identical_and_draw_nothing_fresh(name: str) -> None:
    asked, one, other = ASKED[name]
    first = encode(asked, one, SECRET, NoDraws())
    assert encode(asked, one, SECRET, NoDraws()) == first
    asked.check_record(first)
    others = {
        encode(asked, other, SECRET, NoDraws()),
        *(encode(asked, one, bytes([i]) * 32, NoDraws()) for i in range(8)),
    }
    assert others != {first}  # another value, or another device, has draws of its own


@pytest.mark.parametrize("name", ASKED)
def test_asked_every_epoch_the_same_mechanism_draws_afresh(name: str) -> None:
    """The negative control: without "permanent", records of one value differ."""
    asked, one, _ = ASKED[name]
    fresh = question(
        "q", asked.fields[0].domain, fields=asked.fields, repeat="epoch", version=asked.version
    )
    draws = SystemDraws()
    assert len({encode(fresh, one, SECRET, draws) for _ in range(60)}) > 1


def test_the_ledger_charges_each_value_once(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("colour", COLOURS, "krr", {"epsilon": 1.0}, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock)
    totals = []
    for value in ("red", "red", "blue", "red", "blue"):
        client.record("colour", value)
        totals.append(client.disclosed().questions[0].micros)
        clock.forward(days=1)
    once = asked.epsilon_once
    assert totals == [once, once, 2 * once, 2 * once, 2 * once]
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers) == (5, 2)
    assert asked.epsilon_forever == once


def test_records_in_the_outbox_are_identical_but_for_their_ids(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("many", MANY, "subset", {"epsilon": 0.5}, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock)
    for _ in range(4):
        client.record("many", "c3")
        clock.forward(days=1)
    reports = client.pending()
    assert len({report.record for report in reports}) == 1
    assert len({report.id for report in reports}) == len({r.epoch for r in reports}) == 4


def test_an_epoch_has_one_report_and_the_ceiling_holds(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("colour", COLOURS, "krr", {"epsilon": 1.0}, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock, ceiling=1.5)
    client.record("colour", "red")
    with pytest.raises(RecordRefused) as caught:
        client.record("colour", "red")
    assert caught.value.reason == "answered"
    clock.forward(days=1)
    with pytest.raises(RecordRefused) as caught:
        client.record("colour", "blue")
    assert caught.value.reason == "ceiling"
    client.record("colour", "red")  # paid for already
    assert client.disclosed().epsilon == 1.0


def test_each_field_is_charged_by_itself(tmp_path: Path) -> None:
    clock = Clock()
    fields = (
        a_field("flag", Boolean(), "oue", {"epsilon": 0.5, "epsilon_forever": 3.0}),
        a_field("colour", COLOURS, "hadamard", {"epsilon": 0.25}),
    )
    asked = question("both", fields=fields, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock)
    flag, colour = (field.parameters.epsilon_once for field in fields)
    totals = []
    for value in ((True, "red"), (True, "blue"), (False, "blue"), (True, "red")):
        client.record("both", dict(zip(("flag", "colour"), value, strict=True)))
        totals.append(client.disclosed().questions[0].micros)
        clock.forward(days=1)
    whole = flag + colour
    assert totals == [whole, whole + colour, 2 * whole, 2 * whole]


def test_a_set_is_one_value_whatever_the_order_of_its_members(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("tools", TOOLS, "krr", {"epsilon": 1.0}, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock)
    for value in (["git", "vim"], {"vim", "git"}, ("git", "git", "vim"), []):
        client.record("tools", value)
        clock.forward(days=1)
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers) == (4, 2)
    for bad, reason in (
        (["git", "vim", "ssh"], "too_many"),
        (["emacs"], "unknown_category"),
        ("git", "type"),
        ([1], "type"),
    ):
        with pytest.raises(RecordRefused) as caught:
            client.record("tools", bad)
        assert caught.value.reason == reason
        assert "emacs" not in str(caught.value)
