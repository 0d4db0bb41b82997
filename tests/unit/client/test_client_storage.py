"""Disks that are full, locked, damaged or missing: counted, never raised, and later it works."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Limits
from deniable.client.database import FILE_NAME, MIGRATIONS, Database
from deniable.errors import RecordRefused, StoreError
from material.clients import Clock, Script, question, strict, survey

ASKED = survey(question("a"), question("b"))
QUICK = Limits(busy_seconds=0.05)


def blocked_by_a_file(directory: Path) -> Callable[[], None]:
    directory.write_bytes(b"")
    return directory.unlink


def blocked_by_a_folder(directory: Path) -> Callable[[], None]:
    (directory / FILE_NAME).mkdir(parents=True)
    return (directory / FILE_NAME).rmdir


def damaged(directory: Path) -> Callable[[], None]:
    directory.mkdir()
    (directory / FILE_NAME).write_bytes(b"this is not a database" * 100)
    return (directory / FILE_NAME).unlink


def newer(directory: Path) -> Callable[[], None]:
    strict(ASKED, directory).close()
    other = sqlite3.connect(directory / FILE_NAME, isolation_level=None)
    other.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")

    def mend() -> None:
        other.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        other.close()

    return mend


def locked(directory: Path) -> Callable[[], None]:
    strict(ASKED, directory).close()
    other = sqlite3.connect(directory / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def unlock() -> None:
        other.execute("ROLLBACK")
        other.close()

    return unlock


def without_secret(directory: Path) -> Callable[[], None]:
    (directory / "secret").mkdir(parents=True)
    return (directory / "secret").rmdir


TROUBLES = [blocked_by_a_file, blocked_by_a_folder, damaged, newer, locked, without_secret]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_is_counted_and_later_records_succeed(tmp_path: Path, trouble) -> None:
    mend = trouble(tmp_path / "state")
    with Client(ASKED, tmp_path / "state", consent=Consent.GRANTED, limits=QUICK) as client:
        client.record("a", True)
        client.flush()
        assert client.counters()["a", "storage"] == 1
        mend()
        client.record("b", True)
        assert client.flush()
        assert [report.question for report in client.pending()] == ["b"]
        client.record("a", True)  # nothing was marked as answered
        assert client.flush()
        assert len(client.pending()) == 2


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_strict_client_raises_and_recovers(tmp_path: Path, trouble) -> None:
    mend = trouble(tmp_path / "state")
    client = strict(ASKED, tmp_path / "state", limits=QUICK)
    with pytest.raises(RecordRefused) as caught:
        client.record("a", True)
    assert caught.value.reason == "storage"
    mend()
    client.record("a", True)
    assert len(client.pending()) == 1


def test_a_damaged_database_is_never_replaced(tmp_path: Path) -> None:
    damaged(tmp_path / "state")
    before = (tmp_path / "state" / FILE_NAME).read_bytes()
    client = strict(ASKED, tmp_path / "state")
    for ask in (client.disclosed, client.pending):
        with pytest.raises(StoreError):
            ask()
    with pytest.raises(RecordRefused):
        client.record("a", True)
    assert (tmp_path / "state" / FILE_NAME).read_bytes() == before


def test_opting_out_of_a_blocked_directory_holds_in_this_process(tmp_path: Path) -> None:
    mend = blocked_by_a_file(tmp_path / "state")
    client = Client(ASKED, tmp_path / "state", consent=Consent.GRANTED, limits=QUICK)
    assert not client.opt_in()
    assert not client.opt_out()
    mend()
    assert client.consent is Consent.DENIED
    client.record("a", True)
    client.close()
    assert client.counters()["a", "no_consent"] == 1
    assert client.pending() == []


def test_the_strict_client_raises_when_opting_fails(tmp_path: Path) -> None:
    blocked_by_a_file(tmp_path / "state")
    client = strict(ASKED, tmp_path / "state", limits=QUICK)
    with pytest.raises(StoreError):
        client.opt_out()


def test_a_damaged_secret_is_counted_and_not_replaced(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path)
    client.record("b", True)
    (tmp_path / "secret").write_bytes(b"damaged")
    with pytest.raises(RecordRefused) as caught:
        client.record("a", True)
    assert caught.value.reason == "secret"
    assert (tmp_path / "secret").read_bytes() == b"damaged"
    client.opt_out()
    client.opt_in()
    client.record("a", True)


FULL = """
import resource, signal, sys
from pathlib import Path
from deniable.client import Client, Consent
from deniable.protocol import Survey

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
client = Client(Path(sys.argv[1]).read_bytes(), sys.argv[2], consent=Consent.GRANTED)
client.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))  # not even the journal
client.record("a", True)
client.flush()
assert client.counters()["a", "storage"] == 1, client.counters()
assert client.pending() == []
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
client.record("a", True)
assert client.flush()
assert len(client.pending()) == 1
assert client.disclosed().questions[0].reports == 1
client.close()
"""


def test_a_disk_without_room(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(ASKED.published())
    command = [sys.executable, "-c", FULL, str(tmp_path / "survey.json"), str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_files_are_readable_by_their_user_only(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path / "deep" / "state")
    client.record("a", True)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep/state").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "deep/state").stat().st_mode) == 0o700


def test_a_directory_that_is_deleted_below_a_client_is_made_again(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(ASKED, tmp_path / "state", clock=clock)
    client.record("a", True)
    shutil.rmtree(tmp_path / "state")
    client.record("b", True)
    assert [report.question for report in client.pending()] == ["b"]
    assert (tmp_path / "state" / FILE_NAME).exists()


def test_pragmas_and_schema(tmp_path: Path) -> None:
    database = Database(tmp_path, 1.0)
    with database.reading() as connection:
        assert connection is None
    with database.transaction() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "user_version")
        }
    assert pragmas == {
        "journal_mode": "truncate",
        "synchronous": 2,
        "secure_delete": 1,
        "user_version": len(MIGRATIONS),
    }
    database.close()


def test_an_empty_file_is_migrated(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"")  # what a crash after making the file leaves
    client = strict(ASKED, tmp_path)
    client.record("a", True)
    assert len(client.pending()) == 1


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path, 1.0)

    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO meta VALUES ('a', 'b')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.transaction() as connection:
        assert connection.execute("SELECT COUNT(*) FROM meta").fetchone() == (0,)
    database.close()


def pages_before(directory: Path) -> bytes:
    """What the journal holds between two writes."""
    return (directory / f"{FILE_NAME}-journal").read_bytes()


def test_a_report_leaves_its_journal_and_whatever_deletes_empties_it(tmp_path: Path) -> None:
    """A journal holds pages as they were before: nothing that is deleted may stay in it."""
    client = strict(ASKED, tmp_path)
    client.record("a", True)
    (first,) = client.pending()
    client.record("b", True)
    kept = pages_before(tmp_path)
    assert first.id in kept  # so that the following says something
    assert not any(kept[:28])  # and its head is overwritten: nobody would roll back by it
    client.opt_out()
    assert pages_before(tmp_path) == b""
    for name in (FILE_NAME, f"{FILE_NAME}-journal"):
        assert first.id not in (tmp_path / name).read_bytes()
    client.close()


def test_what_is_sent_is_not_left_in_the_journal(tmp_path: Path) -> None:
    client = strict(ASKED, tmp_path, transport=Script())
    client.record("a", True)
    client.record("b", True)
    waiting = [report.id for report in client.pending()]
    assert pages_before(tmp_path)
    assert client.flush()
    assert not client.pending()
    stored = (tmp_path / FILE_NAME).read_bytes() + pages_before(tmp_path)
    assert not [identity for identity in waiting if identity in stored]
    client.close()


def test_a_question_that_is_always_sent_leaves_no_journal(tmp_path: Path) -> None:
    """Its report deletes what was seen."""
    client = strict(survey(question("a", send="always")), tmp_path)
    client.record("a", True)
    assert pages_before(tmp_path) == b""
    client.close()
