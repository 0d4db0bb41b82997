"""The figures of [FPE16] on unknown strings at a tiny size, and what they are scored by."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.protocol import Strings
from deniable_papers import Figure, Outcome, figure, write
from deniable_papers.fpe16 import fig9 as fpe16_fig9
from deniable_papers.fpe16 import fig11 as fpe16_fig11
from deniable_papers.fpe16 import fig12 as fpe16_fig12
from deniable_papers.fpe16 import learned as accuracy
from deniable_papers.fpe16 import names as listed
from deniable_papers.fpe16.discovery import (
    Crowd,
    geometric,
    hellinger,
    power_law,
    random_strings,
    scored,
)

IDS = [f"fpe16-fig{number}" for number in (7, 8, 9, 11, 17, 18)]


@pytest.fixture(autouse=True)
def _small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "EPSILONS", (6.0,))
    monkeypatch.setattr(fpe16_fig9, "LENGTHS", {2: (4,), 3: (6,)})
    monkeypatch.setattr(fpe16_fig11, "THRESHOLDS", (0.0, 0.25, 4.0))
    monkeypatch.setattr(fpe16_fig12, "EPSILONS", (4.39, 2.07))
    monkeypatch.setattr(fpe16_fig12, "BEAM", 5)
    monkeypatch.setattr(listed, "TRAINED", 300)


def tiny(one: Figure, seed: int = 0) -> Outcome:
    return one.run(one.options(runs=1, people=3_000, seed=seed))


def leaves(value: Any, path: str = "") -> dict[str, float]:
    if isinstance(value, dict):
        return {k: v for name in value for k, v in leaves(value[name], f"{path}/{name}").items()}
    return {} if path.endswith("seconds") else {path: value}


@pytest.mark.parametrize("name", IDS)
def test_a_figure_runs_and_is_written(name: str, tmp_path: Path) -> None:
    outcome = tiny(figure(name))
    numbers = leaves(outcome.ours)
    assert all(math.isfinite(number) for number in numbers.values())
    for wanted in ("hellinger", "learned"):
        found = [number for path, number in numbers.items() if path.endswith(wanted)]
        assert found
        assert all(0 <= number <= 1 for number in found)
    assert any("epsilon" in note for note in outcome.notes)
    files = write(figure(name), outcome, tmp_path)
    assert {path.suffix for path in files} == {".png", ".svg", ".csv"}


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again, other = (leaves(tiny(figure("fpe16-fig7"), seed).ours) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_figure_12_has_every_method_and_takes_a_list(tmp_path: Path) -> None:
    names = [f"name{i}.com" for i in range(listed.NAMES + listed.TRAINED)]
    (tmp_path / "domains.txt").write_text("\n".join(names))
    one = figure("fpe16-fig12")
    outcome = one.run(one.options(runs=1, people=2_000, data=tmp_path))
    assert {row["string"] for row in outcome.tables["strings"]} <= set(names[: listed.NAMES])
    for epsilon in ("4.39", "2.07"):
        for method in ("ngrams", "prefixes", "coded", "trigrams"):
            assert {"found", "false", "candidates", "seconds"} <= outcome.ours[epsilon][
                method
            ].keys()
        assert {"known", "known_third"} <= outcome.ours[epsilon].keys()
    assert outcome.ours["2.07"]["paper_client"]["epsilon"] == pytest.approx(2.07, abs=0.01)
    assert "skewed" in outcome.ours["4.39"]
    numbers = leaves(outcome.ours)
    assert all(math.isfinite(number) for number in numbers.values())
    assert any(path.endswith("hellinger") for path in numbers)
    assert write(one, outcome, tmp_path)


def test_hellinger_distance() -> None:
    truth = {"a": 0.64, "b": 0.36}
    assert hellinger(truth, truth) == 0
    assert hellinger(truth, {}) == pytest.approx(math.sqrt(0.5))
    assert hellinger(truth, {"c": 1.0}) == pytest.approx(1)
    assert hellinger(truth, {"a": 0.64, "x": -0.1}) == pytest.approx(0.6 / math.sqrt(2))
    assert hellinger({"a": 1.0}, {"a": 1.2}) == 0


def test_scores() -> None:
    crowd = Crowd(Strings("ab", 2), ["a", "b", "ab"], np.array([3, 1, 0]))
    numbers = scored({"a": 0.7, "ab": 0.3, "bb": 0.1}, crowd)
    assert (numbers["found"], numbers["false"]) == (1, 2)
    assert numbers["learned"] == pytest.approx(1 / 3)


def test_populations(rng: np.random.Generator) -> None:
    for shares in (power_law(100), geometric(100, 0.963)):
        assert shares.sum() == pytest.approx(1)
        assert np.all(np.diff(shares) < 0)
    assert power_law(100)[0] / power_law(100)[10] == pytest.approx(2**5)
    strings = random_strings(50, 3, rng)
    assert len(set(strings)) == 50
    made = listed.made_up(200, rng)
    assert len(set(made)) == 200
    assert all(listed.DOMAIN.fitted(name) == name for name in made)
