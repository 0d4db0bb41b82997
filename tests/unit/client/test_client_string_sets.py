"""Sets of strings and profiles with unknown attributes, from the app's value to the estimate."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import associate, estimate
from deniable.ask.options import Options
from deniable.ask.string_sets import of_people
from deniable.authoring import read_authored, resolve
from deniable.client.encode import encode, one_member
from deniable.client.randomness import StreamDraws, SystemDraws
from deniable.crowd.population import draw_population
from deniable.errors import InvalidAnswer, InvalidParameter, RecordRefused
from deniable.protocol import (
    Boolean,
    Categories,
    Field,
    Profile,
    Question,
    StringSets,
    Survey,
)
from deniable.protocol.domain import ABSENT_KEY
from deniable.protocol.prf import Stream
from deniable.protocol.profile_domain import Attribute, Perhaps
from deniable.store import Batch, open_store
from deniable.testing.statistics import accept, goodness_of_fit, mean, reject
from material.clients import Clock, question, strict

THREE = StringSets(most=3)


def _asked(most: int = 3, mechanism: str = "olh", **parameters: object) -> Question:
    domain = StringSets(most=most)
    wanted = parameters or {"epsilon": 2.0}
    fields = (Field("value", domain, resolve(mechanism, wanted, domain, False)),)
    return question("names", fields=fields)


def test_a_set_of_strings_reads_back(tmp_path: Path) -> None:
    text = """
name = "n"
owner = "o"
[[questions]]
id = "names"
description = "Which?"
expires = 2099-12-31
domain = { type = "set", most = 18, alphabet = "abc", length = 4 }
mechanism = "olh"
parameters = { epsilon = 1.0 }
"""
    (tmp_path / "survey.toml").write_text(text)
    survey = read_authored(tmp_path / "survey.toml").require()
    (field,) = survey.questions[0].fields
    assert field.domain == StringSets("abc", 4, "refuse", 18)
    assert Survey.from_published(survey.published()) == survey


def test_equal_sets_are_one_answer() -> None:
    one, two = THREE.answer(["b", "é", "b"]), THREE.answer({"e\u0301", "b"})
    assert one.key == two.key
    assert len(one.texts) == 2
    assert THREE.answer([]).texts == ()
    assert THREE.answer(["ab"]).key != THREE.answer(["a", "b"]).key


@pytest.mark.parametrize("value", ["text", 3, None, [1], {"a": "b"}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(InvalidAnswer):
        THREE.answer(value)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
def test_one_place_is_drawn_uniformly(size: int) -> None:
    """By enumeration: every first draw of below(n) is played once."""
    (field,) = _asked().fields
    answer = THREE.answer([f"s{i}" for i in range(size)])
    places = max(3, size)
    drawn = [one_member(field, answer, _Fixed(place)).key for place in range(places)]
    law = {key: Fraction(drawn.count(key), places) for key in drawn}
    for text in answer.texts:
        assert law[text] == Fraction(1, places)
    assert law.get(ABSENT_KEY, 0) == Fraction(places - size, places)


class _Fixed:
    """Draws whose next integer is given."""

    def __init__(self, place: int) -> None:
        self._place = place

    def below(self, bound: int) -> int:
        assert self._place < bound
        return self._place

    def coin(self, threshold: int, bits: int = 64) -> bool:
        raise AssertionError("No coin is drawn for a place.")


def test_with_a_permanent_response_the_place_is_permanent() -> None:
    asked = _asked(mechanism="rappor", k=64, h=2, m=1, f=0.5, p=0.0, q=1.0)
    records = {
        encode(asked, ["a", "b", "c"], bytes(32), StreamDraws(Stream(bytes([i] * 32))))
        for i in range(20)
    }
    assert len(records) == 1


def test_larger_sets_are_counted_on_the_device(tmp_path: Path) -> None:
    clock = Clock()
    with strict(Survey("s", "o", (_asked(),)), tmp_path, clock=clock) as client:
        client.record("names", ["a", "b", "c"])
        assert ("names", "larger") not in client.counters()
        clock.forward(days=1)
        client.record("names", ["a", "b", "c", "d"])
        assert client.counters()["names", "larger"] == 1
        assert len(client.pending()) == 2


def test_simulated_draws_are_the_client_s() -> None:
    """The same law of draws for people with two strings in three places."""
    (field,) = _asked().fields
    fresh, answer = SystemDraws(), THREE.answer(["a", "b"])
    keys = [*answer.texts, ABSENT_KEY]
    counted = np.zeros(3, dtype=int)
    for _ in range(3_000):
        counted[keys.index(one_member(field, answer, fresh).key)] += 1
    third = np.full(3, 1 / 3)
    accept(goodness_of_fit(counted, third), alpha=1e-9)
    # A law with half of the places empty is ten deviations away.
    reject(goodness_of_fit(counted, np.array([0.25, 0.25, 0.5])), alpha=1e-9, miss=1e-9)


def test_shares_are_of_people_and_the_table_says_it(tmp_path: Path) -> None:
    asked = _asked(most=4, epsilon=4.0)
    names = ["git", "vim", "ssh", "tmux", "gcc"]
    rng = np.random.default_rng(7)
    people = 60_000
    population = draw_population(asked, people, rng, {"value": names})
    truth = population.truth("value")
    batch = Batch(asked.id, asked.version, asked.digest, 20_000, simulated=True)
    with open_store(tmp_path) as store:
        for _, records in population.records(rng):
            store.append_records(batch, records, asked.record_size)
        (table,) = estimate(store, asked, Options(candidates={"value": names}))
    shares = {row["value"]: (row["frequency"], row["std_error"]) for row in table.rows}
    assert shares.keys() == set(names)
    for name, (share, error) in shares.items():
        accept(mean(share, truth[name], error), alpha=1e-9)
    # Shares of draws are a quarter of these: the largest is many errors away.
    share, error = shares["git"]
    reject(mean(share / 4, truth["git"], error / 4), alpha=1e-9, miss=1e-12)
    told = " ".join(table.notes)
    assert "one of 4 places" in told
    assert "biased down" in told
    assert "places were empty" in told


def test_other_domains_stay_as_they_are() -> None:
    rows = [("a", 0.5, 0.1, (0.3, 0.7))]
    assert of_people(rows, Boolean()) == (rows, [])


def test_an_association_with_a_set_of_strings_names_its_reason(tmp_path: Path) -> None:
    domain = StringSets(most=2)
    fields = (
        Field("names", domain, resolve("olh", {"epsilon": 2.0}, domain, False)),
        Field("dark", Boolean(), resolve("krr", {"epsilon": 2.0}, Boolean(), False)),
    )
    asked = question("both", fields=fields)
    with open_store(tmp_path) as store:
        records = b"".join(
            encode(asked, {"names": ["a"], "dark": True}, bytes(32), SystemDraws())
            for _ in range(50)
        )
        batch = Batch(asked.id, asked.version, asked.digest, 20_000)
        store.append_records(batch, records, asked.record_size)
        with pytest.raises(InvalidParameter, match="set of strings"):
            associate(store, asked, Options(candidates={"names": ["a"]}))


def _profile(*unknown: str) -> Profile:
    parts = {"wet": Boolean(), "hue": Categories(("red", "blue"))}
    return Profile(tuple(Attribute(n, Perhaps(d) if n in unknown else d) for n, d in parts.items()))


def test_a_missing_attribute_is_unknown_where_that_is_declared() -> None:
    declared = _profile("hue")
    assert declared.answer({"wet": True}).codes == (1, 2)
    assert declared.answer({"wet": True, "hue": "blue"}).codes == (1, 1)
    assert declared.attributes[1].domain.labels == ("red", "blue", "unknown")
    for value in ({"hue": "red"}, {"wet": None}, {"wet": True, "hue": "unknown"}):
        with pytest.raises(InvalidAnswer):
            declared.answer(value)


def test_a_profile_with_a_missing_attribute_is_reported(tmp_path: Path) -> None:
    for unknown, told in (((), False), (("hue",), True)):
        domain = _profile(*unknown)
        parameters = resolve("marg_ps", {"epsilon": 1.0, "order": 2}, domain, False)
        survey = Survey("s", "o", (question("trip", fields=(Field("value", domain, parameters),)),))
        assert Survey.from_published(survey.published()) == survey
        with strict(survey, tmp_path / str(told)) as client:
            if told:
                client.record("trip", {"wet": True})
            else:
                with pytest.raises(RecordRefused, match="every field"):
                    client.record("trip", {"wet": True})
            assert len(client.pending()) == told
