"""Clients that are killed disclose nothing twice, and lose nothing that was paid for."""

from __future__ import annotations

from pathlib import Path

from faults import clients
from faults.outcome import table


def test_clients_killed_in_record_upload_and_start(tmp_path: Path) -> None:
    outcome = clients.run(tmp_path / "work", 24, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.kills >= 24
    assert outcome.acknowledged > 0
