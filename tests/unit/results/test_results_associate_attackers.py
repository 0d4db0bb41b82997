"""The second interval of a joint table: in every form of an association, and around the truth."""

from __future__ import annotations

import csv
import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.ask import Options, associate
from deniable.crafted.reports import crafted_reports
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.records import join_records
from deniable.protocol import Answer, Question
from deniable.protocol.domain import code_key
from deniable.results.table import Column, Columns, Row, Table, as_arrow, as_text
from deniable.results.table.files import file_columns, render
from deniable.results.words.association import association_words, crafted_sentence
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER
from material.associations import BROWSERS, dependent, several

PEOPLE, SHARE, FIELDS = 6_000, 0.03, ["dark", "size"]
SCHEMA = Path(__file__).parents[3] / "spec" / "schemas" / "table.json"


def published(
    asked: Question,
    folder: Path,
    seed: int,
    liars: int,
    crafted: float | None,
    fields: list[str] | None = None,
) -> Table:
    """Return the association of a crowd whose first reports are made for dark and small."""
    rng = np.random.default_rng(seed)
    codes, reports = dependent(PEOPLE, rng), {}
    for field in asked.fields:
        mechanism = mechanism_of(field, asked.absent)
        names = list(BROWSERS) if field.domain.size is None else None
        listed = every_code(3, False) if field.name == "size" else names
        column = mechanism.simulate(codes[field.name], rng, listed)
        target = {"dark": 1, "size": 0}.get(field.name)
        if liars and target is not None:
            fake = crafted_reports(field.parameters, Answer(code_key(target), target), liars, rng)
            column[:liars] = mechanism.records(fake)
        reports[field.name] = column
    with SqliteStore(folder / f"{seed}-{liars}.sqlite3") as store:
        batch = Batch(asked.id, asked.version, asked.digest, 20_000)
        store.append_records(batch, join_records(asked, reports), asked.record_size)
        named = {"browser": BROWSERS[:2]} if fields else {}
        return associate(
            store, asked, Options(fields=fields or FIELDS, candidates=named, crafted=crafted)
        )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Question:
    return several(tmp_path_factory.mktemp("attacked"))


@pytest.fixture(scope="module")
def attacked(asked: Question, tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("store")
    return published(asked, folder, 4, round(SHARE * PEOPLE), SHARE)


def test_what_honest_reports_say_lies_within(
    asked: Question, attacked: Table, tmp_path: Path
) -> None:
    """By the plain interval it would not: 3% of the reports move the cell by far more than noise.

    The second interval is wider than the shift by two standard errors; the honest reports that
    were replaced are random, and move the cell by a quarter of one.
    """
    honest = published(asked, tmp_path, 4, 0, None)
    place = [row.cells[:2] for row in honest.rows].index(("true", "small"))
    truth, cell = honest.rows[place].probability, attacked.rows[place]
    assert cell.interval[0] > truth
    assert cell.crafted_interval is not None
    LEDGER.add(1e-11)
    assert cell.crafted_interval[0] <= truth <= cell.crafted_interval[1]


def test_intervals_are_widened_and_cut(attacked: Table) -> None:
    for row in attacked.rows:
        (low, high), (least, most) = row.interval, row.crafted_interval
        assert 0 <= least <= low
        assert high <= most <= 1
        assert least == 0 or low - least > 0.01


def test_shares_odds_and_tests_of_the_honest_lie_within(
    asked: Question, attacked: Table, tmp_path: Path
) -> None:
    """The crafted reports make the two go together far more than they do."""
    honest = published(asked, tmp_path, 4, 0, None)
    for what in ("conditional", "reverse", "odds_ratio"):
        LEDGER.add(1e-11)
        for found, truth in zip(attacked.rows, honest.rows, strict=True):
            low, high = found[f"{what}_crafted_interval"]
            assert low <= truth[what] <= high
            if found.cells[:2] == ("true", "small"):
                assert found[f"{what}_interval"][0] > truth[what]
    (test,), (true,) = attacked.parts["tests"].rows, honest.parts["tests"].rows
    assert test.crafted_p_value[0] <= min(test.p_value, true.p_value)
    assert test.crafted_p_value[1] >= max(test.p_value, true.p_value)
    assert test.crafted_p_holm == test.crafted_p_value


def test_json_fits_its_schema(attacked: Table) -> None:
    data = json.loads(render(attacked, "json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert data["crafted"] == SHARE
    for name, row in itertools.product(
        ("", "conditional_", "reverse_", "odds_ratio_"), data["rows"]
    ):
        (low, high), (least, most) = row[f"{name}interval"], row[f"{name}crafted_interval"]
        assert least <= low
        assert most is None or most >= high
    (test,) = data["parts"]["tests"]["rows"]
    least, most = test["crafted_p_value"]
    assert least <= test["p_value"] <= most
    assert test["crafted_p_holm"] == test["crafted_p_value"]


def test_files_have_both_ends(attacked: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(render(attacked, "csv").decode())))
    assert all(float(row["crafted_low"]) <= float(row["low"]) for row in rows)
    assert all(float(row["crafted_high"]) >= float(row["high"]) for row in rows)
    for what in ("conditional", "odds_ratio"):
        for row in rows:
            assert float(row[f"{what}_crafted_low"]) <= float(row[f"{what}_low"])
    assert "crafted_high" in as_arrow(attacked).column_names
    odd = Table.of(attacked.about, [Column("crafted_low", "label"), *attacked.columns], [])
    assert file_columns(odd)[0] == "crafted_low_"


def test_table_words_and_chart_say_it(attacked: Table) -> None:
    text = as_text(attacked, width=160)
    assert text.count("with 0.03") == 2
    assert "With 0.03 of the reports crafted, dark and size still depend on each other" in text
    assert "the reports that move a cell most were left out" in text
    words = association_words(attacked).not_learned
    assert any("only the second intervals hold" in sentence for sentence in words)
    drawn = json.dumps(attacked.chart().to_dict())
    assert '"field": "second_low"' in drawn


def test_pairs_of_three_fields_have_their_own_bars(asked: Question, tmp_path: Path) -> None:
    three = [*FIELDS, "browser"]
    found = published(asked, tmp_path, 8, 30, 0.005, three)
    tables = [part for part in found.parts.values() if part.about.kind == "association"]
    names = [tuple(column.name for column in table.columns.labels) for table in tables]
    assert names == list(itertools.combinations(three, 2))
    for table in tables:
        for cell in table.rows:
            assert cell.crafted_interval[0] <= cell.interval[0]
            assert cell.crafted_interval[1] >= cell.interval[1]
    assert len(found.parts["tests"].rows) == 3
    for test in found.parts["tests"].rows:
        assert test.crafted_p_holm[0] <= test.p_holm <= test.crafted_p_holm[1]
    drawn = json.dumps(found.chart().to_dict())
    assert drawn.count('"field": "second_low"') == 3
    data = json.loads(render(found, "json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)


@pytest.mark.parametrize(
    ("seen", "holm", "words"),
    [
        (0.01, (0.001, 0.02), "still depend on each other: yes (p at most 0.02)"),
        (0.01, (0.001, 0.2), "still depend on each other: not for sure (p up to 0.2)"),
        (0.3, (0.01, 0.9), "may depend on each other unseen (p down to 0.01)"),
        (0.3, (0.1, 0.9), "no evidence for a and b either (p at least 0.1)"),
    ],
)
def test_every_outcome_has_its_words(seen: float, holm: tuple[float, float], words: str) -> None:
    names = [Column(name, "label") for name in ("first", "second")]
    columns = Columns([*names, Column("p_holm", "p_value"), Column("crafted_p_holm", "interval")])
    said = crafted_sentence(Row(columns, ("a", "b", seen, holm)), 0.01)
    assert said.startswith("With 0.01 of the reports crafted, ")
    assert words in said


def test_nothing_is_added_where_nobody_asked(asked: Question, tmp_path: Path) -> None:
    plain = published(asked, tmp_path, 5, 0, None)
    assert plain.as_json()["crafted"] is None
    assert not any("crafted" in name for name in plain.columns.place)
    assert "crafted" not in as_text(plain)
    assert '"field": "second_low"' not in json.dumps(plain.chart().to_dict())
    assert "crafted_low" not in as_arrow(plain).column_names
    none = published(asked, tmp_path, 6, 0, 0.0)
    assert all(row.crafted_interval == row.interval for row in none.rows)
    (test,) = none.parts["tests"].rows
    assert test.crafted_p_value == pytest.approx((test.p_value, test.p_value))


def test_a_wrong_share_is_refused(asked: Question, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="The 'crafted' parameter of an association"):
        published(asked, tmp_path, 7, 0, 1.5)
