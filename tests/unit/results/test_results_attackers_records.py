"""The second error bar of a question about records: a row per level, wide enough for the attack."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, estimate
from deniable.authoring import resolve
from deniable.crafted.cells import table_shift
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.mechanisms import mechanism_of
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Boolean,
    Categories,
    Field,
    Profile,
    ProfileParameters,
    Question,
)
from deniable.results.table import Table, as_text
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER

SHARE, PEOPLE = 0.02, 8_000
TRIPS = Profile(
    (
        Attribute("card", Boolean()),
        Attribute("zone", Categories(("inner", "outer", "airport"))),
        Attribute("night", Boolean()),
    )
)


def question(mechanism: str) -> Question:
    parameters = resolve(mechanism, {"epsilon": 1.5}, TRIPS, False)
    field = Field("value", TRIPS, parameters)
    return Question("trips", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))


def attacked(asked: Question, folder: Path, rng: np.random.Generator) -> Table:
    """Estimate reports of which a share says "inner", which nobody is."""
    (field,) = asked.fields
    parameters = field.parameters
    assert isinstance(parameters, ProfileParameters)
    mechanism = mechanism_of(field, False)
    codes = rng.integers(0, (2, 3, 2), size=(PEOPLE, 3))
    codes[:, 1] = np.maximum(codes[:, 1], 1)
    reports = mechanism.simulate(codes, rng)
    fake = mechanism.records(crafted_cells(parameters, (1,), (0,), round(SHARE * PEOPLE), rng))
    reports[: len(fake)] = fake
    with SqliteStore(folder / "data.sqlite3") as store:
        batch = Batch(asked.id, 1, asked.digest, 1)
        store.append_records(batch, reports.tobytes(), asked.record_size)
        (result,) = estimate(store, asked, Options(crafted=SHARE))
    return result


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_the_bar_contains_the_truth(
    mechanism: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    """The true share of "inner" is 0. Six more standard deviations are allowed for chance."""
    asked = question(mechanism)
    result = attacked(asked, tmp_path, rng)
    (row,) = (row for row in result.rows if row.value == "zone=inner")
    assert row.crafted_interval is not None
    low, high = row.crafted_interval
    LEDGER.add(1e-9)
    assert low - 6 * row.std_error <= 0 <= high + 6 * row.std_error
    parameters = asked.fields[0].parameters
    assert isinstance(parameters, ProfileParameters)
    assert row.interval[0] - low == pytest.approx(table_shift(parameters, (1,), SHARE))


def test_attributes_are_moved_differently(tmp_path: Path, rng: np.random.Generator) -> None:
    result = attacked(question("views"), tmp_path, rng)
    added = {
        row.value: row.interval[0] - (row.crafted_interval or (0, 0))[0] for row in result.rows
    }
    assert added["card=false"] == pytest.approx(added["card=true"])
    assert added["zone=airport"] > added["card=true"]
    assert "crafted" in as_text(result)
