"""Files that vanish, are emptied, replaced or cut are noticed, and never taken for new ones."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from test_store_trouble import run

from deniable.errors import StoreError
from deniable.store import SqliteStore
from deniable.store.sqlite.files import prepare_file
from deniable.store.sqlite.mark import Mark
from material.stores import multiset, report, reports


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


@pytest.mark.parametrize("create", [True, False])
def test_an_empty_file_is_never_taken_for_a_new_store(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "s"
    path.touch()
    with pytest.raises(StoreError, match=r"is an empty file: .* Restore it\. To begin anew"):
        SqliteStore(path, create=create)
    assert path.stat().st_size == 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_that_was_emptied_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
    os.truncate(path, 0)
    with pytest.raises(StoreError, match="is an empty file"):
        SqliteStore(path)


@pytest.mark.parametrize("create", [True, False])
def test_a_store_that_is_missing_is_not_begun_anew(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
    path.rename(tmp_path / "kept")
    with pytest.raises(StoreError, match=r"is missing: s-mark says that there was one"):
        SqliteStore(path, create=create)
    assert not path.exists()
    (tmp_path / "kept").rename(path)
    with SqliteStore(path) as store:
        assert store.append(reports(3)).duplicates == 3


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, beside(path, ".copy"))
    beside(path, ".copy").rename(path)


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    ("suffix", "act"),
    [
        ("", remove),
        ("", replace),
        ("", empty),
        ("-wal", remove),
        ("-wal", replace),
        ("-shm", remove),
        ("-shm", replace),
    ],
)
def test_files_that_change_under_an_open_store_are_noticed(
    tmp_path: Path, suffix: str, act: Callable[[Path], None]
) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
        act(beside(path, suffix))
        before = {file.name for file in tmp_path.iterdir()}
        calls: list[Callable[[], object]] = [
            lambda: store.append(reports(3, 3)),
            lambda: store.append_records(next(iter(seen)).batch, b"1234", 4),
            lambda: store.count({("", "accepted"): 0}),
            lambda: store.find_over(1, {}),
            lambda: store.close_question("colour"),
            lambda: list(store.read("colour")),
            store.tallies,
            store.counters,
        ]
        with SqliteStore(tmp_path / "other") as other:
            other.append(reports(1))
            seen = list(other.read("colour"))
        for call in calls:
            with pytest.raises(StoreError, match=r"was removed or replaced|is an empty file"):
                call()
        assert {file.name for file in tmp_path.iterdir() if "other" not in file.name} == before


def test_a_file_that_is_put_back_works_again(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
        path.rename(tmp_path / "moved")
        with pytest.raises(StoreError, match="nothing was written"):
            store.append(reports(3, 3))
        (tmp_path / "moved").rename(path)
        assert store.append(reports(3, 3)).accepted == 3
        assert multiset(store) == Counter(range(6))


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_nothing_is_acknowledged_when_a_file_goes_in_the_middle_of_a_group(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / "s"
    going = []

    def draw(size: int) -> bytes:
        if going:  # randomness is drawn inside the transaction
            beside(path, suffix).unlink(missing_ok=True)
        return os.urandom(size)

    with SqliteStore(path, random_bytes=draw) as store:
        store.append(reports(3))
        going.append(True)
        with pytest.raises(StoreError, match="was removed or replaced"):
            store.append(reports(3, 3))


KILLED = """
    import os, signal, sys
    from material.stores import reports
    from deniable.store import SqliteStore

    store = SqliteStore(sys.argv[1])
    for start in range(0, 100, 10):
        assert store.append(reports(10, start)).accepted == 10
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("act", [remove, empty])
def test_a_lost_log_is_noticed(tmp_path: Path, act: Callable[[Path], None]) -> None:
    path = tmp_path / "s"
    with run(KILLED, path) as process:
        process.wait()
    assert process.returncode == -signal.SIGKILL
    kept = tmp_path / "kept"
    shutil.copy(beside(path, "-wal"), kept)
    act(beside(path, "-wal"))
    for create in (True, False):
        with pytest.raises(StoreError, match=r"has lost 10 of the 10 .* remove s-mark\."):
            SqliteStore(path, create=create)
    shutil.copy(kept, beside(path, "-wal"))
    with SqliteStore(path) as store:
        assert multiset(store) == Counter(range(100))


def test_an_older_copy_is_noticed_and_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
    shutil.copy(path, tmp_path / "backup")
    with SqliteStore(path) as store:
        store.append(reports(3, 3))
    shutil.copy(tmp_path / "backup", path)
    with pytest.raises(StoreError, match="an older copy was put back"):
        SqliteStore(path)
    Mark(path).path.unlink()
    with SqliteStore(path) as store:
        assert store.append(reports(4)).duplicates == 3


@pytest.mark.parametrize("content", [b"", b"x", b"deniable store, transactions: 9", b"\0" * 64])
def test_a_torn_mark_says_nothing_and_is_written_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(3))
        number = Mark(path).read()
    Mark(path).path.write_bytes(content)
    assert Mark(path).read() is None
    with SqliteStore(path) as store:
        assert Mark(path).read() == number
        assert multiset(store) == Counter(range(3))


def test_one_changed_digit_of_a_mark_is_seen(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "s")
    mark.note(41)
    line = mark.path.read_bytes()
    mark.path.write_bytes(line.replace(b"041 ", b"049 "))
    assert mark.read() is None


def test_a_mark_never_goes_back_and_needs_no_space_to_be_safe(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "s")
    for number in (7, 5, 9):
        mark.note(number)
    assert mark.read() == 9
    Mark(tmp_path / "no" / "folder").note(3)  # cannot be written, and says nothing


def test_a_mark_is_never_ahead_of_what_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store.append(reports(3))
        before = Mark(store.path).read()
        store._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match="full"):
            store.append(reports(5_000, 3))
        assert Mark(store.path).read() == before


def test_a_store_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash before the name is given leaves nothing of that name."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", crash)
        with pytest.raises(KeyboardInterrupt):
            SqliteStore(tmp_path / "s")
    assert list(tmp_path.iterdir()) == []
    prepare_file(tmp_path / "s", create=True)
    assert (tmp_path / "s").stat().st_size > 0
    assert not Mark(tmp_path / "s").path.exists()  # a crash here is no lost store
    with SqliteStore(tmp_path / "s") as store:
        assert store.append([report(1)]).accepted == 1


def test_a_name_that_another_process_gave_first_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def second(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        with SqliteStore(target) as store:
            store.append([report(1)])
        link(source, target)

    monkeypatch.setattr(os, "link", second)
    with SqliteStore(tmp_path / "s") as store:
        assert store.append([report(1), report(2)]).new == (False, True)
    assert {file.name for file in tmp_path.iterdir()} == {"s", "s-mark"}


OPENER = """
    import sys
    from material.stores import report
    from deniable.store import SqliteStore

    print("ready", flush=True)
    for line in sys.stdin:
        path, number = line.split()
        with SqliteStore(path) as store:
            print(store.append([report(int(number))]).accepted, flush=True)
"""


def test_two_processes_may_start_at_once_on_an_empty_directory(tmp_path: Path) -> None:
    with run(OPENER) as one, run(OPENER) as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for number in range(15):
            path = tmp_path / f"{number}" / "data" / "s"
            for name, process in enumerate((one, two)):
                assert process.stdin is not None
                process.stdin.write(f"{path} {name}\n")
                process.stdin.flush()
            for process in (one, two):
                assert process.stdout is not None
                assert process.stdout.readline() == "1\n"
            with SqliteStore(path, create=False) as store:
                assert multiset(store) == Counter([0, 1])
            assert not list(path.parent.glob("*.new"))
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.close()
