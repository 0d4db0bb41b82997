"""Every figure of [CKS18] at a tiny size: files, numbers, all methods, the same by seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable_papers import FIGURES, Figure, Outcome, figure, write
from deniable_papers.cks18 import fig7 as cks18_fig7
from deniable_papers.cks18 import fig8 as cks18_fig8
from deniable_papers.cks18 import level as cks18_level
from deniable_papers.cks18 import sweeps
from deniable_papers.cks18 import table2 as cks18_table2
from deniable_papers.cks18 import table3 as cks18_table3
from deniable_papers.cks18.methods import EVERY, NINE, OURS, method
from deniable_papers.cks18.people import taxi
from deniable_papers.cks18.scores import Setting, scores, subsets_of, total_variation

IDS = [one.id for one in FIGURES if one.id.startswith("cks18-")]
WANTED = {
    *(f"cks18-fig{number}" for number in (3, 4, 5, 6, 7, 8, 9, 10)),
    *("cks18-table2", "cks18-table3"),
}
PEOPLE = 4_000


@pytest.fixture(autouse=True)
def _small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time goes into the grids, not into the people."""
    monkeypatch.setattr(sweeps, "GRID", ((4, 1), (4, 2)))
    monkeypatch.setattr(sweeps, "FACTORS", (0.5, 1.0))
    monkeypatch.setattr(sweeps, "ORDERS", (1, 3))
    monkeypatch.setattr(sweeps, "TAXI_SIZES", (8,))
    monkeypatch.setattr(sweeps, "TAXI_EPSILONS", (1.1,))
    monkeypatch.setattr(sweeps, "FEW_EPSILONS", (0.4, 1.4))
    monkeypatch.setattr(sweeps, "SIZES", (4, 6))
    monkeypatch.setattr(cks18_fig7, "FEWER", 2)
    monkeypatch.setattr(cks18_level, "SETTINGS", (("default", (2, 3), 0.5, 1.1, 5_000),))
    monkeypatch.setattr(cks18_fig8, "ATTRIBUTES", 4)
    monkeypatch.setattr(cks18_fig8, "EPSILONS", (1.0,))
    monkeypatch.setattr(cks18_table2, "SIZES", (4, 6))
    monkeypatch.setattr(cks18_table2, "FIXED_SIZE", 4)
    monkeypatch.setattr(cks18_table2, "ORDERS", (1, 2))
    monkeypatch.setattr(cks18_table3, "PRINTED", ((16, 8, 1, 0.2, 3, 8), (16, 8, 2, 0.2, 3, 28)))


def tiny(one: Figure, seed: int = 0) -> Outcome:
    return one.run(one.options(runs=2, people=PEOPLE, seed=seed))


def test_every_figure_that_was_asked_for_is_there() -> None:
    assert set(IDS) == WANTED


@pytest.mark.parametrize("name", IDS)
def test_a_figure_runs_is_written_and_depends_on_its_seed_alone(name: str, tmp_path: Path) -> None:
    one = figure(name)
    outcome, again = tiny(one), tiny(one)
    assert outcome.notes
    assert outcome.paper
    numbers = json.dumps(outcome.ours, allow_nan=False)
    assert numbers == json.dumps(again.ours, allow_nan=False)
    assert outcome.tables == again.tables
    assert outcome.ours != tiny(one, seed=1).ours
    assert all(f'"{used}"' in numbers for used in EVERY)
    files = write(one, outcome, tmp_path)
    assert {path.suffix for path in files} == {".png", ".svg", ".csv"}
    assert all(path.stat().st_size > 100 for path in files)


def test_figure_4_maps_d_and_k_to_methods() -> None:
    ours: dict[str, Any] = dict(tiny(figure("cks18-fig4")).ours)
    assert list(ours) == ["4,1", "4,2"]
    for cell in ours.values():
        assert list(cell) == list(EVERY)
        assert all(error is None or error > 0 for error in cell.values())


def test_the_grid_of_figure_4_is_the_promised_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert {f"{d},{k}" for d, k in sweeps.GRID} == {
        f"{d},{k}" for d in (4, 8, 16) for k in (1, 2, 3)
    }


def test_a_method_that_cannot_be_run_is_null_with_its_reason() -> None:
    setting = Setting(24, 1, 1.0, 1_000)
    generators = [np.random.default_rng(0)]
    found = scores(taxi(None), setting, generators, ("inp_ps", "inp_ht"))
    assert found["inp_ps"].error is None
    assert "16,777,216 cells" in found["inp_ps"].reason
    assert found["inp_ht"].error is not None


def test_more_people_have_smaller_errors() -> None:
    for people in (2_000, 200_000):
        found = scores(
            taxi(None), Setting(6, 2, 1.1, people), [np.random.default_rng(0)], ("marg_ps", OURS)
        )
        if people == 2_000:
            few = found
    assert all((found[name].error or 1) < (few[name].error or 0) / 3 for name in found)


def test_counts_of_bits_are_drawn_as_reports_would_add_up() -> None:
    people = taxi(None).widened(4)
    one = method("inp_rr", people, 2, 1.1, 50_000)
    rng = np.random.default_rng(3)
    crowd = people.drawn(50_000, rng)
    slow = one.mechanism.accumulate(one.mechanism.simulate(crowd.codes, rng))
    fast = [one.counts(crowd, rng).table[0] for _ in range(200)]
    spread = np.std(fast, axis=0)
    assert np.all(np.abs(slow.table[0] - np.mean(fast, axis=0)) < 7 * spread)
    assert np.all(np.abs(spread**2 / (50_000 * 0.1875) - 1) < 0.8)


def test_counts_of_symbols_are_drawn_as_reports_would_add_up() -> None:
    people = taxi(None).widened(4)
    one = method("marg_ps", people, 2, 1.1, 20_000)
    rng = np.random.default_rng(3)
    draw = cks18_fig7.drawer(one, people, 20_000)
    fast = np.mean([draw(rng).table for _ in range(100)], axis=0)
    slow = np.mean([one.counts(people.drawn(20_000, rng), rng).table for _ in range(100)], axis=0)
    # A mean of 100 counts of at most 20,000: a standard error of the difference below 10.
    assert np.abs(fast - slow).max() < 70


def test_figure_7_rejects_what_depends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cks18_fig7, "FEWER", 30)
    one = figure("cks18-fig7")
    ours = one.run(one.options(runs=30, people=100_000)).ours
    assert ours["Toll-Far"][OURS]["aware"] > 0.6
    assert ours["CC-Tip"][OURS]["aware"] > 0.9
    assert ours["M_drop-CC"][OURS]["aware"] < 0.4
    assert ours["M_drop-CC"][OURS]["plain"] > 0.4


def test_the_papers_iteration_stops_at_once_where_the_channel_says_little() -> None:
    keep = 0.5 + 0.1 / 64
    coin = np.array([[keep, 1 - keep], [1 - keep, keep]])
    assert cks18_table3.stops_at_once(np.array([501.0, 499.0]), coin)
    keep = 0.75
    coin = np.array([[keep, 1 - keep], [1 - keep, keep]])
    assert not cks18_table3.stops_at_once(np.array([700.0, 300.0]), coin)


def test_table_3_has_no_failures_of_the_solver() -> None:
    for found in tiny(figure("cks18-table3")).ours.values():
        assert found["solver"] == 0
        assert 0 < found["no_information"] <= found["tables"]


def test_subsets_are_all_or_a_choice() -> None:
    rng = np.random.default_rng(0)
    assert len(subsets_of(16, 3, rng)) == 560
    some = subsets_of(32, 3, rng)
    assert len(set(some)) == 300
    assert all(list(one) == sorted(set(one)) for one in some)


def test_total_variation_is_half_the_distance() -> None:
    assert total_variation(np.array([0.5, 0.5]), np.array([0.2, 0.8])) == pytest.approx(0.3)


def test_nine_methods_and_ours() -> None:
    assert len(NINE) == 9
    assert (*NINE, "default") == EVERY
