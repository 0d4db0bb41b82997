"""Permanent reports and sets in results: what is promised, and how errors add up over epochs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import estimate
from deniable.mechanisms import mechanism_of, members_matrix
from deniable.mechanisms.records import join_records
from deniable.protocol import Sets
from deniable.results.explain import explain_question
from deniable.results.table import as_text
from deniable.results.words.shares import in_words
from deniable.store import Batch, SqliteStore
from material.results import EPOCH, answer, question

KRR = 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
SET = 'domain = { type = "set", values = ["a", "b", "c", "d"], most = 2 }\n'


def test_permanent_noise_comes_back_every_epoch(tmp_path: Path, rng: np.random.Generator) -> None:
    results = {}
    for repeat in ("permanent", "epoch", "once"):
        asked = question(tmp_path, f'{KRR}repeat = "{repeat}"\n')
        with SqliteStore(tmp_path / f"{repeat}.db") as store:
            for epoch in range(4):
                answer(store, asked, {"value": [0, 1] * 500}, rng, epoch=EPOCH + epoch)
            (results[repeat],) = estimate(store, asked)
    permanent = results["permanent"]
    assert permanent.about.memoised
    assert permanent.about.epsilon_forever == permanent.about.epsilon_once == 1.0
    assert results["epoch"].about.epsilon_forever is None
    assert any("does not average out" in note for note in permanent.notes)
    # The noise of one report has the variance v; the sample's, f (1 - f), is that of 1,000 people.
    plain = results["once"].rows[0].std_error
    assert permanent.rows[0].std_error == pytest.approx(2 * plain, rel=0.05)
    fresh = results["epoch"].rows[0].std_error
    assert fresh**2 == pytest.approx(plain**2 + 3 * 0.25 / 4_000, rel=0.05)
    assert any("All reports of one value together" in text for text in in_words(permanent).promise)
    assert any("answers once, ever" in text for text in in_words(results["once"]).promise)


@pytest.mark.parametrize(
    ("mechanism", "parameters"),
    [("krr", "epsilon = 3.0"), ("olh", "epsilon = 3.0"), ("oue", 'epsilon = 9.0, per = "bit"')],
)
def test_sets_have_a_row_per_name(
    tmp_path: Path, rng: np.random.Generator, mechanism: str, parameters: str
) -> None:
    body = f'{SET}mechanism = "{mechanism}"\nparameters = {{ {parameters} }}\n'
    asked = question(tmp_path, body)
    (field,) = asked.fields
    assert isinstance(field.domain, Sets)
    people = members_matrix(field.domain, [["a", "b"], ["a"], ["a", "b"], []] * 2500)
    reports = {"value": mechanism_of(field, absent=False).simulate(people, rng)}
    with SqliteStore(tmp_path / "sets.db") as store:
        batch = Batch(asked.id, asked.version, asked.digest, EPOCH)
        store.append_records(batch, join_records(asked, reports), asked.record_size)
        (result,) = estimate(store, asked)
    assert result.about.domain == "set"
    assert {row.value for row in result.rows} == {"a", "b", "c", "d"}
    assert [row.value for row in result.rows[:2]] == ["a", "b"]  # 75% and 50%: many errors apart
    assert all(row.likely is None and row.posterior is None for row in result.rows)
    assert sum(row.frequency for row in result.rows) > 1
    assert "a" in as_text(result)


def test_explain_states_the_error_of_a_set_and_its_lifetime(tmp_path: Path) -> None:
    body = f'{SET}mechanism = "krr"\nparameters = {{ epsilon = 1.0 }}\nrepeat = "permanent"\n'
    asked = question(tmp_path, body)
    told = explain_question(asked, people=10_000)
    assert told.numbers["epsilon_lifetime"] == 1.0
    expected = math.sqrt(float(mechanism_of(asked.fields[0], False).variance(10_000, 0.0)))
    assert told.numbers["std_error"] == {"value": pytest.approx(expected)}
    text = " ".join(told.sentences)
    assert "one is drawn at random" in text
    assert "linked to each other" in text


def test_the_epsilon_of_several_reports_and_what_a_bloom_filter_hides(tmp_path: Path) -> None:
    numbers = "{ k = 128, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }"
    body = f'domain = {{ type = "strings" }}\nmechanism = "rappor"\nparameters = {numbers}\n'
    asked = question(tmp_path, body)
    found = [explain_question(asked, reports=n).numbers["epsilon_after"] for n in (1, 2, 7)]
    assert found == pytest.approx([1.074286, 2.017008, 4.068], abs=1e-3)
    text = " ".join(explain_question(asked, reports=7).sentences)
    assert "Of the devices 0.0625 keep none of their string's 2 bits" in text
    assert "7 reports of one unchanged value have epsilon 4.06" in text
    assert "about 122 set the same bits" in text
    once = explain_question(question(tmp_path, body + 'repeat = "once"\n'), reports=7)
    assert once.numbers["epsilon_after"] == once.numbers["epsilon"]
