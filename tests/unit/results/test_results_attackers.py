"""The second error bar: in every form of a result, and wide enough for the attack."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.ask import Options, estimate
from deniable.ask.crafted_shares import with_crafted
from deniable.authoring import resolve
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.protocol import (
    Answer,
    Categories,
    Domain,
    Field,
    Question,
    Strings,
)
from deniable.protocol.domain import code_key, string_key
from deniable.results.charts.bars import key_lines
from deniable.results.table import Table, as_csv, as_json, as_text
from deniable.results.table import plain as plain_cell
from deniable.results.words.shares import in_words
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER

SCHEMA = Path(__file__).parents[3] / "spec/schemas/table.json"
STRINGS = ["target", "held", "third", "fourth"]
COLOURS = Categories(("target", "held", "third", "fourth"))
SHARE, PEOPLE = 0.05, 6_000
ONCE: dict[str, object] = {"epsilon": 1.0}
CASES: dict[str, tuple[Domain, str, dict[str, object]]] = {
    **{
        f"closed {name}": (COLOURS, name, ONCE)
        for name in ("krr", "oue", "pgr", "hadamard", "subset", "orr", "hcms", "rappor", "olh")
    },
    **{f"open {name}": (Strings(), name, ONCE) for name in ("orr", "pgr", "hcms", "rappor", "olh")},
    "the paper's": (
        Strings(),
        "rappor",
        {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75},
    ),
    "permuted": (COLOURS, "rappor", {"form": "permuted", "epsilon": 2.0}),
}


def question(domain: Domain, mechanism: str, wanted: dict[str, object]) -> Question:
    field = Field("value", domain, resolve(mechanism, wanted, domain, False))
    return Question("q", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))


def results(
    asked: Question, folder: Path, rng: np.random.Generator, share: float
) -> tuple[Table, Table]:
    """Estimate honest reports, and the same with crafted ones in the place of some."""
    (field,) = asked.fields
    open_alphabet = field.domain.size is None
    strings = STRINGS if open_alphabet else None
    mechanism = mechanism_for(field.parameters)
    codes = rng.integers(1, 4, size=PEOPLE)
    listed = strings
    if mechanism.hashed and not open_alphabet:
        from deniable.mechanisms.candidates import every_code

        reports = mechanism.simulate(codes, rng, every_code(4, False))
    else:
        reports = mechanism.simulate(codes, rng, listed)
    target = Answer(string_key("target")) if open_alphabet else Answer(code_key(0), 0)
    fake = mechanism.records(crafted_reports(field.parameters, target, round(share * PEOPLE), rng))
    mixed = reports.copy()
    mixed[: len(fake)] = fake
    found = []
    for name, data in (("honest", reports), ("mixed", mixed)):
        with SqliteStore(folder / f"{name}.sqlite3") as store:
            batch = Batch(asked.id, 1, asked.digest, 1)
            store.append_records(batch, data.tobytes(), asked.record_size)
            candidates = {"value": STRINGS} if open_alphabet else {}
            (result,) = estimate(store, asked, Options(candidates=candidates, crafted=share))
            found.append(result)
    return found[0], found[1]


def row_of(result: Table) -> tuple[float, float]:
    (row,) = (row for row in result.rows if row.value == "target")
    return row.frequency, row.std_error


@pytest.mark.parametrize("name", CASES)
def test_the_bar_contains_the_shift(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """The replaced honest reports add noise of their own: seven standard deviations of it.

    Other strings are fitted beside the target, as few as here widen leverage by less than that.
    """
    asked = question(*CASES[name])
    honest, attacked = results(asked, tmp_path, rng, SHARE)
    (before, error), (after, _) = row_of(honest), row_of(attacked)
    bound = leverage_of(asked.fields[0]).shift(SHARE)
    noise = 7 * error * np.sqrt(2 * SHARE)
    LEDGER.add(1e-11)
    assert after - before <= bound + noise
    assert after - before > 0.3 * bound  # the attack is real
    for row in attacked.rows:
        assert row.crafted_interval is not None
        low, high = row.crafted_interval
        assert low == pytest.approx(row.interval[0] - bound)
        assert high == pytest.approx(row.interval[1] + bound)


@pytest.fixture
def result(tmp_path: Path, rng: np.random.Generator) -> Table:
    return results(question(COLOURS, "krr", ONCE), tmp_path, rng, 0.01)[1]


def test_json_fits_its_schema(result: Table) -> None:
    data = json.loads(as_json(result))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert data["crafted"] == 0.01
    assert all(len(row["crafted_interval"]) == 2 for row in data["rows"])


def test_csv_has_both_ends(result: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(result).decode())))
    assert all(float(row["crafted_low"]) < float(row["low"]) for row in rows)
    assert all(float(row["crafted_high"]) > float(row["high"]) for row in rows)


def test_table_words_and_chart_say_it(result: Table) -> None:
    text = as_text(result, width=140)
    assert "with 0.01 crafted" in text
    assert "counts for up to" in text
    assert any("second intervals" in sentence for sentence in in_words(result).not_learned)
    assert "pale band: with 0.01 crafted reports" in key_lines(result)[0]
    drawn = json.dumps(result.chart().to_dict())
    assert '"field": "second_low"' in drawn


def test_nothing_is_added_where_nobody_asked(tmp_path: Path) -> None:
    asked = question(COLOURS, "krr", ONCE)
    with SqliteStore(tmp_path / "store.sqlite3") as store:
        (plain,) = estimate(store, asked)
        assert plain.as_json()["crafted"] is None
        assert "crafted" not in as_text(plain)
        (empty,) = estimate(store, asked, Options(crafted=0.1))
    assert [plain_cell(row.crafted_interval) for row in empty.rows] == [[None, None]] * 4
    with pytest.raises(InvalidParameter, match="crafted"):
        with_crafted(plain, asked.fields[0], 1.5)
