"""Counts that stay when their reports go."""

from __future__ import annotations

from pathlib import Path

from deniable.cli.kept_counts import CountsKeeper, counts_folder
from deniable.collector.retention import Past, delete_past
from deniable.engines.counts_file import read_counts
from deniable.store import open_store
from material.collector_process import QUESTION, SURVEY, TODAY, report


def test_the_counts_of_an_epoch_are_a_file_and_the_reports_are_gone(tmp_path: Path) -> None:
    folder = counts_folder(str(tmp_path / "data"), tmp_path / "survey.json")
    days = {("words", 1): 1}
    seconds = [0.0]
    with open_store(tmp_path / "data") as store:
        store._expiring._monotonic = lambda: seconds[0]  # type: ignore[attr-defined]
        store._expiring._since = 0.0  # type: ignore[attr-defined]
        store.append([report(number) for number in range(200)])
        store.close_epochs(TODAY + 1, days, running_seconds=0)
        keeper = CountsKeeper(store, SURVEY, folder)
        assert delete_past(store, TODAY + 1, days, keeper) == 0
        assert not folder.exists()
        seconds[0] = 90_000.0
        assert delete_past(store, TODAY + 1, days, keeper) == 200
        assert store.tallies() == []
        keeper(Past("words", 1, TODAY))  # of nothing there is no file
    (file,) = folder.iterdir()
    kept = read_counts(file, QUESTION)
    assert kept.n == 200
    # The records are numbers in little-endian bytes: bit 0 is set in every second one.
    assert kept.counts["value"].table[0][0] == 100


def test_counts_of_few_reports_would_be_the_reports_and_are_not_kept(tmp_path: Path) -> None:
    with open_store(tmp_path / "data") as store:
        store.append([report(number) for number in range(99)])
        CountsKeeper(store, SURVEY, tmp_path / "counts")(Past("words", 1, TODAY))
    assert not (tmp_path / "counts").exists()


def test_beside_a_database_they_stand_beside_the_survey() -> None:
    place = counts_folder("postgresql://h/db", Path("/srv/survey.json"))
    assert place == Path("/srv/counts")
