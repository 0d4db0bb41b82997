"""Every figure of [FPE16] at a tiny size, and the simulation behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.associate import Variable, independence
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Rappor
from deniable.testing.statistics import accept, goodness_of_fit, reject
from deniable_papers import FIGURES, Figure, Outcome, figure, write
from deniable_papers.fpe16 import distances, rejections
from deniable_papers.fpe16 import fig13 as fpe16_fig13
from deniable_papers.fpe16 import table2 as fpe16_table2
from deniable_papers.fpe16.accuracy import Setting, variables
from deniable_papers.fpe16.independence import many_tests, p_value_of_pairs
from deniable_papers.fpe16.pairs import as_reports, channel, draw_pairs
from deniable_papers.fpe16.strings import client, crowd, top
from deniable_papers.fpe16.tables import (
    TABLE_1,
    collapsed,
    declining,
    play_store,
    simplex,
    with_diagonal,
)
from deniable_papers.fpe16.unlisted import UNLISTED, shares

WANTED = {"fpe16-table2", *(f"fpe16-fig{number}" for number in (3, 4, 13, 14, 15, 16))}
IDS = [one.id for one in FIGURES if one.id in WANTED]
PEOPLE = {"fpe16-table2": 4_000, "fpe16-fig4": 3_000, "fpe16-fig14": 5_000, "fpe16-fig15": 5_000}


@pytest.fixture(autouse=True)
def _small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time goes into the grids."""
    monkeypatch.setattr(fpe16_table2, "UNLISTED_RUNS", 2)
    monkeypatch.setattr(distances, "TOTALS", (2.0, 4.0))
    monkeypatch.setattr(distances, "STEPS", (0.5, 1.0))
    monkeypatch.setattr(distances, "COVERAGE_RUNS", 2)
    monkeypatch.setattr(rejections, "LEVEL_SECOND", (3, 4))
    monkeypatch.setattr(rejections, "POWER_SECOND", (3,))
    monkeypatch.setattr(rejections, "POWER_EPSILONS", (1.5, 3.0))
    monkeypatch.setattr(distances, "SECOND", (3, 8))
    monkeypatch.setattr(distances, "SIZES_STEPS", (0.5, 1.0))


def tiny(one: Figure, seed: int = 0, **more: Any) -> Outcome:
    people = PEOPLE.get(one.id, 1_000)
    return one.run(one.options(**{"runs": 3, "people": people, "seed": seed, **more}))


def test_every_figure_that_was_asked_for_is_there() -> None:
    assert set(IDS) == WANTED


@pytest.mark.parametrize("name", IDS)
def test_a_figure_runs_is_written_and_depends_on_its_seed_alone(name: str, tmp_path: Path) -> None:
    one = figure(name)
    outcome, again = tiny(one), tiny(one)
    assert outcome.notes
    assert outcome.paper
    assert json.dumps(outcome.ours, allow_nan=False) == json.dumps(again.ours, allow_nan=False)
    assert outcome.tables == again.tables
    assert outcome.ours != tiny(one, seed=1).ours
    assert "hellinger" in json.dumps([outcome.ours, *outcome.tables.values()])
    files = write(one, outcome, tmp_path)
    assert {path.suffix for path in files} == {".png", ".svg", ".csv"}
    assert all(path.stat().st_size > 100 for path in files)


def test_table_2_has_both_tables_and_the_bias_of_unlisted_strings() -> None:
    ours = tiny(figure("fpe16-table2")).ours
    assert np.shape(ours["table_1"]) == np.shape(ours["table_2"]) == (6, 6)
    assert np.sum(ours["table_2"]) == pytest.approx(100, abs=0.1)
    # The paper's own first cell is 3.567%.
    assert ours["table_1"][0][0] == pytest.approx(TABLE_1[0][0], abs=0.1)
    found = ours["unlisted_20%"]
    assert found["runs"] == 6
    assert {"bias", "largest_cell", "coverage", "other_estimated"} <= set(found)
    assert set(ours["cells"]) == {
        f"{what} {of}" for what in ("ignored", "modelled") for of in ("joint", "conditional")
    }


def test_figure_3_reports_pooled_coverage() -> None:
    ours = tiny(figure("fpe16-fig3")).ours
    for found in ours["coverage"].values():
        assert found["runs"] == 6
        assert 0 <= found["pooled"] <= 1
    line = ours["k-RR"]["n=1000"]
    assert line["epsilon"] == [2.0, 4.0]
    assert all(0 < distance < 1 for distance in line["hellinger"])


def test_figure_14_gives_each_setting_a_type_i() -> None:
    ours = tiny(figure("fpe16-fig14")).ours
    settings = ours["default test"]["settings"]
    assert len(settings) == (2 + 1) * 3 * 2  # RAPPOR in fewer of them
    assert all(0 <= one["type_i"] <= 1 for one in settings.values())
    assert "k-RR, 6x3, epsilon 1.5, n=5000" in settings
    assert ours["maximum-likelihood Wald test"]["settings"]


def test_figure_15_finds_the_stronger_dependence_more_often() -> None:
    ours = tiny(figure("fpe16-fig15"), runs=10, people=20_000).ours
    for name in ours["Dist2"]:
        weak, strong = ours["Dist1"][name]["power"], ours["Dist2"][name]["power"]
        assert sum(strong) >= sum(weak) - 0.4
    assert ours["Dist2"]["k-RR, 6x3, n=20000"]["power"][1] == 1.0


def test_figure_13_compares_with_the_uniform_distribution() -> None:
    ours = tiny(figure("fpe16-fig13"), runs=200).ours
    assert list(ours) == [series.name for series in fpe16_fig13.SERIES]
    found = ours["default test, k-RR, epsilon 1.5, random shares"]
    assert found["runs"] == 200
    # By this fixed seed; a fresh one would fail once in 10^6.
    assert found["kolmogorov_smirnov_p"] > 1e-6


def test_real_apps_take_the_place_of_made_up_ones(tmp_path: Path) -> None:
    lines = ["category,type,apps", "A,Free,60", "A,Paid,20", "=B,Free,100", "C,Free,20"]
    (tmp_path / "play_store.csv").write_text("\n".join(lines) + "\n")
    store = play_store(tmp_path)
    assert store.categories == ("=B", "A", "C")
    assert store.table[1].tolist() == [0.3, 0.1]
    outcome = tiny(figure("fpe16-fig4"), data=tmp_path)
    assert outcome.ours["categories"] == 3
    assert {row["category"] for row in outcome.tables["rates"]} == {"=B", "A", "C"}
    made_up = play_store(None)
    rates = made_up.table[:, 1] / made_up.table.sum(axis=1)
    assert (len(rates), rates.min(), rates.max()) == (30, pytest.approx(0.04), pytest.approx(0.3))


@pytest.mark.parametrize(
    "text", ["category,type,apps\nA,Free,-1\nB,Free,2\n", "x\nA,Free\n", "x\nA,Free,3\n"]
)
def test_bad_lines_of_apps_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "play_store.csv").write_text(text)
    with pytest.raises(InvalidParameter, match=r"play_store\.csv"):
        play_store(tmp_path)


@pytest.mark.parametrize("kind", ["krr", "rappor"])
def test_pairs_have_the_law_of_simulated_people(kind: str) -> None:
    """The slow twin: person by person. Both are tested against the exact law."""
    joint = with_diagonal(np.outer([0.5, 0.3, 0.2], [0.6, 0.4]), 0.1)
    one, other = channel(kind, 3, 1.0), channel(kind, 2, 2.0)
    law = one.likelihood @ joint @ other.likelihood.T
    rng = np.random.default_rng(6)
    fast = draw_pairs(joint, one, other, 50_000, rng)
    held = rng.multinomial(50_000, joint.ravel())
    x, y = np.divmod(np.repeat(np.arange(6), held), 2)
    slow = np.zeros_like(fast)
    places = [
        {report.tobytes(): i for i, report in enumerate(part.reports)} for part in (one, other)
    ]
    for a, b in zip(one.mechanism.simulate(x, rng), other.mechanism.simulate(y, rng), strict=True):
        slow[places[0][a.tobytes()], places[1][b.tobytes()]] += 1
    wrong = channel(kind, 3, 1.3).likelihood @ joint @ other.likelihood.T
    for counts in (fast, slow):
        accept(goodness_of_fit(counts.ravel(), law.ravel()), alpha=1e-10)
        # Another epsilon: the noncentrality is above 200, so a miss has a probability below 1e-10.
        reject(goodness_of_fit(counts.ravel(), wrong.ravel()), alpha=1e-10, miss=1e-10)


def test_reports_of_pairs_are_those_that_were_drawn() -> None:
    one, other = channel("krr", 3, 1.0), channel("rappor", 2, 1.0)
    rng = np.random.default_rng(1)
    pairs = draw_pairs(np.full((3, 2), 1 / 6), one, other, 500, rng)
    first, second = as_reports(pairs, one, other)
    assert len(first) == len(second) == 500
    assert np.bincount(first["symbol"]).tolist() == pairs.sum(axis=1).tolist()
    with pytest.raises(InvalidParameter, match="Only up to 12 bits"):
        channel("rappor", 13, 1.0)


@pytest.mark.parametrize("method", ["default", "moments", "wald"])
@pytest.mark.parametrize("kind", ["krr", "rappor"])
def test_the_test_of_pairs_is_that_of_their_reports(kind: str, method: str) -> None:
    one, other = channel(kind, 4, 2.0), channel(kind, 3, 1.5)
    truth = with_diagonal(np.outer([0.4, 0.3, 0.2, 0.1], [0.5, 0.3, 0.2]), 0.02)
    pairs = draw_pairs(truth, one, other, 3_000, np.random.default_rng(8))
    reports = as_reports(pairs, one, other)
    whole = [
        Variable(name, part.mechanism, its)
        for name, part, its in zip("xy", (one, other), reports, strict=True)
    ]
    expected = independence(whole, method=method).p_value
    assert p_value_of_pairs(pairs, one, other, method) == pytest.approx(expected, rel=1e-5)


def test_channels_are_the_mechanisms_own_likelihoods() -> None:
    assert isinstance(channel("krr", 4, 1.0).mechanism, KRR)
    found = channel("rappor", 4, 1.0)
    assert isinstance(found.mechanism, Rappor)
    assert found.likelihood.shape == (16, 4)
    assert found.likelihood.sum(axis=0) == pytest.approx(np.ones(4))


def test_true_tables_are_what_the_paper_says() -> None:
    marginal = declining()
    assert marginal.sum() == pytest.approx(1)
    assert marginal[:5] == pytest.approx(np.sum(TABLE_1, axis=1)[:5] / 100, abs=0.003)
    table = np.outer(marginal, marginal)
    part = collapsed(table, [0, 1], [3])
    assert part.shape == (3, 2)
    assert part.sum() == pytest.approx(1)
    assert part[0, 0] == pytest.approx(table[0, 3])
    assert part[2, 0] == pytest.approx(table[2:, 3].sum())
    changed = with_diagonal(np.full((2, 3), 1 / 6), 0.1)
    assert changed[0, 0] == changed[1, 1] == pytest.approx((1 / 6 + 0.1) / 1.2)
    assert changed[0, 1] == pytest.approx(1 / 7.2)
    assert simplex(5, np.random.default_rng(1)).sum() == pytest.approx(1)
    assert shares()[5:].sum() == pytest.approx(UNLISTED)


def test_the_most_frequent_strings_are_found() -> None:
    law = np.outer(declining(20), declining(20))
    people = crowd(law, client(5.0), 20_000, np.random.default_rng(3))
    assert set(top(people, 0, 2)) == {0, 1}


def test_large_tables_of_bits_are_simulated_person_by_person() -> None:
    setting = Setting("rappor", (6, 18), 1.0, 500)
    found = variables(setting, np.full((6, 18), 1 / 108), np.random.default_rng(1))
    assert [variable.n for variable in found] == [500, 500]


def test_dependence_is_found_and_independence_is_not() -> None:
    setting, seeds = Setting("krr", (4, 4), 3.0, 5_000), np.random.SeedSequence(1).spawn(2)
    none = many_tests(setting, 0.0, 20, seeds[0])
    much = many_tests(setting, 0.3, 20, seeds[1])
    assert (much.p_values < 1e-6).all()
    assert none.p_values.min() > 1e-4
    assert 0 < none.hellinger < 0.3
