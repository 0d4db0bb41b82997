"""Every figure of [KBR16] and the oracles at a tiny size: files, numbers, the same by seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable_papers import FIGURES, Figure, Outcome, figure, oracles, write
from deniable_papers.kbr16 import auto as kbr16_auto
from deniable_papers.kbr16 import fig1 as kbr16_fig1
from deniable_papers.kbr16 import fig2 as kbr16_fig2
from deniable_papers.kbr16 import fig3 as kbr16_fig3
from deniable_papers.kbr16 import sweep as kbr16_sweep
from deniable_papers.kbr16.grid_search import Setting

IDS = [one.id for one in FIGURES if one.id.startswith("kbr16-") or one.id == "oracles"]
WANTED = {
    *("kbr16-fig1", "kbr16-fig1-l2", "kbr16-fig2", "kbr16-fig2-l2", "kbr16-fig3a", "kbr16-fig3b"),
    *("kbr16-sweep", "oracles"),
}
PEOPLE = {"kbr16-fig1": 1_000, "kbr16-fig2": 1_000, "oracles": 256}


@pytest.fixture(autouse=True)
def _small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time goes into the grids, not into the people."""
    for module in (kbr16_fig1, kbr16_fig2):
        monkeypatch.setattr(module, "cells", lambda: [(4, 0.7), (4, 4.2), (64, 0.7)])
    monkeypatch.setattr(kbr16_fig3, "EPSILONS", (1.0, 5.0))
    monkeypatch.setattr(kbr16_fig3, "SMALL", 24)
    monkeypatch.setattr(kbr16_fig3, "LARGE", 48)
    monkeypatch.setattr(kbr16_sweep, "EPSILONS", (3.0,))
    monkeypatch.setattr(kbr16_sweep, "BEST_SIZE", {3.0: 16})
    monkeypatch.setattr(oracles, "ALPHABETS", (64,))
    monkeypatch.setattr(oracles, "EPSILONS", (1.0,))


def tiny(one: Figure, seed: int = 0) -> Outcome:
    return one.run(one.options(runs=2, people=PEOPLE.get(one.id, 2_000), seed=seed))


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
    other = tiny(one, seed=1)
    assert (outcome.ours, outcome.tables) != (other.ours, other.tables)
    files = write(one, outcome, tmp_path)
    assert {path.suffix for path in files} == {".png", ".svg", ".csv"}
    assert all(path.stat().st_size > 100 for path in files)


@pytest.mark.parametrize("name", ["kbr16-fig3a", "kbr16-fig3b"])
def test_figure_3_compares_three_mechanisms_in_three_settings(name: str) -> None:
    ours: dict[str, Any] = dict(tiny(figure(name)).ours)
    assert list(ours) == ["S=24, n=2000", "S=48, n=2000", "S=48, n=200000"]
    for panel in ours.values():
        for mechanism in ("orr", "orappor", "auto"):
            line = panel[mechanism]
            assert len(line["median"]) == len(line["std_error"]) == 2
            # Five times the epsilon: less loss, and never more than a distribution can miss.
            assert 2 > line["median"][0] > line["median"][1] > 0
        for ratio in ("orr_over_orappor", "auto_over_orr", "auto_over_orappor"):
            assert len(panel[ratio]["meets"]) == 2


def test_figure_1_says_which_decoder_is_best() -> None:
    outcome = tiny(figure("kbr16-fig1"))
    for mechanism in ("krr", "krappor"):
        shares = outcome.ours[mechanism]["all"]
        assert set(shares) == set(outcome.paper[mechanism]["all"])
        assert all(0 <= share <= 1 for share in shares.values())
    losses = {row["e_to_epsilon"]: row["projected"] for row in outcome.tables["cells"][:6:2]}
    assert len(losses) == 2  # e^0.7 and e^4.2


def test_figure_2_finds_krr_better_below_the_diagonal() -> None:
    one = figure("kbr16-fig2")
    ours = one.run(one.options(runs=200, people=3_000)).ours
    assert ours["geometric, 3,000 people"]["better_below_diagonal"] == 1.0
    assert ours["geometric, 3,000 people"]["worse_far_above"] == 1.0


def test_the_sweep_names_the_best_value() -> None:
    ours = tiny(figure("kbr16-sweep")).ours
    assert set(ours) == {"O-RR, k", "O-RR, C", "O-RAPPOR, k", "O-RAPPOR, C", "O-RAPPOR, h"}
    for sweep in ours.values():
        at = sweep["epsilon 3"]
        assert at["losses"][at["values"].index(at["best"])] == min(at["losses"])


def test_oracles_are_near_their_closed_forms() -> None:
    one = figure("oracles")
    ours = one.run(one.options(runs=10, people=256)).ours
    assert set(ours) == set(oracles.ORACLES)
    for found in ours.values():
        # 160 runs of 64 answers: a standard error of 1.4%; ten of them are allowed.
        assert found["worst"] < 0.14
    assert ours["subset"]["closed_form_floor"]["k=64, epsilon=1"] == pytest.approx(1, abs=0.02)
    assert ours["krr"]["closed_form_floor"]["k=64, epsilon=1"] > 3


def test_auto_runs_what_a_survey_would_be_published_with() -> None:
    closed, strings = Setting(4, 5_000, closed=True), Setting(64, 5_000, closed=False)
    assert kbr16_auto.chosen(closed, 3.0).parameters.mechanism == "krr"
    mechanism = kbr16_auto.chosen(strings, 3.0)
    generators = [np.random.default_rng(seed) for seed in range(2)]
    losses = kbr16_auto.losses(strings, mechanism, generators)
    assert losses.shape == (2,)
    assert np.all((losses > 0) & (losses < 1))
