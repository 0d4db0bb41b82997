"""The papers' own methods on one's own reports, and an estimate held against the truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.ask import Options, associate, estimate
from deniable.ask.truth import against_truth, read_truth
from deniable.associate import Variable, independence
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR
from deniable.protocol import Question
from deniable.results.table import About, Column, Table, as_json
from deniable.store import SqliteStore
from material.associations import BROWSERS, dependent, report, several

SCHEMA = json.loads((Path(__file__).parents[3] / "spec" / "schemas" / "table.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


@pytest.fixture(scope="module")
def asked(folder: Path) -> Question:
    return several(folder)


@pytest.fixture(scope="module")
def store(folder: Path, asked: Question) -> SqliteStore:
    rng = np.random.default_rng(11)
    store = SqliteStore(folder / "reports.sqlite3")
    report(store, asked, dependent(6_000, rng), rng)
    return store


def of_browser(store: SqliteStore, asked: Question, folder: Path, **more: object) -> Table:
    options = Options(fields=["browser"], folder=folder, **more)  # type: ignore[arg-type]
    (table,) = estimate(store, asked, options)
    return table


def test_the_paper_s_decoder_has_both_corrections(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    table = of_browser(store, asked, folder, decoder="lasso", truth={"browser": {"fox": 0.4}})
    assert table.about.kind == "lasso"
    assert table.rows[0].value == "fox"
    assert table.rows[0].bonferroni
    assert table.rows[0].fdr
    assert "too small" in table.notes[-1]
    told = table.about.more["against_truth"]
    assert told["fdr"]["recall"] == 1.0
    Draft202012Validator(SCHEMA).validate(json.loads(as_json(table)))


def test_the_paper_s_decoder_is_of_bloom_filters(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    with pytest.raises(InvalidParameter, match=r"strings in Bloom filters \(rappor\)\. Got krr"):
        estimate(store, asked, Options(fields=["dark"], folder=folder, decoder="lasso"))
    with pytest.raises(InvalidParameter, match="no second interval"):
        of_browser(store, asked, folder, decoder="lasso", crafted=0.01)


def test_another_confidence_is_said_and_used(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    wide, narrow = (of_browser(store, asked, folder, confidence=c) for c in (0.99, 0.8))
    assert (wide.about.level, narrow.about.level) == (0.99, 0.8)
    for one, two in zip(wide.rows, narrow.rows, strict=True):
        assert one.interval[0] <= two.interval[0] <= two.interval[1] <= one.interval[1]
    assert "80% interval" in narrow.text()
    assert "95%" not in narrow.text()


def found_table() -> Table:
    columns = [
        Column("value", "label", "value"),
        Column("frequency", "share", "estimate"),
        Column("std_error", "error"),
        Column("interval", "interval", "95% interval"),
        Column("holm", "decision", "found", word="Holm"),
        Column("storey", "decision", "found", word="Storey"),
    ]
    rows = [
        ("a", 0.5, 0.01, (0.48, 0.52), True, True),
        ("b", 0.2, 0.01, (0.18, 0.22), False, True),
        ("c", 0.1, 0.01, (0.08, 0.12), False, True),
        ("d", 0.0, 0.01, (0.0, 0.02), False, False),
    ]
    return Table.of(About("estimate"), columns, rows)


def test_precision_recall_and_coverage() -> None:
    truth = {"a": 0.5, "b": 0.3, "d": 0.01, "elsewhere": 0.19}
    told = against_truth(found_table(), truth).about.more["against_truth"]
    assert (told["held"], told["listed"]) == (4, 3)
    assert told["holm"] == {"found": 1, "precision": 1.0, "recall": 0.25}
    assert told["storey"] == {"found": 3, "precision": pytest.approx(2 / 3), "recall": 0.5}
    assert told["coverage"] == 0.5  # of a and d; b is off, and c is nobody's
    listed = against_truth(found_table(), {"a": None, "c": None})
    assert "coverage" not in listed.about.more["against_truth"]
    assert listed.about.more["against_truth"]["storey"]["recall"] == 1.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", '{"truth": {"browser": {"fox": 0.5, "owl": 0.5}}}'),
        ("t.csv", "value,share\nfox,0.5\nowl,0.5\n"),
        ("t.csv", "fox,0.5\nowl,0.5\n"),
        ("t.json", '{"fox": 0.5, "owl": 0.5}'),
    ],
)
def test_the_truth_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    asked = several(tmp_path)
    if "truth" in text:
        found = read_truth(tmp_path / name, asked)["browser"]
        assert found == {"fox": 0.5, "owl": 0.5}
        return
    with pytest.raises(InvalidParameter, match="must name fields"):
        read_truth(tmp_path / name, asked)


@pytest.mark.parametrize(
    ("name", "text"), [("t.json", "{"), ("t.csv", "fox,2\n"), ("t.json", "[]"), ("no.csv", "")]
)
def test_a_truth_that_cannot_be_read(tmp_path: Path, name: str, text: str) -> None:
    if text:
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidParameter, match="truth"):
        read_truth(tmp_path / name, several(tmp_path))


def test_solver_method_level_and_given(store: SqliteStore, asked: Question, folder: Path) -> None:
    three = Options(folder=folder, top=3, given=["dark"], confidence=0.9)
    table = associate(store, asked, three)
    others = associate(store, asked, Options(folder=folder, top=3, solver="squarem", method="wald"))
    assert (table.about.more["fit"]["solver"], others.about.more["fit"]["solver"]) == (
        "sqp", "squarem",
    )  # fmt: skip
    one, two = (np.array(each.column("probability")) for each in (table, others))
    assert one == pytest.approx(two, abs=1e-3)
    assert {row.method for row in others.parts["tests"].rows} == {"wald"}
    (mutual,) = table.parts["mutual"].rows
    assert mutual.fields == "dark, browser, size"
    assert mutual.p_value < 1e-9
    assert any("not mutually independent" in text for text in table.words.learned)
    given = table.parts["P(browser | dark)"]
    for dark in ("false", "true"):
        shares = [row.probability for row in given.rows if row.dark == dark]
        assert sum(shares) == pytest.approx(1)
    assert {"P(browser | dark)", "P(size | dark)"} <= table.parts.keys()
    assert "90% interval" in given.text()
    Draft202012Validator(SCHEMA).validate(json.loads(as_json(table)))


def test_the_papers_likelihoods_of_others_say_what_they_cost(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    costs = {"fitted": "the very reports", "halves": "to the other half", "peaks": None}
    for profile, cost in costs.items():
        options = Options(
            fields=["dark", "browser"], candidates={"browser": BROWSERS[:2]}, profile=profile
        )
        found = [note for note in associate(store, asked, options).notes if "do not allow" in note]
        assert [str(cost) in note for note in found] == ([True] if cost else [])
    with pytest.raises(InvalidParameter, match="Crafted reports are searched for by the default"):
        associate(store, asked, Options(folder=folder, method="wald", crafted=0.01))


def test_three_fields_that_depend_only_together(rng: np.random.Generator) -> None:
    one, two = rng.integers(2, size=(2, 20_000))
    mechanism = KRR(2, epsilon=4.0)
    fields = [
        Variable(name, mechanism, mechanism.simulate(codes, rng))
        for name, codes in {"one": one, "two": two, "both": one ^ two}.items()
    ]
    assert independence(fields).p_value < 1e-9
