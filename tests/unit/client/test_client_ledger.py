"""The ledger on the disk says what composition says of the same life."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from deniable.client import ledger
from deniable.errors import RecordRefused
from deniable.protocol import Question, composition
from deniable.protocol.composition import Cost, device_cost, survey_cost
from deniable.protocol.epochs import day_number, epoch_of
from material.clients import COLOURS, Clock, a_field, question, strict, survey

TWO_STAGES: dict[str, object] = {"epsilon": 0.5, "epsilon_forever": 1.5}
BOTH = (a_field("kept", COLOURS, "krr", TWO_STAGES), a_field("fresh", COLOURS))
ASKED = (
    question("both", fields=BOTH, epoch=2),
    question("fresh", COLOURS, epoch=3),
    question("once", COLOURS, repeat="once"),
    question("same", COLOURS, repeat="permanent"),
)
DAYS = 12


def live(directory: Path, asked: tuple[Question, ...], values: int) -> dict[str, int]:
    """Record every day, another value in every epoch; return micros by question."""
    clock = Clock()
    client = strict(survey(*asked), directory, clock=clock)
    for _ in range(DAYS):
        for one in asked:
            epoch = epoch_of(day_number(clock.moment), one.epoch)
            colour = ("red", "green", "blue")[epoch % values]
            value = colour if len(one.fields) == 1 else {"kept": colour, "fresh": colour}
            with contextlib.suppress(RecordRefused):  # of "answered", which is asserted below
                client.record(one.id, value)
        clock.forward(days=1)
    assert {reason for _, reason in client.counters()} <= {"answered"}
    return {line.question: line.micros for line in client.disclosed().questions}


@pytest.mark.parametrize("values", [1, 2, 3])
def test_a_life_costs_what_composition_says(tmp_path: Path, values: int) -> None:
    found = live(tmp_path, ASKED, values)
    for asked in ASKED:
        first = day_number(Clock().moment)
        epochs = {epoch_of(first + day, asked.epoch) for day in range(DAYS)}
        assert found[asked.id] == device_cost(asked, len(epochs), values)
    assert sum(found.values()) <= survey_cost(ASKED, DAYS, values)


def test_another_version_costs_anew(tmp_path: Path) -> None:
    first, second = (question("same", COLOURS, repeat="permanent", version=v) for v in (1, 2))
    live(tmp_path, (first,), 2)
    found = live(tmp_path, (second,), 2)
    assert found["same"] == device_cost(first, DAYS, values=2, versions=2)


def test_the_ledger_charges_by_composition_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change in the one file of sums changes what a device pays: nothing is added up twice."""
    assert ledger.composition is composition
    monkeypatch.setattr(composition, "field_cost", lambda *_: Cost(7, per_value=False))
    assert live(tmp_path, ASKED[1:2], 1)["fresh"] in (4 * 7, 5 * 7)  # epochs that 12 days touch
