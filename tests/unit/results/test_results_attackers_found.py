"""The second error bar of strings that were found: in every form, wide enough, and not idle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, discover
from deniable.ask.discover import OF_FOUND
from deniable.authoring import read_authored
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.protocol import Answer, Field, Question
from deniable.protocol.domain import string_key
from deniable.results.table import Row, Table, as_csv, as_text
from deniable.store import Batch, SqliteStore
from deniable.testing.ledger import LEDGER
from material.discovery_store import SURVEY as GROWN
from material.discovery_store import WORDS as GROWN_WORDS
from material.surveys import N_GRAMS

CRAFTED, PEOPLE, LEAST = 0.01, 30_000, 0.6


@dataclass(frozen=True)
class Case:
    """A survey and what its people hold, in falling shares; the second string is attacked."""

    survey: str
    words: list[str]

    @property
    def target(self) -> str:
        return self.words[1]

    def question(self, folder: Path) -> Question:
        (folder / "survey.toml").write_text(self.survey)
        found = read_authored(folder / "survey.toml").require().question("word")
        assert found is not None
        return found

    def field(self, folder: Path) -> Field:
        return self.question(folder).fields[0]


CASES = {
    "prefixes": Case(GROWN, GROWN_WORDS),
    "ngrams": Case(N_GRAMS, ["rabbit", "hermit", "bat", "battle"]),
}


def found(
    case: Case, folder: Path, seed: int, down: bool | None = None, crafted: float = CRAFTED
) -> Table:
    """Return what is found with liars beside the same honest people; nobody lies if `down` is None.

    Args:
        case: what people hold.
        folder: for the store.
        seed: of the honest people and their reports.
        down: liars push the target down, or up.
        crafted: what the bar allows for.
    """
    question, rng = case.question(folder), np.random.default_rng(seed)
    parameters = question.fields[0].parameters
    mechanism = mechanism_for(parameters)
    codes = rng.choice(4, size=PEOPLE, p=[0.4, 0.3, 0.2, 0.1])
    data = mechanism.simulate(codes, rng, case.words).tobytes()
    if down is not None:
        liars, target = round(PEOPLE * CRAFTED / (1 - CRAFTED)), Answer(string_key(case.target))
        data += crafted_reports(parameters, target, liars, rng, down=down)
    with SqliteStore(folder / f"{down}.sqlite3") as store:
        batch = Batch(question.id, 1, question.digest, 20_000)
        store.append_records(batch, data, question.record_size)
        (one,) = discover(store, question, Options(beam=50, crafted=crafted, threads=1))
    return one


def row_of(one: Table, value: str) -> Row:
    (row,) = (row for row in one.rows if row.value == value)
    return row


@pytest.mark.parametrize("name", CASES)
def test_the_bar_contains_the_shift_and_is_not_idle(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Seven deviations are allowed for chance: of honest reports, and of how many verify."""
    case, seed = CASES[name], int(rng.integers(2**32))
    leverage = leverage_of(case.field(tmp_path))
    bar = leverage.shift(CRAFTED)
    before = row_of(found(case, tmp_path, seed), case.target)
    parts = np.sqrt((1 - leverage.about) / (leverage.about * PEOPLE))
    slack = 7 * (bar * parts + before.std_error * CRAFTED / leverage.about)
    reached = []
    for down in (False, True):
        after = row_of(found(case, tmp_path, seed, down), case.target)
        moved = after.frequency - before.frequency
        LEDGER.add(1e-11)
        assert abs(moved) <= bar + slack
        assert (moved < 0) == down
        assert after.crafted_interval is not None
        low, high = after.crafted_interval
        assert low <= before.frequency <= high
        assert (low, high) == pytest.approx((after.interval[0] - bar, after.interval[1] + bar))
        reached.append(abs(moved) / bar)
    assert max(reached) >= LEAST


def test_liars_of_prefixes_count_among_the_verification_group(tmp_path: Path) -> None:
    leverage = leverage_of(CASES["prefixes"].field(tmp_path))
    assert leverage.about < 0.5
    assert leverage.shift(CRAFTED) > 2 * CRAFTED * leverage.up * leverage.about


@pytest.mark.parametrize("name", CASES)
def test_every_form_says_it(name: str, tmp_path: Path) -> None:
    one = found(CASES[name], tmp_path, 1)
    data = json.loads(json.dumps(one.as_json(), allow_nan=False))
    assert data["crafted"] == CRAFTED
    assert len(data["rows"]) >= 3
    for row in data["rows"]:
        low, high = row["crafted_interval"]
        assert low < row["interval"][0] < row["interval"][1] < high
    assert data["notes"][-1] == OF_FOUND
    text = as_text(one, width=140)
    assert "with 0.01 crafted" in text
    assert "keep a string from being found" in text
    assert b"crafted_low" in as_csv(one)


def test_nothing_is_added_where_nobody_asked_and_wrong_shares_are_refused(tmp_path: Path) -> None:
    case = CASES["prefixes"]
    question = case.question(tmp_path)
    with SqliteStore(tmp_path / "empty.sqlite3") as store:
        (plain,) = discover(store, question, Options(threads=1))
        assert plain.as_json()["crafted"] is None
        assert OF_FOUND not in plain.notes
        (empty,) = discover(store, question, Options(crafted=0.1, threads=1))
        assert empty.rows == ()
        assert empty.as_json()["crafted"] == 0.1
        for share in (-0.1, 1.5, float("nan")):
            with pytest.raises(InvalidParameter, match="'crafted' parameter"):
                discover(store, question, Options(crafted=share, threads=1))
