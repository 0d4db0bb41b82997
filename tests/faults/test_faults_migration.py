"""A power cut or a kill in the middle of a client's migration loses nothing and doubles nothing.

And the other way round: where the journal is not synced, the same check finds damage.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults import migration_points
from faults.crash_points import replay
from faults.outcome import Outcome, table
from faults.recording import Event, Sync, have_strace

POINTS = 200


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], str]:
    assert have_strace(), "Power cuts need strace. On Debian: apt-get install strace"
    root = tmp_path_factory.mktemp("migration") / "root"
    return migration_points.recorded(root), str(root)


def test_power_cuts_of_a_migration(work: tuple[list[Event], str]) -> None:
    outcome = replay(*work, migration_points.check, POINTS, seed=1)
    assert outcome.faults == 0, table([outcome])
    assert outcome.points >= POINTS


def test_a_migration_whose_journal_is_not_synced_is_damaged(work: tuple[list[Event], str]) -> None:
    events, root = work
    kept = [e for e in events if not (isinstance(e, Sync) and e.path.endswith("-journal"))]
    assert replay(kept, root, migration_points.check, POINTS, seed=1).faults > 0


KILLED = """
import os, sqlite3, sys
from pathlib import Path
from faults import migration_workload

def open_and_die(*arguments, **named):
    connection = connect(*arguments, **named)
    left = int(sys.argv[2])

    def die(statement):
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), 9)

    connection.set_trace_callback(die)
    return connection

connect, sqlite3.connect = sqlite3.connect, open_and_die
migration_workload.a_client(Path(sys.argv[1])).disclosed()
"""


def test_kills_at_every_statement_of_a_migration(tmp_path: Path) -> None:
    killed, said = 0, ("copied",)
    for statement in range(1, 100):
        folder = tmp_path / str(statement) / "state"
        folder.mkdir(parents=True)
        for path in (migration_points.V1 / "client").iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(folder), str(statement)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=False,
        )
        outcome = Outcome("kills")
        migration_points.check(folder.parent, said, outcome)
        assert outcome.faults == 0, table([outcome])
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0, done.stderr
            break
        killed += 1
    assert killed > 12  # there are as many from the first setting to the commit
