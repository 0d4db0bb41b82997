"""The second error bar of pairs and trees: in every form, and wide enough for the attack."""

from __future__ import annotations

import json
import math
from datetime import date

import numpy as np
import pytest

from deniable.ask import Options
from deniable.ask.profiles import Profiles, along_tree, pairs_table, tree_table
from deniable.authoring import resolve
from deniable.crafted.pairs import (
    CraftedPair,
    CraftedPairs,
    crafted_edges,
    crafted_pairs,
)
from deniable.crafted.raw_tables import Range
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.marginals.correlation import correlation
from deniable.marginals.information import mutual_information
from deniable.marginals.tree import Edge, Tree
from deniable.mechanisms import mechanism_of
from deniable.protocol import (
    Attribute,
    Boolean,
    Categories,
    Field,
    Profile,
    ProfileParameters,
    Question,
)
from deniable.results.table import as_json, as_text
from deniable.testing.ledger import LEDGER

PEOPLE = 20_000
NOWHERE = Range(math.nan, math.nan)


def crowds(
    mechanism: str, share: float, *, three: bool = False, people: int = PEOPLE
) -> tuple[Profiles, Profiles]:
    """Return all reports, with liars who say that the first two are both true, and the honest."""
    last = Categories(("a", "b", "c")) if three else Boolean()
    record = Profile((Attribute("x", Boolean()), Attribute("y", last), Attribute("z", Boolean())))
    parameters = resolve(mechanism, {"epsilon": 3.0, "order": 2}, record, False)
    assert isinstance(parameters, ProfileParameters)
    field = Field("value", record, parameters)
    asked = Question("trips", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    population, rng = mechanism_of(field, False), np.random.default_rng(7)
    codes = rng.integers(0, parameters.answers, size=(people, 3))
    codes[:, 2] = np.where(rng.random(people) < 0.7, codes[:, 0], codes[:, 2])
    reports, liars = population.simulate(codes, rng), round(share * people)
    honest = population.accumulate(reports[liars:].copy())
    cell = (1, parameters.answers[1] - 1)
    if liars:
        reports[:liars] = population.records(crafted_cells(parameters, (0, 1), cell, liars, rng))
    seen = population.accumulate(reports)
    whole, rest = (
        Profiles.of(Accumulated(asked, {"value": counts}, {1: counts.n}))
        for counts in (seen, honest)
    )
    return whole, rest


@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("three", [False, True], ids=["yes/no", "three answers"])
@pytest.mark.parametrize("mechanism", ["views", "coefficients", "inp_ps"])
def test_what_the_honest_say_lies_within(mechanism: str, three: bool, share: float) -> None:
    seen, honest = crowds(mechanism, share, three=three)
    found = crafted_pairs(seen.mechanism, seen.counts, seen.pairs, share)
    truth = {(t.first, t.second): t.test.p_value for t in honest.pairs.tests()}
    LEDGER.add(1e-10)
    for pair, ends in found.pairs.items():
        assert ends.p_value.low <= truth[pair] <= ends.p_value.high
        cells = honest.pairs.cells[pair]
        assert ends.information.low <= float(mutual_information(cells)) <= ends.information.high
        assert ends.smoothed.low <= correlation(cells).value <= ends.smoothed.high
        if not three or pair == (0, 2):
            raw = correlation(honest.pairs.raw[pair].probability).value
            assert ends.raw.low <= raw <= ends.raw.high
        else:
            assert np.isnan(ends.raw).all()


@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("mechanism", ["views", "coefficients", "inp_ps"])
def test_shares_along_the_honest_tree_lie_within(mechanism: str, share: float) -> None:
    """The liars push y = true, and with it what the tree says of z where x and y are given."""
    seen, honest = crowds(mechanism, share, people=50_000)
    LEDGER.add(1e-10)
    for asked, given in ((["y"], {"x": "true"}), (["x", "y", "z"], {}), (["z"], {"y": "true"})):
        rows = along_tree(seen, asked, given, Options(crafted=share)).rows
        truth = along_tree(honest, asked, given).rows
        for row, true in zip(rows, truth, strict=True):
            (low, high), value = row["crafted_interval"], true["along_tree"]
            assert isinstance(low, float)
            assert isinstance(high, float)
            assert isinstance(value, float)
            assert low <= value <= high


def test_liars_make_a_dependence_that_does_not_survive_the_bar() -> None:
    """Of x and y nothing is true, and 3% of liars make it significant; x and z do depend."""
    seen, honest = crowds("views", 0.03)
    assert next(t for t in seen.pairs.tests() if (t.first, t.second) == (0, 1)).holm
    assert not next(t for t in honest.pairs.tests() if (t.first, t.second) == (0, 1)).holm
    found = crafted_pairs(seen.mechanism, seen.counts, seen.pairs, 0.03)
    assert found.still() == {(0, 1): False, (0, 2): True, (1, 2): False}
    text = as_text(pairs_table(seen, options=Options(crafted=0.03)))
    assert "with 0.03 crafted" in text
    assert [row.crafted_holm for row in pairs_table(seen, options=Options(crafted=0.03)).rows][
        :2
    ] == [True, False]
    assert text.count("unsure") == 2
    assert "of 2 dependent pairs (Holm) are still dependent for sure: 1." in text


def test_share_0_changes_nothing_and_no_share_adds_nothing() -> None:
    seen, _ = crowds("views", 0.0)
    plain = json.loads(as_json(pairs_table(seen)))
    none = json.loads(as_json(pairs_table(seen, options=Options(crafted=0.0))))
    assert plain["crafted"] is None
    assert "crafted" not in json.dumps(plain["rows"])
    for before, row in zip(plain["rows"], none["rows"], strict=True):
        assert {key: row[key] for key in before} == before
        for name, value in (("p_value", "p_value"), ("information", "information"),
                            ("smoothed", "smoothed_correlation")):  # fmt: skip
            ends = row[f"crafted_{name}"]
            assert ends == pytest.approx([row[value]] * 2)
        assert row["crafted_holm"] == row["holm"]
        reach = 1.96 * row["std_error"]
        assert row["crafted_raw"][1] == pytest.approx(row["raw_correlation"] + reach, rel=1e-3)
    assert "crafted" not in json.dumps(json.loads(as_json(tree_table(seen)))["rows"])


@pytest.mark.parametrize("share", [-0.01, 2.0, float("nan")])
def test_wrong_shares_are_refused(share: float) -> None:
    seen, _ = crowds("views", 0.0, people=2_000)
    for view in (pairs_table, tree_table):
        with pytest.raises(InvalidParameter, match="'crafted' parameter"):
            view(seen, options=Options(crafted=share))


def test_pairs_that_nobody_reported_on_have_no_ends() -> None:
    seen, _ = crowds("inp_ht", 0.0, people=4)
    rows = json.loads(as_json(pairs_table(seen, options=Options(crafted=0.01))))["rows"]
    unknown = [row for row in rows if row["p_value"] is None]
    assert unknown
    assert all(row["crafted_p_value"][1] is None for row in unknown)
    assert all(row["crafted_raw"][0] is None for row in unknown)
    assert not any(row["crafted_holm"] for row in unknown)
    assert "n/a" in as_text(pairs_table(seen, options=Options(crafted=0.01)))


def test_the_tree_of_the_view_says_which_edges_stay() -> None:
    seen, _ = crowds("views", 0.01)
    data = json.loads(as_json(tree_table(seen, Options(crafted=0.01))))
    first, second = data["rows"]
    assert {first["first"], first["second"]} == {"x", "z"}
    assert first["crafted_stays"] is True
    assert second["crafted_stays"] is False
    assert first["rival"] in ("x and y", "y and z")
    assert "1 of 2 edges stay: " in data["notes"][0]
    assert "stays" in as_text(tree_table(seen, Options(crafted=0.01)))


def information(low: float, high: float) -> CraftedPair:
    return CraftedPair(NOWHERE, NOWHERE, NOWHERE, Range(low, high))


def test_an_edge_stays_if_no_pair_across_its_cut_can_have_more() -> None:
    """The chain 0-1-2-3: pairs across the cut of an edge are its rivals, and only they."""
    tree = Tree(tuple("abcd"), (Edge(0, 1, 0.5), Edge(1, 2, 0.4), Edge(2, 3, 0.3)))
    pairs = {
        (0, 1): information(0.4, 0.6),
        (0, 2): information(0.1, 0.35),
        (0, 3): information(0.0, 0.05),
        (1, 2): information(0.3, 0.5),
        (1, 3): information(0.0, 0.05),
        (2, 3): information(0.2, 0.4),
    }
    one, two, three = crafted_edges(tree, CraftedPairs(0.01, pairs))
    assert (one.rival, one.stays) == ((0, 2), True)
    assert (two.rival, two.stays) == ((0, 2), False)
    assert (three.rival, three.stays) == ((0, 3), True)
    assert three.information == (0.2, 0.4)
    unknown = {**pairs, (0, 3): CraftedPair(NOWHERE, NOWHERE)}
    edges = crafted_edges(tree, CraftedPairs(0.01, unknown))
    assert [edge.stays for edge in edges] == [False, False, False]


def test_two_attributes_have_no_rival() -> None:
    tree = Tree(("a", "b"), (Edge(0, 1, 0.5),))
    (edge,) = crafted_edges(tree, CraftedPairs(0.01, {(0, 1): information(0.1, 0.6)}))
    assert edge.rival is None
    assert edge.stays
