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

from deniable.associate import Independence, Pair
from deniable.audit.attack.poison import crafted
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.candidates import every_code
from deniable.mechanisms.records import join_records
from deniable.protocol import Answer, Question
from deniable.protocol.domain import code_key
from deniable.results import Association, associate_question, association_as_text
from deniable.results.associate_attackers import AttackedTest
from deniable.results.associate_chart import association_chart
from deniable.results.associate_files import columns_of, render_association, to_arrow
from deniable.results.associate_pairs import pairs_of
from deniable.results.associate_words import association_in_words, attacked_sentence
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER
from material.associations import BROWSERS, dependent, several

PEOPLE, SHARE, FIELDS = 6_000, 0.03, ["dark", "size"]
SCHEMA = Path(__file__).parents[3] / "spec" / "schemas" / "association.json"


def published(
    asked: Question,
    folder: Path,
    seed: int,
    liars: int,
    attackers: float | None,
    fields: list[str] | None = None,
) -> Association:
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
            fake = crafted(field.parameters, Answer(code_key(target), target), liars, rng)
            column[:liars] = mechanism.records(fake)
        reports[field.name] = column
    with SqliteStore(folder / f"{seed}-{liars}.sqlite3") as store:
        batch = Batch(asked.id, asked.version, asked.digest, 20_000)
        store.append_records(batch, join_records(asked, reports), asked.record_size)
        named = {"browser": BROWSERS[:2]} if fields else None
        return associate_question(
            store, asked, fields or FIELDS, candidates=named, attackers=attackers
        )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Question:
    return several(tmp_path_factory.mktemp("attacked"))


@pytest.fixture(scope="module")
def attacked(asked: Question, tmp_path_factory: pytest.TempPathFactory) -> Association:
    folder = tmp_path_factory.mktemp("store")
    return published(asked, folder, 4, round(SHARE * PEOPLE), SHARE)


def test_what_honest_reports_say_lies_within(
    asked: Question, attacked: Association, tmp_path: Path
) -> None:
    """By the plain interval it would not: 3% of the reports move the cell by far more than noise.

    The attacked interval is wider than the shift by two standard errors; the honest reports that
    were replaced are random, and move the cell by a quarter of one.
    """
    honest = published(asked, tmp_path, 4, 0, None)
    place = [cell.values for cell in honest.cells].index(("true", "small"))
    truth, cell = honest.cells[place].probability, attacked.cells[place]
    assert cell.interval[0] > truth
    assert cell.attacked_interval is not None
    LEDGER.add(1e-11)
    assert cell.attacked_interval[0] <= truth <= cell.attacked_interval[1]


def test_intervals_are_widened_by_the_shifts_and_cut(attacked: Association) -> None:
    assert attacked.attacked is not None
    shifts = attacked.attacked.shifts
    ups, downs = shifts.up.reshape(-1), shifts.down.reshape(-1)
    assert np.all(ups > 0)
    for cell, up, down in zip(attacked.cells, ups, downs, strict=True):
        low, high = cell.interval
        assert cell.attacked_interval == (max(0, low - up), min(1, high + down))


def test_shares_odds_and_tests_of_the_honest_lie_within(
    asked: Question, attacked: Association, tmp_path: Path
) -> None:
    """The crafted reports make the two go together far more than they do."""
    honest = published(asked, tmp_path, 4, 0, None)
    both = [(attacked.conditionals[0], honest.conditionals[0]), (attacked.odds, honest.odds)]
    for found, truth in both:
        assert found is not None
        assert truth is not None
        assert found.attacked_low is not None
        assert found.attacked_high is not None
        LEDGER.add(1e-11)
        assert np.all(found.attacked_low <= truth.value)
        assert np.all(truth.value <= found.attacked_high)
        assert found.low[1, 0] > truth.value[1, 0]
    assert attacked.attacked is not None
    (test,) = attacked.attacked.tests
    (pair,), (true,) = attacked.pairs, honest.pairs
    assert test.p_value[0] <= min(pair.test.p_value, true.test.p_value)
    assert test.p_value[1] >= max(pair.test.p_value, true.test.p_value)
    assert test.holm == test.p_value


def test_json_fits_its_schema(attacked: Association) -> None:
    data = json.loads(render_association(attacked, "json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert data["attackers"] == SHARE
    shares = [row for part in data["conditionals"] for row in part["rows"]]
    for row in (*data["cells"], *shares, *data["odds_ratios"]):
        assert row["attacked_interval"][0] <= row["interval"][0]
        assert row["attacked_interval"][1] is None or (
            row["attacked_interval"][1] >= row["interval"][1]
        )
    (test,) = data["tests"]
    least, most = test["attacked_p_value"]
    assert least <= test["p_value"] <= most
    assert test["attacked_p_holm"] == test["attacked_p_value"]


def test_files_have_both_ends(attacked: Association) -> None:
    rows = list(csv.DictReader(io.StringIO(render_association(attacked, "csv").decode())))
    assert all(float(row["attacked_low"]) <= float(row["low"]) for row in rows)
    assert all(float(row["attacked_high"]) >= float(row["high"]) for row in rows)
    for what in ("conditional", "odds_ratio"):
        for row in rows:
            assert float(row[f"{what}_attacked_low"]) <= float(row[f"{what}_low"])
    assert "attacked_high" in to_arrow(attacked).column_names
    assert columns_of(("attacked_low", "a")) == ("attacked_low_", "a")
    assert columns_of(("odds_ratio_attacked_low",)) == ("odds_ratio_attacked_low_",)


def test_table_words_and_chart_say_it(attacked: Association) -> None:
    text = association_as_text(attacked, width=160)
    assert text.count("with 0.03") == 2
    assert "With 0.03 of the reports crafted, dark and size still depend on each other" in text
    assert "the reports that move a cell most were left out" in text
    words = association_in_words(attacked).not_learned
    assert any("only the attacked intervals hold" in sentence for sentence in words)
    drawn = json.dumps(association_chart(attacked).to_dict())
    assert '"field": "attacked_low"' in drawn


def test_pairs_of_three_fields_have_their_own_bars(asked: Question, tmp_path: Path) -> None:
    three = [*FIELDS, "browser"]
    found = published(asked, tmp_path, 8, 30, 0.005, three)
    tables = pairs_of(found.joint)
    assert [table.names for table in tables] == list(itertools.combinations(three, 2))
    for table in tables:
        for cell in found.cells_of_pair(table):
            assert cell.attacked_interval is not None
            assert cell.attacked_interval[0] <= cell.interval[0]
            assert cell.attacked_interval[1] >= cell.interval[1]
    assert found.attacked is not None
    assert len(found.attacked.tests) == 3
    for test, pair in zip(found.attacked.tests, found.pairs, strict=True):
        assert test.holm[0] <= pair.holm <= test.holm[1]
    drawn = json.dumps(association_chart(found).to_dict())
    assert drawn.count('"field": "attacked_low"') == 3
    data = json.loads(render_association(found, "json"))
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
    pair = Pair(("a", "b"), Independence("score", 1.0, 1, seen, 9), seen, seen)
    said = attacked_sentence(pair, AttackedTest(holm, holm), 0.01)
    assert said.startswith("With 0.01 of the reports crafted, ")
    assert words in said


def test_nothing_is_added_where_nobody_asked(asked: Question, tmp_path: Path) -> None:
    plain = published(asked, tmp_path, 5, 0, None)
    assert "attackers" not in plain.as_json()
    assert all(cell.attacked_interval is None for cell in plain.cells)
    assert "crafted" not in association_as_text(plain)
    assert "attacked" not in json.dumps(association_chart(plain).to_dict())
    assert "attacked_low" not in to_arrow(plain).column_names
    none = published(asked, tmp_path, 6, 0, 0.0)
    assert all(cell.attacked_interval == cell.interval for cell in none.cells)
    assert none.attacked is not None
    (test,), (pair,) = none.attacked.tests, none.pairs
    assert test.p_value == pytest.approx((pair.test.p_value, pair.test.p_value))


def test_a_wrong_share_is_refused(asked: Question, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="The 'attackers' parameter of an association"):
        published(asked, tmp_path, 7, 0, 1.5)
