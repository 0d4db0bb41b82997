"""The second error bar of raw tables: in every form, and wide enough for the attack."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from deniable.audit.poison_records import crafted_cells
from deniable.engines.local import Accumulated
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.privacy.record_leverage import record_shift
from deniable.privacy.table_leverage import table_shift
from deniable.protocol import (
    MECHANISMS,
    RECORD_MECHANISMS,
    Attribute,
    Boolean,
    Categories,
    Field,
    Question,
    Record,
    RecordParameters,
)
from deniable.results.marginals import RecordReports
from deniable.results.marginals_tables import tables_view
from deniable.results.view import View, save_view, view_csv, view_json, view_text
from deniable.testing.ledger import LEDGER

SHARE, PEOPLE = 0.01, 20_000
TRIPS = Record(
    (
        Attribute("card", Boolean()),
        Attribute("zone", Categories(("inner", "outer", "airport"))),
        Attribute("night", Boolean()),
    )
)
CARD, ZONE = 1, 0
"""The cell that is attacked: card = true in the zone "inner"."""


def reports_of(mechanism: str, rng: np.random.Generator, people: int = PEOPLE) -> RecordReports:
    """Return reports of which 1% are crafted to push a cell that nobody is in."""
    parameters = MECHANISMS[mechanism].resolve({"epsilon": 1.5, "order": 2}, TRIPS, False)
    assert isinstance(parameters, RecordParameters)
    field = Field("value", TRIPS, parameters)
    asked = Question("trips", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    population = mechanism_of(field, False)
    codes = rng.integers(0, (2, 3, 2), size=(people, 3))
    codes[:, 0] *= codes[:, 1] != ZONE
    reports = population.simulate(codes, rng)
    liars = round(SHARE * people)
    fake = crafted_cells(parameters, (0, 1), (CARD, ZONE), liars, rng)
    reports[:liars] = population.records(fake)
    return RecordReports.of(
        Accumulated(asked, {"value": population.accumulate(reports)}, {1: people})
    )


def view_of(reports: RecordReports, names: list[str], share: float | None = SHARE) -> View:
    return tables_view(reports, [reports.table(names)], attackers=share)


@pytest.mark.parametrize("mechanism", RECORD_MECHANISMS)
def test_the_bar_contains_the_truth(mechanism: str, rng: np.random.Generator) -> None:
    """Nobody is in the cell. Seven more standard deviations are allowed for chance."""
    reports = reports_of(mechanism, rng)
    data = json.loads(view_json(view_of(reports, ["zone", "card"])))
    row = next(r for r in data["rows"] if r["values"] == {"zone": "inner", "card": "true"})
    (low, high), (narrow, _) = row["attacked_interval"], row["interval"]
    LEDGER.add(1e-11)
    assert low - 7 * row["std_error"] <= 0 <= high + 7 * row["std_error"]
    parameters = reports.mechanism.parameters
    assert narrow - low == pytest.approx(table_shift(parameters, (0, 1), SHARE))


@pytest.fixture(scope="module")
def reports() -> RecordReports:
    return reports_of("views", np.random.default_rng(1))


def test_every_form_says_it(reports: RecordReports, tmp_path: Path) -> None:
    view = view_of(reports, ["card", "zone"])
    assert view.data["attackers"] == SHARE
    text = view_text(view)
    assert "with 0.01 crafted" in text
    assert "Smoothed shares have no interval" in text
    rows = list(csv.DictReader(io.StringIO(view_csv(view).decode())))
    assert len(rows) == 6
    assert all(float(row["attacked_low"]) < float(row["low"]) for row in rows)
    assert all(float(row["attacked_high"]) > float(row["high"]) for row in rows)
    assert view.picture is not None
    drawn = json.dumps(view.picture().to_dict())
    assert '"attacked_low"' in drawn
    assert "pale band: with 0.01 crafted reports" in drawn
    save_view(view, tmp_path / "table.svg")
    save_view(view, tmp_path / "table.parquet")


def test_one_attribute_has_the_bar_of_estimate(reports: RecordReports) -> None:
    rows = json.loads(view_json(view_of(reports, ["zone"])))["rows"]
    shift = record_shift(reports.mechanism.parameters, 1, SHARE)
    assert len(rows) == 3
    for row in rows:
        assert row["interval"][0] - row["attacked_interval"][0] == pytest.approx(shift)


def test_each_of_many_tables_has_its_own_bar(reports: RecordReports) -> None:
    view = tables_view(reports, reports.tables(2), "raw", attackers=SHARE)
    data = json.loads(view_json(view))
    added = [
        table["rows"][0]["interval"][0] - table["rows"][0]["attacked_interval"][0]
        for table in data["tables"]
    ]
    parameters = reports.mechanism.parameters
    pairs = ((0, 1), (0, 2), (1, 2))
    assert added == pytest.approx([table_shift(parameters, pair, SHARE) for pair in pairs])
    assert added[0] > added[1]
    assert "each way, or less" in view.notes[-1]


def test_nothing_is_added_where_nobody_asked(reports: RecordReports) -> None:
    view = view_of(reports, ["card", "zone"], None)
    assert "attackers" not in view.data
    assert "crafted" not in view_text(view)
    assert not any("attacked" in name for name in view.records[0])
    assert view.picture is not None
    assert "pale band" not in json.dumps(view.picture().to_dict())


def test_a_table_that_nobody_reported_on_has_no_bar(rng: np.random.Generator) -> None:
    view = view_of(reports_of("inp_ht", rng, people=3), ["card", "zone"])
    data = json.loads(view_json(view))
    assert data["rows"][0]["raw"] is None
    assert "attacked_interval" not in data["rows"][0]
    assert "n/a" in view_text(view)
    assert view.records[0]["attacked_low"] is None


@pytest.mark.parametrize("share", [-0.01, 2.0, float("nan")])
def test_wrong_shares_are_refused(reports: RecordReports, share: float) -> None:
    with pytest.raises(InvalidParameter, match="'attackers' parameter"):
        view_of(reports, ["card"], share)


def test_only_raw_shares_of_all_people_have_a_bar(reports: RecordReports) -> None:
    table = [reports.table(["card", "zone"])]
    with pytest.raises(InvalidParameter, match="raw shares of all people"):
        tables_view(reports, table, "smoothed", attackers=SHARE)
    with pytest.raises(InvalidParameter, match="raw shares of all people"):
        tables_view(reports, table, given={"zone": None}, attackers=SHARE)
