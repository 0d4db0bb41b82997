"""Reports that are let go of as soon as they are read change no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deniable.ask import associate as ask
from deniable.ask.associate.field_reports import read_fields
from deniable.ask.options import Options
from deniable.associate import Variable, associate
from deniable.associate.patterns import patterns_of
from deniable.authoring import read_authored
from deniable.decode.mixture.packed_factor import PackedFactor
from deniable.mechanisms import Rappor, mechanism_for
from deniable.mechanisms.records import join_records
from deniable.store import Batch, open_store

N = 240_000
STRINGS = tuple(f"word {number}" for number in range(19))
LAW = Rappor(bits=64, hashes=2, cohorts=8, epsilon=4.0)
SURVEY = """name = "t"
owner = "t"
people = 1000000
[[questions]]
id = "wide"
description = "?"
expires = 2099-12-31
"""
FIELD = """[[questions.fields]]
name = "{name}"
domain = "strings"
mechanism = "rappor"
parameters = {{ epsilon = 4.0, k = 64, h = 2, m = 8 }}
"""


def two_fields(rng: np.random.Generator) -> list[Variable]:
    """Two fields of 19 strings and others, a fifth of whose answers are the same."""
    one, two = rng.integers(0, 19, (2, N))
    codes = [one, np.where(rng.random(N) < 0.2, one, two)]
    names = ("one", "two")
    return [
        Variable(name, LAW, LAW.simulate(code, rng, STRINGS), STRINGS[:18])
        for name, code in zip(names, codes, strict=True)
    ]


def test_a_list_gives_its_reports_away_and_nothing_else_does(rng):
    kept = two_fields(rng)
    spent = list(kept)
    for held in (tuple(kept), list(kept)):
        patterns_of(held)
        assert all(one is other for one, other in zip(held, kept, strict=True))
    patterns_of(tuple(kept), spend=True)
    found = patterns_of(spent, spend=True)
    assert all(isinstance(one, PackedFactor) for one in found.factors)
    assert [one.n for one in spent] == [0, 0]
    assert [one.categories for one in spent] == [one.categories for one in kept]
    assert [one.n for one in kept] == [N, N]


def test_spent_reports_have_the_same_table_and_test(rng):
    kept = two_fields(rng)
    joint, test = associate(list(kept))
    again, same = associate(list(kept), spend=True)
    assert np.array_equal(joint.probability, again.probability)
    assert np.array_equal(joint.std_error, again.std_error)
    assert joint.notes == again.notes
    assert test == same
    assert joint.n == again.n == N
    # Where unlisted strings fall is known before the reports are let go of.
    assert joint.placement is not None
    assert again.placement is not None
    assert np.array_equal(joint.placement.unbounded, again.placement.unbounded)


def test_walds_test_of_spent_reports_is_the_same(rng):
    kept = two_fields(rng)
    _, test = associate(list(kept), method="wald")
    _, same = associate(list(kept), method="wald", spend=True)
    assert test == same


def test_a_store_and_its_variables_have_one_table(rng, tmp_path: Path):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY + FIELD.format(name="one") + FIELD.format(name="two"), encoding="utf-8")
    asked = read_authored(path).require().questions[0]
    laws = {field.name: mechanism_for(field.parameters) for field in asked.fields}
    one, two = rng.integers(0, 19, (2, N))
    codes = {"one": one, "two": np.where(rng.random(N) < 0.2, one, two)}
    made = {name: law.simulate(codes[name], rng, STRINGS) for name, law in laws.items()}
    batch = Batch(asked.id, asked.version, asked.digest, 20_000)
    with open_store(tmp_path / "data") as store:
        store.append_records(batch, join_records(asked, made), asked.record_size)
        listed = dict.fromkeys(laws, STRINGS[:18])
        table = ask(store, asked, Options(candidates=listed))
        # In the order in which the store has them: a part of them tells of popular strings.
        there = read_fields(store, asked, asked.fields).reports
    variables = [Variable(name, law, there[name], STRINGS[:18]) for name, law in laws.items()]
    for name in laws:
        assert np.array_equal(np.sort(there[name]), np.sort(made[name]))
    joint, _ = associate(variables)
    shares = np.array([row["probability"] for row in table.rows]).reshape(19, 19)
    assert table.about.n == N
    assert np.allclose(shares, joint.probability, rtol=0, atol=1e-7)
