"""A client's database that is lost is noticed, and never begun anew; no crash locks anybody out."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable.client import Client, Consent, files
from deniable.client.database import FILE_NAME, MIGRATIONS, Database
from deniable.client.files import MARKER_NAME as MARKER
from deniable.client.secret import FILE_NAME as SECRET
from deniable.errors import LedgerLost, RecordRefused, StoreError
from material.clients import Clock, question, strict, survey

ASKED = survey(question("a"), question("b"))


def contents(directory: Path) -> dict[str, bytes]:
    """All files but the journal: SQLite empties what it left where its database is empty."""
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.name: path.read_bytes() for path in found if not path.name.endswith("-journal")}


def used(directory: Path) -> Clock:
    """A directory in which `a` was answered today."""
    clock = Clock()
    client = strict(ASKED, directory, clock=clock)
    client.record("a", True)
    client.close()
    return clock


def empty(directory: Path) -> None:
    (directory / FILE_NAME).write_bytes(b"")


def missing(directory: Path) -> None:
    (directory / FILE_NAME).unlink()


def blank(directory: Path) -> None:
    """A database of its name that never had a ledger."""
    missing(directory)
    sqlite3.connect(directory / FILE_NAME).close()
    with sqlite3.connect(directory / FILE_NAME) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()


def of_an_earlier_version(lose: Callable[[Path], None]) -> Callable[[Path], None]:
    """The same without a marker: the secret is enough."""

    def lost(directory: Path) -> None:
        lose(directory)
        (directory / MARKER).unlink()

    return lost


def after_opting_out(lose: Callable[[Path], None]) -> Callable[[Path], None]:
    """The same without a secret: the marker is enough."""

    def lost(directory: Path) -> None:
        client = strict(ASKED, directory, consent=None)
        client.opt_out()
        client.close()
        assert not (directory / SECRET).exists()
        lose(directory)

    return lost


LOSSES = {
    "empty": empty,
    "missing": missing,
    "blank": blank,
    "empty, no marker": of_an_earlier_version(empty),
    "missing, no marker": of_an_earlier_version(missing),
    "empty, opted out": after_opting_out(empty),
    "missing, opted out": after_opting_out(missing),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_database_is_refused_by_a_strict_client(tmp_path: Path, loss: str) -> None:
    clock = used(tmp_path)
    LOSSES[loss](tmp_path)
    before = contents(tmp_path)
    client = strict(ASKED, tmp_path, clock=clock)
    for ask in (
        lambda: client.record("a", True),
        lambda: client.record("b", True, wait=True),
        client.disclosed,
        client.pending,
        client.opt_in,
    ):
        with pytest.raises(StoreError, match="delete the whole directory") as caught:
            ask()
        assert isinstance(caught.value, LedgerLost)
    assert client.consent is Consent.UNKNOWN
    client.close()
    assert contents(tmp_path) == before  # nothing was made, nothing replaced


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_database_is_counted_by_a_background_client(tmp_path: Path, loss: str) -> None:
    clock = used(tmp_path)
    LOSSES[loss](tmp_path)
    before = contents(tmp_path)
    with Client(ASKED, tmp_path, consent=Consent.GRANTED, clock=clock) as client:
        client.record("a", True)
        assert client.record("b", True, wait=True) is False
        client.flush()
        assert not client.opt_in()
        assert client.counters()["a", "lost"] == client.counters()["b", "lost"] == 1
        assert client.counters()["", "lost"] >= 1
    assert contents(tmp_path) == before


@pytest.mark.parametrize("lose", [empty, missing])
def test_a_database_that_is_lost_below_a_running_client(tmp_path: Path, lose) -> None:
    clock = Clock()
    client = strict(ASKED, tmp_path, clock=clock)
    client.record("a", True)
    lose(tmp_path)
    for _ in range(2):  # the first may be SQLite's own surprise
        with pytest.raises((LedgerLost, RecordRefused)) as caught:
            client.record("b", True)
    assert isinstance(caught.value, LedgerLost)
    client.close()


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if "opted out" not in loss])
def test_opting_out_of_a_lost_database_still_wipes_the_secret(tmp_path: Path, loss: str) -> None:
    used(tmp_path)
    LOSSES[loss](tmp_path)
    client = strict(ASKED, tmp_path, consent=None)
    with pytest.raises(LedgerLost):
        client.opt_out()
    assert not (tmp_path / SECRET).exists()
    assert client.consent is not Consent.GRANTED
    client.close()
    again = strict(ASKED, tmp_path)
    with pytest.raises(LedgerLost):  # which is not forgotten with the secret
        again.record("a", True)
    again.close()


def test_a_database_that_comes_back_is_used_again(tmp_path: Path) -> None:
    clock = used(tmp_path)
    (tmp_path / FILE_NAME).rename(tmp_path / "away")
    client = strict(ASKED, tmp_path, clock=clock)
    with pytest.raises(LedgerLost):
        client.record("b", True)
    (tmp_path / "away").rename(tmp_path / FILE_NAME)
    client.record("b", True)
    assert client.disclosed().epsilon == 2.0
    client.close()


def test_a_whole_new_directory_is_a_new_device(tmp_path: Path) -> None:
    clock = used(tmp_path / "state")
    shutil.rmtree(tmp_path / "state")
    client = strict(ASKED, tmp_path / "state", clock=clock)
    client.record("a", True)
    assert client.disclosed().epsilon == 1.0
    client.close()


def test_opting_out_and_in_keeps_what_was_spent(tmp_path: Path) -> None:
    clock = used(tmp_path)
    client = strict(ASKED, tmp_path, consent=None, clock=clock)
    client.opt_out()
    client.close()
    again = strict(ASKED, tmp_path, consent=None, clock=clock)
    again.opt_in()
    assert again.disclosed().epsilon == 1.0
    with pytest.raises(Exception, match="answered already"):
        again.record("a", True)
    again.close()


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from deniable.client import Client, Consent
client = Client(sys.argv[1], sys.argv[2], consent=Consent.GRANTED,
                clock=lambda: datetime(2026, 3, 2, 12, tzinfo=UTC))
assert client.record("a", True, wait=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_kill_leaves_beside_the_database_can_be_lost(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(ASKED.published())
    state = tmp_path / "state"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "survey.json"), str(state)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    for path in state.iterdir():
        if path.name not in (FILE_NAME, SECRET, MARKER):
            path.unlink()
    client = strict(ASKED, state)
    assert client.disclosed().epsilon == 1.0
    with pytest.raises(Exception, match="answered already"):
        client.record("a", True)
    client.close()


def test_a_torn_database_is_refused(tmp_path: Path) -> None:
    client = strict(survey(*(question(f"q{i}") for i in range(50))), tmp_path)
    for i in range(50):
        client.record(f"q{i}", True)
    client.close()
    data = bytearray((tmp_path / FILE_NAME).read_bytes())
    pages = len(data) // 4096
    assert pages > 10
    data[4096 * 2 : 4096 * (pages - 1)] = bytes(4096 * (pages - 3))
    (tmp_path / FILE_NAME).write_bytes(data)
    again = strict(ASKED, tmp_path)
    with pytest.raises(StoreError):
        again.disclosed()
    assert (tmp_path / FILE_NAME).read_bytes() == data


class _Stopped(BaseException):
    """The process ends here."""


STEPS = ["make_directory", "make_empty", "write_new", "sync_directory"]


@pytest.mark.parametrize("occurrence", range(8))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_between_the_first_files_neither_locks_out_nor_forgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, occurrence: int
) -> None:
    """Stop at every step that makes a file or syncs a directory, then start again."""
    seen: list[str] = []

    def stopping(name: str) -> Callable[..., None]:
        real = getattr(files, name)

        def step(*arguments: object) -> None:
            seen.append(name)
            last = len(seen) == occurrence + 1
            if last and when == "before":
                raise _Stopped
            real(*arguments)
            if last:
                raise _Stopped

        return step

    clock = Clock()
    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(files, name, stopping(name))
        try:
            client = strict(ASKED, tmp_path / "new" / "state", clock=clock)
            client.record("a", True)
            committed = True
        except _Stopped:
            committed = False
    if committed:
        assert len(seen) < occurrence + 1, "no step was stopped"
        assert len(seen) >= 6  # the grid covers all of them
    again = strict(ASKED, tmp_path / "new" / "state", clock=clock)
    if again.pending():
        assert again.disclosed().epsilon == 1.0
    else:
        again.record("a", True)
    again.record("b", True)
    assert again.disclosed().epsilon == 2.0
    assert (tmp_path / "new" / "state" / MARKER).exists()
    again.close()


def test_the_order_of_the_first_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema is committed before the marker, the marker before the secret."""
    states: list[tuple[str, int, bool]] = []
    real = files.write_new

    def write(path: Path, data: bytes) -> None:
        other = sqlite3.connect(tmp_path / FILE_NAME)
        (version,) = other.execute("PRAGMA user_version").fetchone()
        other.close()
        states.append((path.name.partition(".")[0], version, (tmp_path / MARKER).exists()))
        real(path, data)

    monkeypatch.setattr(files, "write_new", write)
    client = strict(ASKED, tmp_path)
    client.record("a", True)
    client.close()
    assert states == [(MARKER, len(MIGRATIONS), False), (SECRET, len(MIGRATIONS), True)]


def test_a_marker_that_cannot_be_made_stops_the_rest(tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_new", full)
        with pytest.raises(StoreError), Database(tmp_path, 1.0).transaction():
            pytest.fail("a transaction without a marker")
    assert not (tmp_path / MARKER).exists()
    client = strict(ASKED, tmp_path)
    client.record("a", True)
    client.close()


def test_new_directories_are_synced_from_the_top(tmp_path: Path, monkeypatch) -> None:
    synced: list[Path] = []
    real = files.sync_directory
    monkeypatch.setattr(files, "sync_directory", lambda path: (synced.append(path), real(path)))
    files.make_directory(tmp_path / "a" / "b" / "c")
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    synced.clear()
    files.make_directory(tmp_path / "a" / "b" / "c")
    assert synced == []
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
