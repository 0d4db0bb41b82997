"""From a store to an association: what is there is found, what is not is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.ask import Options, associate
from deniable.ask.associate.pair_tables import marginal
from deniable.ask.associate.pooled_joint import pooled_covariance
from deniable.ask.associate.read_joint import joint_read, weakened
from deniable.associate import OTHER_LABEL, Independence, Pair
from deniable.associate.covariance import Placement
from deniable.decode.reading import Reading
from deniable.errors import InvalidParameter
from deniable.protocol import ABSENT, Question
from deniable.results.table import Table
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
def pair(store: SqliteStore, asked: Question, folder: Path) -> Table:
    return associate(store, asked, Options(fields=["dark", "browser"], folder=folder))


def truth() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    codes = dependent(PEOPLE, np.random.default_rng(5))
    counts = np.zeros((2, len(BROWSERS)))
    np.add.at(counts, (codes["dark"], codes["browser"]), 1)
    return counts / PEOPLE


def test_the_table_is_close_to_the_truth(pair: Table) -> None:
    true = truth()
    for cell in pair.rows:
        dark, browser = cell.dark, cell.browser
        if browser == OTHER_LABEL:
            continue
        expected = true[int(dark == "true"), BROWSERS.index(browser)]
        # Six standard errors: fails by chance once in 10^8 cells of a fresh seed.
        assert abs(cell.probability - expected) < 6 * cell.std_error + 0.002
    assert sum(cell.probability for cell in pair.rows) == pytest.approx(1)
    assert pair.about.n == PEOPLE
    assert pair.about.epsilon_once == pytest.approx(7.0, abs=2e-6)


def test_fields_that_depend_are_found_and_others_are_not(
    pair: Table, store: SqliteStore, asked: Question, folder: Path
) -> None:
    assert pair.parts["tests"].rows[0].p_value < 1e-9
    every = associate(store, asked, Options(folder=folder, top=2))
    assert every.about.more["fields"] == ["dark", "browser", "size"]
    found = {(one.first, one.second): one for one in every.parts["tests"].rows}
    assert found["dark", "browser"].p_holm < 1e-9
    for names in (("dark", "size"), ("browser", "size")):
        assert found[names].p_holm >= found[names].p_value
        assert found[names].p_value > 1e-4  # the seed is fixed; alpha of a fresh one is 1e-4
    assert "odds_ratio" not in every.columns.place
    assert any(column.title == "P(size | dark, browser)" for column in every.columns)
    assert len(every.parts) == 2 + 3


def test_the_conditional_share_and_the_odds_ratio_say_what_goes_together(pair: Table) -> None:
    rows = {(row.dark, row.browser): row for row in pair.rows}
    assert rows["true", "fox"].conditional > 0.6 > 0.4 > rows["false", "fox"].conditional
    for dark in ("true", "false"):
        assert sum(row.conditional for row in pair.rows if row.dark == dark) == pytest.approx(1)
    for browser in pair.about.more["labels"]["browser"]:
        shares = [row.reverse for row in pair.rows if row.browser == browser]
        assert sum(shares) == pytest.approx(1)
    assert rows["true", "fox"].odds_ratio_interval[0] > 2


def test_answers_come_from_what_stands_out_or_are_given(
    pair: Table, store: SqliteStore, asked: Question, folder: Path
) -> None:
    labels = pair.about.more["labels"]["browser"]
    assert labels[0] == "fox"
    assert labels[-1] == OTHER_LABEL
    assert len(labels) <= 6
    fields = ["browser", "size"]
    given = associate(store, asked, Options(fields=fields, candidates={"browser": ["owl", "fox"]}))
    assert labels_of(given) == (("owl", "fox", OTHER_LABEL), ("small", "middle", "large"))
    first = associate(
        store,
        asked,
        Options(fields=fields, candidates={"browser": BROWSERS, "size": ["large"]}, top=2),
    )
    assert set(labels_of(first)[0]) == {"fox", "owl", OTHER_LABEL}
    assert labels_of(first)[1] == ("large", OTHER_LABEL)
    closed = associate(
        store, asked, Options(fields=fields, candidates={"browser": ["owl", "fox"]}, other=False)
    )
    assert labels_of(closed) == (("owl", "fox"), ("small", "middle", "large"))


def test_json_holds_no_nan_and_every_cell(pair: Table) -> None:
    read = json.loads(json.dumps(pair.as_json(), allow_nan=False))
    schema = json.loads((SCHEMAS / "table.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(read)
    assert not Draft202012Validator(schema).is_valid({**read, "n": -1})
    assert len(read["rows"]) == len(pair.rows)
    assert read["fields"] == ["dark", "browser"]
    assert read["fit"]["gap"] < 1e-6 * PEOPLE
    assert read["parts"]["tests"]["rows"][0]["p_value"] < 1e-9
    assert {"conditional", "reverse", "odds_ratio"} <= read["rows"][0].keys()


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
        associate(store, asked, Options(fields=fields))


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
        associate(
            store, asked, Options(fields=["browser", "size"], candidates=candidates, other=False)
        )


def test_strings_without_candidates_and_top_out_of_range_are_refused(
    store: SqliteStore, asked: Question, folder: Path
) -> None:
    fields = ["browser", "size"]
    with pytest.raises(InvalidParameter, match="needs candidates"):
        associate(store, asked, Options(fields=fields))
    with pytest.raises(InvalidParameter, match="'top' parameter of associate"):
        associate(store, asked, Options(fields=fields, folder=folder, top=0))


def test_where_nothing_stands_out_nothing_is_associated(tmp_path: Path) -> None:
    asked = several(tmp_path)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    with pytest.raises(InvalidParameter, match="no reports"):
        associate(store, asked, Options(folder=tmp_path))
    rng = np.random.default_rng(2)
    report(store, asked, dependent(50, rng), rng)
    with pytest.raises(InvalidParameter, match="stands out from zero"):
        associate(
            store,
            asked,
            Options(fields=["dark", "browser"], candidates={"browser": ["x", "y"]}, top=1),
        )


def test_a_plain_question_is_refused(tmp_path: Path) -> None:
    plain = question(
        tmp_path, 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
    )
    store = SqliteStore(tmp_path / "reports.sqlite3")
    with pytest.raises(InvalidParameter, match="has one field"):
        associate(store, plain)


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
        associate(store, asked)


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
    found = associate(store, asked, Options(fields=fields, candidates=given))
    assert labels_of(found) == (
        ("false", "true", "(absent)"),
        ("fox", "(absent)", OTHER_LABEL),
        ("small", "middle", "large", "(absent)"),
    )
    cell = {one.cells[:3]: one for one in found.rows}["(absent)", "(absent)", "(absent)"]
    assert abs(cell.probability - 0.3) < 6 * cell.std_error + 0.02


def test_reports_of_other_digests_are_left_out_and_said(tmp_path: Path) -> None:
    asked = several(tmp_path)
    changed = replace(asked, epoch=7)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    rng = np.random.default_rng(3)
    report(store, asked, dependent(2_000, rng), rng)
    report(store, changed, dependent(500, rng), rng)
    found = associate(store, asked, Options(fields=["dark", "size"]))
    assert found.about.n == 2_000
    assert any("500 reports" in note for note in found.notes)


def statistic(table: Table) -> float:
    found: float = table.parts["tests"].rows[0].statistic
    return found


def labels_of(table: Table) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, table.about.more["labels"].values()))


def test_several_epochs_of_the_same_devices_widen_everything(tmp_path: Path) -> None:
    permanent = 'repeat = "permanent"\n'
    asked = several(tmp_path, permanent)
    store = SqliteStore(tmp_path / "reports.sqlite3")
    codes = dependent(2_000, np.random.default_rng(4))
    for epoch in range(EPOCH, EPOCH + 4):
        report(store, asked, codes, np.random.default_rng(4), epoch)
    once = associate(store, asked, Options(fields=["dark", "size"], first_epoch=EPOCH + 3))
    every = associate(store, asked, Options(fields=["dark", "size"]))
    assert (once.about.n, every.about.n) == (2_000, 8_000)
    # The same records four times: nothing is known better than from one epoch.
    assert every.column("std_error") == pytest.approx(once.column("std_error"), rel=1e-3)
    assert statistic(every) == pytest.approx(statistic(once), rel=1e-2)
    assert any("4 epochs" in note for note in every.notes)


def test_widening_keeps_centres_and_cut_ends() -> None:
    joint = table(np.array([[0.01, 0.49], [0.3, 0.2]]), (("a", "b"), ("c", "d")), ("x", "y"))
    wide, factor = joint_read(joint, Reading(noise=4.0, people=4.0))
    assert factor == pytest.approx(2)
    assert wide.std_error == pytest.approx(2 * joint.std_error)
    assert wide.low[0, 0] == 0
    assert wide.low[1, 1] == pytest.approx(0.2 - 2 * 0.0196, rel=1e-3)
    assert wide.high[1, 1] == pytest.approx(0.2 + 2 * 0.0196, rel=1e-3)
    assert wide.covariance == pytest.approx(4 * np.eye(4) * 1e-4)
    assert joint_read(joint, Reading())[0] is joint


def test_the_sample_is_left_out_of_the_reporters_and_never_averaged_over_epochs() -> None:
    shares = np.array([[0.01, 0.49], [0.3, 0.2]])
    joint = replace(table(shares, (("a", "b"), ("c", "d")), ("x", "y")), n=10_000)
    flat = shares.reshape(-1)
    sample = (flat * (1 - flat) / 10_000).reshape(2, 2)
    reporters, _ = joint_read(joint, Reading(of="reporters"))
    assert reporters.std_error**2 == pytest.approx(joint.std_error**2 - sample)
    again, _ = joint_read(joint, Reading(people=3.0))
    assert again.std_error**2 == pytest.approx(joint.std_error**2 + 2 * sample)


def test_where_strings_fall_is_the_same_in_all_epochs() -> None:
    shares = np.array([[0.1, 0.4], [0.3, 0.2]])
    joint = table(shares, (("a", "b"), ("c", "d")), ("x", "y"))
    part = 6e-5 * np.eye(4)
    fallen = replace(joint, n=10**9, placement=Placement(part, part))
    wide, factor = joint_read(fallen, Reading(noise=4.0, people=4.0))
    assert wide.covariance == pytest.approx(4 * (1e-4 * np.eye(4) - part) + part, abs=1e-8)
    # The test of independence has no such part.
    assert factor == pytest.approx(2, rel=1e-3)
    assert wide.placement == fallen.placement


def test_where_strings_fall_is_not_averaged_over_levels() -> None:
    own, stays = [4e-4 * np.eye(2)] * 2, [1e-4 * np.eye(2)] * 2
    found = pooled_covariance(np.array([0.5, 0.5]), own, stays)
    assert found == pytest.approx((3e-4 / 2 + 1e-4) * np.eye(2))


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
