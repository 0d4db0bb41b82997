"""Counts that stay when their reports go."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.cli.kept_counts import CountsKeeper, counts_folder
from deniable.collector.retention import Past, delete_past
from deniable.engines.counts_file import read_counts
from deniable.errors import StoreError
from deniable.protocol.retention import Keeping
from deniable.store import open_store
from material.collector_process import QUESTION, SURVEY, TODAY, report


@pytest.mark.parametrize("closed", [True, False])
def test_the_counts_of_an_epoch_are_a_file_and_the_reports_are_gone(
    tmp_path: Path, closed: bool
) -> None:
    folder = counts_folder(str(tmp_path / "data"), tmp_path / "survey.json")
    days = {("words", 1): 1}
    stay, kept_ones = {("words", 1): TODAY + 1}, {("words", 1): Keeping(30, counts=True)}
    seconds = [0.0]
    with open_store(tmp_path / "data") as store:
        store._expiring._monotonic = lambda: seconds[0]  # type: ignore[attr-defined]
        store._expiring._since = 0.0  # type: ignore[attr-defined]
        store.append([report(number) for number in range(200)])
        if closed:  # else its retention is shorter than late reports are taken for
            store.close_epochs(TODAY + 1, days, running_seconds=0)
        keeper = CountsKeeper(store, SURVEY, folder)
        assert delete_past(store, stay, days, kept_ones, keeper) == 0
        assert not folder.exists()
        seconds[0] = 90_000.0
        assert delete_past(store, stay, days, kept_ones, keeper) == 200
        assert store.tallies() == []
        keeper(Past("words", 1, TODAY))  # of nothing there is no file
    (file,) = folder.iterdir()
    kept = read_counts(file, QUESTION)
    assert kept.n == 200
    # The records are numbers in little-endian bytes: bit 0 is set in every second one.
    assert kept.counts["value"].table[0][0] == 100


def test_a_second_collector_and_a_second_try_write_the_same_file(tmp_path: Path) -> None:
    with open_store(tmp_path / "data") as store:
        store.append([report(number) for number in range(200)])
        store.close_epochs(TODAY + 1, {("words", 1): 1}, running_seconds=0)
        for _ in range(2):
            CountsKeeper(store, SURVEY, tmp_path / "counts")(Past("words", 1, TODAY))
        assert len(list((tmp_path / "counts").iterdir())) == 1
        store.append([report(number) for number in range(200, 400)])  # late, and more
        CountsKeeper(store, SURVEY, tmp_path / "counts")(Past("words", 1, TODAY))
        assert len(list((tmp_path / "counts").iterdir())) == 2


def test_counts_that_cannot_be_written_are_a_store_error_and_leave_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "counts").write_text("a file where the folder should be")
    with open_store(tmp_path / "data") as store:
        store.append([report(number) for number in range(200)])
        with pytest.raises(StoreError, match="stay until they can"):
            CountsKeeper(store, SURVEY, tmp_path / "counts")(Past("words", 1, TODAY))
        assert sum(tally.reports for tally in store.tallies()) == 200


def test_counts_of_few_reports_would_be_the_reports_and_are_not_kept(tmp_path: Path) -> None:
    with open_store(tmp_path / "data") as store:
        store.append([report(number) for number in range(99)])
        CountsKeeper(store, SURVEY, tmp_path / "counts")(Past("words", 1, TODAY))
    assert not (tmp_path / "counts").exists()


def test_beside_a_database_they_stand_beside_the_survey() -> None:
    place = counts_folder("postgresql://h/db", Path("/srv/survey.json"))
    assert place == Path("/srv/counts")
