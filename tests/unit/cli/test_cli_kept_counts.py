"""Counts that stay when their reports go."""

from __future__ import annotations

import json
from pathlib import Path

from deniable.cli.kept_counts import CountsKeeper, counts_folder
from deniable.collector.retention import Past, delete_past
from deniable.store import open_store
from material.collector_process import QUESTION, SURVEY, TODAY, report


def test_the_counts_of_an_epoch_are_a_file_and_the_reports_are_gone(tmp_path: Path) -> None:
    folder = counts_folder(str(tmp_path / "data"), tmp_path / "survey.json")
    days = {("words", 1): 1}
    seconds = [0.0]
    with open_store(tmp_path / "data") as store:
        store._expiring._monotonic = lambda: seconds[0]  # type: ignore[attr-defined]
        store._expiring._since = 0.0  # type: ignore[attr-defined]
        store.append([report(number) for number in range(40)])
        store.close_epochs(TODAY + 1, days, running_seconds=0)
        keeper = CountsKeeper(store, SURVEY, folder)
        assert delete_past(store, TODAY + 1, days, keeper) == 0
        assert not folder.exists()
        seconds[0] = 90_000.0
        assert delete_past(store, TODAY + 1, days, keeper) == 40
        assert store.tallies() == []
        keeper(Past("words", 1, TODAY))  # of nothing there is no file
    (file,) = folder.iterdir()
    told = json.loads(file.read_text())
    assert (told["question"], told["epoch"]) == ("words", TODAY)
    assert told["digest"] == QUESTION.digest.hex()
    assert told["fields"]["value"]["reports"] == [40]
    # The records are numbers in little-endian bytes: bit 0 is set in every second one.
    assert told["fields"]["value"]["table"][0][0] == 20


def test_beside_a_database_they_stand_beside_the_survey() -> None:
    place = counts_folder("postgresql://h/db", Path("/srv/survey.json"))
    assert place == Path("/srv/counts")
