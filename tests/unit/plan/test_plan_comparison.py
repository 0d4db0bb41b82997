"""Plans of comparisons and of mixed levels, against arithmetic by hand and against simulation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.groups import compare_groups
from deniable.mechanisms import KRR
from deniable.plan import Setting, plan_comparison, plan_survey
from deniable.protocol import Boolean
from deniable.testing.statistics import accept, proportion
from material.commands import call
from material.histories import Crowd, groups_of
from material.segmented import published


def test_the_people_of_an_effect_by_hand() -> None:
    setting = Setting(people=20_000, epsilon=1.0, domain=Boolean())
    (found,) = plan_comparison(setting, 0.1, share=0.4, mechanism="krr")
    gap = math.tanh(0.5)
    # Of a yes/no k-RR r (1 - r) / gap^2 is the variance of one report, noise and sample.
    one = sum((0.5 + gap * (f - 0.5)) * (0.5 - gap * (f - 0.5)) for f in (0.4, 0.5)) / gap**2
    wanted = (1.959964 + 0.841621) ** 2 * one / 0.1**2
    assert found.needed == math.ceil(wanted)
    assert found.shown is not None
    assert found.shown == pytest.approx(2.801585 * math.sqrt(2 * 0.25 / gap**2 / 10_000), rel=0.02)


def test_an_effect_is_found_as_often_as_planned(rng: np.random.Generator) -> None:
    """alpha 1e-9."""
    setting = Setting(people=1, epsilon=2.0, domain=Boolean())
    (found,) = plan_comparison(setting, 0.1, share=0.4, mechanism="krr")
    assert found.needed is not None
    mechanism, runs = KRR(2, epsilon=2.0), 2_000
    crowd = Crowd(mechanism, np.array([[0.6, 0.4], [0.5, 0.5]]), [found.needed] * 2, 1.0)
    hits = sum(
        compare_groups(groups_of(mechanism, crowd.draw(rng))).p_value[0, 1] < 0.05
        for _ in range(runs)
    )
    accept(proportion(hits, runs, 0.8, tolerance=0.02))


@pytest.mark.parametrize(
    ("effect", "share", "power"), [(0.0, 0.5, 0.8), (0.6, 0.5, 0.8), (0.1, 0.5, 1.0)]
)
def test_what_cannot_be_is_refused(effect: float, share: float, power: float) -> None:
    setting = Setting(people=1_000, epsilon=1.0, domain=Boolean())
    with pytest.raises(InvalidParameter):
        plan_comparison(setting, effect, share=share, power=power)


def test_the_command_prints_people_per_arm() -> None:
    told = call("plan", "--compare", 0.02, "--yes-no", "--epsilon", 1, "--people", 20_000)
    assert "45,935" in told


def test_a_mix_of_levels_costs_people(tmp_path: Path) -> None:
    (mix,) = plan_survey(published(tmp_path), 100_000).mixes
    assert (mix.question, mix.best) == ("colour", "open")
    assert mix.best_error < mix.rare_error
    assert 0 < mix.cost < 0.25  # a quarter of the people chose the level that tells less
