"""Power cuts at every sync of the store and of the client lose nothing that was promised.

And the other way round: where syncs are left out, the same check finds losses.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import client_points, store_points
from faults.crash_points import replay
from faults.outcome import table
from faults.recording import Event, Sync, have_strace

STORE_POINTS, CLIENT_POINTS = 700, 500


@pytest.fixture(scope="module")
def store_work(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], str]:
    assert have_strace(), "Power cuts need strace. On Debian: apt-get install strace"
    root = tmp_path_factory.mktemp("store") / "root"
    return store_points.recorded(root, 1), str(root)


@pytest.fixture(scope="module")
def client_work(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], str]:
    assert have_strace(), "Power cuts need strace. On Debian: apt-get install strace"
    root = tmp_path_factory.mktemp("client") / "root"
    return client_points.recorded(root, 2), str(root)


def test_power_cuts_of_a_store(store_work: tuple[list[Event], str]) -> None:
    outcome = replay(*store_work, store_points.check, STORE_POINTS, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.points >= STORE_POINTS
    assert outcome.duplicates > 0


def test_power_cuts_of_a_client(client_work: tuple[list[Event], str]) -> None:
    outcome = replay(*client_work, client_points.check, CLIENT_POINTS, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.points >= CLIENT_POINTS


def test_a_store_whose_log_is_not_synced_loses_reports(
    store_work: tuple[list[Event], str],
) -> None:
    events, root = store_work
    outcome = replay(_without(events, "-wal"), root, store_points.check, 1, seed=1)
    assert outcome.lost > 0


def test_a_store_that_syncs_nothing_loses_reports(tmp_path: Path) -> None:
    root = tmp_path / "root"
    events = store_points.recorded(root, 1, careless=True)
    assert replay(events, str(root), store_points.check, 1, seed=1).lost > 0


def test_a_client_whose_database_is_not_synced_forgets_what_it_has_sent(
    client_work: tuple[list[Event], str],
) -> None:
    events, root = client_work
    kept = _without(events, "sqlite3", "-wal", "-journal")
    outcome = replay(kept, root, client_points.check, 1, 1, parts=5)
    assert outcome.lost > 0
    assert outcome.doubled > 0  # the same epoch was answered again


def test_a_client_whose_secret_has_no_synced_name_changes_permanent_answers(
    client_work: tuple[list[Event], str],
) -> None:
    events, root = client_work
    outcome = replay(_without(events, "/state"), root, client_points.check, 1, 1, parts=5)
    assert outcome.faults > 0


def _without(events: list[Event], *endings: str) -> list[Event]:
    """Return a recording without the syncs of files and folders whose name ends so."""
    return [e for e in events if not (isinstance(e, Sync) and e.path.endswith(endings))]
