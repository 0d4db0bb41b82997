from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store import STORE_FILE, open_store


def reports(question: str, epoch: int, version: int = 1) -> list[Report]:
    name = f"{question}{epoch}{version}".encode()
    return [
        Report(question, version, bytes(32), epoch, (name + bytes([i])).ljust(16), bytes([i] * 4))
        for i in range(5)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with open_store(tmp_path / "data") as store:
        for epoch in (3, 9):
            store.append(reports("colour", epoch) + reports("shape", epoch, version=2))
    return tmp_path / "data"


def call(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(make_app(["store"]), ["store", *map(str, arguments)])
    if isinstance(done.exception, StoreError):
        raise done.exception
    return done.exit_code, done.stdout


def damage(data: Path, statement: str) -> None:
    with closing(sqlite3.connect(data / STORE_FILE)) as connection, connection:
        connection.execute(statement)


def test_a_sound_store(data: Path) -> None:
    code, printed = call("check", "--data", data)
    assert code == 0
    assert printed.splitlines() == [
        "20 reports in 4 batches; 4 chunks, 80 sound bytes",
        "No damage was found.",
    ]
    code, printed = call("check", "--data", data, "--json")
    assert (code, json.loads(printed)) == (
        0,
        {
            "sound": True,
            "batches": 4,
            "chunks": 4,
            "reports": 20,
            "bytes": 80,
            "leftovers": 0,
            "problems": [],
        },
    )


def test_damage_is_named_with_what_to_do(data: Path) -> None:
    damage(
        data,
        "UPDATE chunks SET records = zeroblob(20) WHERE batch IN"
        " (SELECT batch FROM batches WHERE question = 'shape' AND epoch = 9)",
    )
    damage(data, "INSERT INTO chunks VALUES (5, x'00', x'00', x'00')")
    code, printed = call("check", "--data", data)
    assert code == 1
    assert "question shape, version 2, epoch 9: 1 of its chunks do not fit their sums" in printed
    assert "1 chunk of an unfinished closing" in printed
    assert "Restore the store from a backup, or go on with what is sound" in printed
    code, printed = call("check", "--data", data, "--json")
    found = json.loads(printed)
    assert (code, found["sound"]) == (1, False)
    assert found["problems"][0] == {
        "kind": "chunk",
        "words": "1 of its chunks do not fit their sums",
        "question": "shape",
        "version": 2,
        "epoch": 9,
    }


def test_no_store_is_an_error_of_files(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no store at"):
        call("check", "--data", tmp_path)
    (tmp_path / STORE_FILE).touch()
    with pytest.raises(StoreError, match="is an empty file"):
        call("check", "--data", tmp_path)
    with pytest.raises(StoreError, match="is an empty file"):
        call("close", "colour", "--data", tmp_path)


def test_epochs_are_closed_by_hand(data: Path) -> None:
    assert call("close", "colour", "--data", data, "--last-epoch", 3) == (
        0,
        "colour: 1 batch closed\n",
    )
    code, printed = call("close", "shape", "--data", data, "--version", 1, "--json")
    assert (code, json.loads(printed)) == (0, {"question": "shape", "closed": 0})
    code, printed = call("close", "shape", "--data", data, "--json")
    assert (code, json.loads(printed)) == (0, {"question": "shape", "closed": 2})
    with open_store(data, create=False) as store:
        assert store.append(reports("colour", 9)).duplicates == 5  # still open
        assert sum(tally.reports for tally in store.tallies()) == 20
