"""Collectors and closers that are killed lose nothing and count nothing twice."""

from __future__ import annotations

from pathlib import Path

from faults import closers, databases, deleters, kills, two_collectors
from faults.outcome import table


def test_collectors_killed_while_senders_retry_and_hang_up(tmp_path: Path) -> None:
    outcome = kills.run(tmp_path / "work", 16, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills >= 16
    assert outcome.acknowledged > 0
    assert outcome.retries > 0  # the kills were felt


def test_closers_killed_while_epochs_are_closed(tmp_path: Path) -> None:
    outcome = closers.run(tmp_path / "work", 16, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills == 16


def test_two_collectors_on_one_store_that_both_close(tmp_path: Path) -> None:
    outcome = two_collectors.run(tmp_path / "work", 20, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills >= 20
    assert outcome.acknowledged > 0


def test_three_collectors_on_one_database_whose_server_is_killed_too(tmp_path: Path) -> None:
    outcome = databases.run(tmp_path / "work", 14, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills >= 14
    assert outcome.acknowledged > 0
    assert outcome.retries > 0


def test_deleters_killed_while_open_epochs_are_past_their_retention(tmp_path: Path) -> None:
    outcome = deleters.run(tmp_path / "work", 16, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills >= 16
    assert outcome.duplicates == outcome.retries > 0
