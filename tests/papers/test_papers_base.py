"""Options and the registry: sizes, seeds, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.errors import InvalidParameter
from deniable_papers import FIGURES, figure
from deniable_papers.base import Options

TABLE = figure("epk14-table1")


def test_a_figure_has_its_own_sizes_unless_others_are_given() -> None:
    two = figure("epk14-fig2")
    assert (two.options().runs, two.options(full=True).runs) == (two.runs, two.full_runs)
    assert (two.options(runs=7).runs, two.options(people=12_345).people) == (7, 12_345)


@pytest.mark.parametrize(
    ("name", "value"), [("runs", 0), ("people", 99), ("seed", -1), ("runs", True)]
)
def test_sizes_out_of_range_are_refused_by_name(name: str, value: int) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(InvalidParameter, match=f"'{name}' parameter of epk14-table1"):
        TABLE.options(**wrong)


def test_data_must_be_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="'data' parameter"):
        TABLE.options(data=tmp_path / "missing")


def test_every_run_has_a_generator_of_its_own_that_the_seed_decides() -> None:
    first, again, other = Options(3, 100), Options(3, 100), Options(3, 100, seed=1)
    numbers = [[g.random() for g in one.generators()] for one in (first, again, other)]
    assert numbers[0] == numbers[1]
    assert len({*numbers[0], *numbers[2]}) == 6


def test_progress_is_told_from_nothing_to_everything() -> None:
    told: list[tuple[int, int]] = []
    options = Options(1, 100, progress=lambda done, total: told.append((done, total)))
    assert list(options.steps("abc")) == ["a", "b", "c"]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_every_id_is_unique_and_an_unknown_one_lists_them_all() -> None:
    ids = [one.id for one in FIGURES]
    assert len(set(ids)) == len(ids)
    with pytest.raises(InvalidParameter, match=r"epk14-fig1.*bj18-hash"):
        figure("epk14-fig9")
