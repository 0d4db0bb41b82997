"""From a store to an association: what is there is found, what is not is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.associate import OTHER_LABEL, Independence, Pair
from deniable.errors import InvalidParameter
from deniable.protocol import ABSENT, Question
from deniable.results import Association, associate_question
from deniable.results.associate import weakened, widened
from deniable.results.associate_pairs import marginal, pairs_of
from deniable.store import SqliteStore
from material.associations import BROWSERS, dependent, report, several, table
from material.results import EPOCH, question

PEOPLE = 20_000
SCHEMAS = Path(__file__).parents[3] / "spec" / "schemas"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("associate")


@pytest.fixture(scope="module")
def asked(folder: Path) -> Question:
    return several(folder)


@pytest.fixture(scope="module")
def store(folder: Path, asked: Question) -> SqliteStore:
    rng = np.random.default_rng(5)
    store = SqliteStore(folder / "reports.sqlite3")
    report(store, asked, dependent(PEOPLE, rng), rng)
    return store


@pytest.fixture(scope="module")
def pair(store: SqliteStore, asked: Question, folder: Path) -> Association:
    return associate_question(store, asked, ["dark", "browser"], candidates_folder=folder)


def truth() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    codes = dependent(PEOPLE, np.random.default_rng(5))
    counts = np.zeros((2, len(BROWSERS)))
    np.add.at(counts, (codes["dark"], codes["browser"]), 1)
    return counts / PEOPLE


def test_the_table_is_close_to_the_truth(pair: Association) -> None:
    true = truth()
    for cell in pair.cells:
        dark, browser = cell.values
        if browser == OTHER_LABEL:
            continue
        expected = true[int(dark == "true"), BROWSERS.index(browser)]
        # Six standard errors: fails by chance once in 10^8 cells of a fresh seed.
        assert abs(cell.probability - expected) < 6 * cell.std_error + 0.002
    assert sum(cell.probability for cell in pair.cells) == pytest.approx(1)
    assert pair.n == PEOPLE
    assert pair.epsilon_once == pytest.approx(7.0, abs=2e-6)


def test_fields_that_depend_are_found_and_others_are_not(
    pair: Association, store: SqliteStore, asked: Question, folder: Path
) -> None:
    assert pair.pairs[0].test.p_value < 1e-9
    every = associate_question(store, asked, candidates_folder=folder, top=2)
    assert every.fields == ("dark", "browser", "size")
    found = {one.names: one for one in every.pairs}
    assert found["dark", "browser"].holm < 1e-9
    for names in (("dark", "size"), ("browser", "size")):
        assert found[names].holm >= found[names].test.p_value
        assert found[names].test.p_value > 1e-4  # the seed is fixed; alpha of a fresh one is 1e-4
    assert every.odds is None
    assert every.conditionals[0].names == ("dark", "browser", "size")
    assert len(pairs_of(every.joint)) == 3


def test_the_conditional_share_and_the_odds_ratio_say_what_goes_together(pair: Association) -> None:
    given = pair.conditionals[0]
    fox = given.labels[1].index("fox")
    assert given.value[1, fox] > 0.6 > 0.4 > given.value[0, fox]
    assert np.allclose(given.value.sum(axis=1), 1)
    assert pair.odds is not None
    assert pair.odds.low[1, fox] > 2


def test_answers_come_from_what_stands_out_or_are_given(
    pair: Association, store: SqliteStore, asked: Question, folder: Path
) -> None:
    labels = pair.joint.labels[1]
    assert labels[0] == "fox"
    assert labels[-1] == OTHER_LABEL
    assert len(labels) <= 6
    fields = ["browser", "size"]
    given = associate_question(store, asked, fields, candidates={"browser": ["owl", "fox"]})
    assert given.joint.labels == (("owl", "fox", OTHER_LABEL), ("small", "middle", "large"))
    first = associate_question(
        store, asked, fields, candidates={"browser": BROWSERS, "size": ["large"]}, top=2
    )
    assert set(first.joint.labels[0]) == {"fox", "owl", OTHER_LABEL}
    assert first.joint.labels[1] == ("large", OTHER_LABEL)
    closed = associate_question(
        store, asked, fields, candidates={"browser": ["owl", "fox"]}, other=False
    )
    assert closed.joint.labels == (("owl", "fox"), ("small", "middle", "large"))


def test_json_holds_no_nan_and_every_cell(pair: Association) -> None:
    read = json.loads(json.dumps(pair.as_json(), allow_nan=False))
    schema = json.loads((SCHEMAS / "association.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(read)
    assert not Draft202012Validator(schema).is_valid({**read, "n": -1})
    assert len(read["cells"]) == len(pair.cells) == len(read["odds_ratios"])
    assert read["fields"] == ["dark", "browser"]
    assert read["fit"]["gap"] < 1e-6 * PEOPLE
    assert read["tests"][0]["p_value"] < 1e-9
    assert [c["of"] for c in read["conditionals"]] == ["browser", "dark"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (["dark"], "two or more different fields"),
        (["dark", "dark"], "two or more different fields"),
        (["dark", "other.question"], "Fields of different questions cannot be associated"),
    ],
)
def test_wrong_fields_are_refused(
    store: SqliteStore, asked: Question, fields: list[str], words: str
) -> None:
    with pytest.raises(InvalidParameter, match=words):
        associate_question(store, asked, fields)


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        ({"browser": ["fox", "owl"], "size": ["huge"]}, "has no answer 'huge'"),
        ({"dark": ["true"]}, "is not among the fields"),
        ({"browser": [""] * 2}, "cannot be told apart|one category|'browser'"),
    ],
)
def test_wrong_candidates_are_refused(
    store: SqliteStore, asked: Question, candidates: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(InvalidParameter, match=words):
        associate_question(store, asked, ["browser", "size"], candidates=candidates, other=False)


def test_strings_without_candidates_and_top_out_of_range_are_refused(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    fields = ["browser", "size"]
    with pytest.raises(InvalidParameter, match="needs candidates"):
        associate_question(store, asked, fields)
    with pytest.raises(InvalidParameter, match="'top' parameter of associate"):
        associate_question(store, asked, fields, candidates_folder=folder, top=0)


def test_where_nothing_stands_out_nothing_is_associated(tmp_path: Path) -> None:
    asked = several(tmp_path)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    with pytest.raises(InvalidParameter, match="no reports"):
        associate_question(store, asked, candidates_folder=tmp_path)
    rng = np.random.default_rng(2)
    report(store, asked, dependent(50, rng), rng)
    with pytest.raises(InvalidParameter, match="stands out from zero"):
        associate_question(
            store, asked, ["dark", "browser"], candidates={"browser": ["x", "y"]}, top=1
        )


def test_a_plain_question_is_refused(tmp_path: Path) -> None:
    plain = question(
        tmp_path, 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
    )
    store = SqliteStore(tmp_path / "reports.sqlite3")
    with pytest.raises(InvalidParameter, match="has one field"):
        associate_question(store, plain)


def test_sets_are_refused(tmp_path: Path) -> None:
    names = (
        '[[questions.fields]]\nname = "{}"\nmechanism = "krr"\nparameters = {{ epsilon = 2.0 }}\n'
    )
    tools = (
        names.format("tools") + 'domain = { type = "set", values = ["a", "b", "c"], most = 2 }\n'
    )
    asked = question(tmp_path, tools + names.format("dark") + 'domain = "boolean"\n')
    store = SqliteStore(tmp_path / "reports.sqlite3")
    rng = np.random.default_rng(1)
    codes = {"tools": np.array([[0, 1]] * 50), "dark": np.zeros(50, dtype=np.int64)}
    report(store, asked, codes, rng)
    with pytest.raises(InvalidParameter, match="are sets"):
        associate_question(store, asked)


def test_absent_is_an_answer_where_every_device_reports(tmp_path: Path) -> None:
    asked = several(tmp_path, 'send = "always"\n')
    store = SqliteStore(tmp_path / "reports.sqlite3")
    rng = np.random.default_rng(9)
    codes = dependent(4_000, rng)
    codes["dark"] = np.where(rng.random(4_000) < 0.3, 2, codes["dark"])
    codes["browser"] = np.where(codes["dark"] == 2, 6, codes["browser"])
    codes["size"] = np.where(codes["dark"] == 2, 3, codes["size"])
    report(store, asked, codes, rng, strings=[*BROWSERS, ABSENT])
    fields = ["dark", "browser", "size"]
    given = {"browser": ["fox"]}
    found = associate_question(store, asked, fields, candidates=given)
    assert found.joint.labels == (
        ("false", "true", "(absent)"),
        ("fox", "(absent)", OTHER_LABEL),
        ("small", "middle", "large", "(absent)"),
    )
    cell = {one.values: one for one in found.cells}["(absent)", "(absent)", "(absent)"]
    assert abs(cell.probability - 0.3) < 6 * cell.std_error + 0.02


def test_reports_of_other_digests_are_left_out_and_said(tmp_path: Path) -> None:
    asked = several(tmp_path)
    changed = replace(asked, epoch=7)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    rng = np.random.default_rng(3)
    report(store, asked, dependent(2_000, rng), rng)
    report(store, changed, dependent(500, rng), rng)
    found = associate_question(store, asked, ["dark", "size"])
    assert found.n == 2_000
    assert any("500 reports" in note for note in found.notes)


def test_several_epochs_of_the_same_devices_widen_everything(tmp_path: Path) -> None:
    permanent = 'repeat = "permanent"\n'
    asked = several(tmp_path, permanent)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    codes = dependent(2_000, np.random.default_rng(4))
    for epoch in range(EPOCH, EPOCH + 4):
        report(store, asked, codes, np.random.default_rng(4), epoch)
    once = associate_question(store, asked, ["dark", "size"], first_epoch=EPOCH + 3)
    every = associate_question(store, asked, ["dark", "size"])
    assert (once.n, every.n) == (2_000, 8_000)
    # The same records four times: nothing is known better than from one epoch.
    assert every.joint.std_error == pytest.approx(once.joint.std_error, rel=1e-3)
    assert every.pairs[0].test.statistic == pytest.approx(once.pairs[0].test.statistic, rel=1e-2)
    assert any("4 epochs" in note for note in every.notes)


def test_widening_keeps_centres_and_cut_ends() -> None:
    joint = table(np.array([[0.01, 0.49], [0.3, 0.2]]), (("a", "b"), ("c", "d")), ("x", "y"))
    cut = replace(joint, low=np.maximum(0, joint.low))
    wide = widened(cut, 2.0)
    assert wide.std_error == pytest.approx(2 * joint.std_error)
    assert wide.low[0, 0] == 0
    assert wide.low[1, 1] == pytest.approx(0.2 - 2 * 0.0196)
    assert wide.high[1, 1] == pytest.approx(0.2 + 2 * 0.0196)
    assert wide.covariance == pytest.approx(4 * np.eye(4) * 1e-4)
    assert widened(cut, 1.0) is cut


def test_weakened_tests_are_corrected_again() -> None:
    tests = [Independence("moments", s, 1, p, 100) for s, p in ((16.0, 6e-5), (4.0, 0.046))]
    pairs = tuple(Pair(("a", str(i)), t, 0.0, 0.0) for i, t in enumerate(tests))
    strong, weak = weakened(pairs, 2.0)
    assert strong.test.statistic == 4
    assert strong.test.p_value == pytest.approx(0.0455, abs=1e-4)
    assert strong.holm == strong.bh == pytest.approx(2 * strong.test.p_value)
    assert weak.test.p_value == weak.holm == weak.bh == pytest.approx(0.3173, abs=1e-4)


def test_a_marginal_sums_out_the_others_with_their_covariance() -> None:
    value = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(2, 3, 2)
    labels = (("a", "b"), ("c", "d", "e"), ("f", "g"))
    joint = table(value, labels, ("x", "y", "z"))
    found = marginal(joint, ("z", "y"))
    assert found.probability == pytest.approx(value.sum(axis=0).T)
    assert found.labels == (labels[2], labels[1])
    # Independent cells: the variance of a sum of two is the sum of both.
    assert found.std_error == pytest.approx(np.full((2, 3), np.sqrt(2e-4)))
    assert found.high - found.probability == pytest.approx(
        np.full((2, 3), 1.96 * np.sqrt(2e-4)), rel=1e-4
    )
    plain = marginal(replace(joint, unbounded_covariance=None), ("x", "y"))
    assert np.isnan(plain.std_error).all()
