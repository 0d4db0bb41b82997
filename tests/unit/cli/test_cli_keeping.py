"""deniable delete, backup and restore."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.errors import InvalidParameter, StoreError
from deniable.store import Batch, open_store
from material.stores import DIGEST, multiset, report, reports

DAYS = {("colour", 1): 1, ("shape", 1): 1}


def call(*words: object) -> str:
    done = CliRunner().invoke(make_app([str(words[0])]), [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with open_store(tmp_path / "data") as store:
        store.append([*reports(20, epoch=10), *reports(5, 20, epoch=11), report(99, 10, "shape")])
        store.close_epochs(12, DAYS, running_seconds=0)
        store.append(reports(3, 50, epoch=20))
    return tmp_path / "data"


def test_a_dry_run_says_all_and_deletes_nothing(data: Path) -> None:
    printed = call("delete", "colour", "--last-epoch", 11, "--data", data, "--dry-run")
    assert printed.splitlines()[:3] == [
        "  colour, version 1, epoch 10: 20 reports",
        "  colour, version 1, epoch 11: 5 reports",
        "25 reports would be deleted.",
    ]
    assert "backups and copies of the store" in printed
    with open_store(data, create=False) as store:
        assert sum(multiset(store).values()) == 28


def test_a_question_an_epoch_and_simulated_reports_are_deleted(data: Path) -> None:
    told = json.loads(call("delete", "colour", "--first-epoch", 11, "--data", data, "--json"))
    assert (told["deleted"], told["dry_run"], len(told["found"])) == (8, False, 2)
    with open_store(data, create=False) as store:
        assert multiset(store) == Counter(range(20))
        batch = Batch("colour", 1, DIGEST, 10, simulated=True)
        store.append_records(batch, bytes(12), 4)
    assert json.loads(call("delete", "--simulated", "--data", data, "--json"))["deleted"] == 3
    assert "20 reports were deleted." in call("delete", "colour", "--data", data)
    with open_store(data, create=False) as store:
        assert {tally.batch.question for tally in store.tallies()} == {"shape"}


def test_nothing_chosen_is_refused(data: Path) -> None:
    with pytest.raises(InvalidParameter, match="Name a question"):
        call("delete", "--data", data)


def test_backup_and_restore(data: Path, tmp_path: Path) -> None:
    printed = call("backup", tmp_path / "copy", "--data", data)
    assert printed.startswith("26 reports in 3 batches: all in")
    told = json.loads(call("restore", tmp_path / "copy", "--data", tmp_path / "new", "--json"))
    assert (told["reports"], told["batches"]) == (26, 3)
    with open_store(tmp_path / "new", create=False) as store:
        assert multiset(store) == Counter(range(25))
    with pytest.raises(StoreError, match="holds reports already"):
        call("restore", tmp_path / "copy", "--data", data)
    whole = json.loads(call("backup", tmp_path / "all", "--data", data, "--with-open", "--json"))
    assert whole["reports"] == 29
