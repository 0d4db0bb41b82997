"""Full disks and wrong clocks lose nothing and count nothing twice."""

from __future__ import annotations

from pathlib import Path

from faults import clock, disk
from faults.outcome import table


def test_disks_that_are_full_while_collecting_closing_and_recording(tmp_path: Path) -> None:
    outcome = disk.run(tmp_path / "work", 1, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.retries > 0  # the full disk was felt
    assert outcome.acknowledged > 0


def test_clocks_and_surveys_that_are_wrong_for_one_start(tmp_path: Path) -> None:
    outcome = clock.run(tmp_path / "work", 1, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.duplicates >= len(clock.WRONG_STARTS) * clock.REPORTS
