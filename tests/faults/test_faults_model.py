"""The tools of these tests can fail: what they must notice, they notice."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from deniable.store import SqliteStore
from faults import clients
from faults.checking import check_store, prepare, store_path
from faults.material import TODAY, combination, report, reports
from faults.moody import MoodyCollector
from faults.outcome import Outcome, table
from faults.recording import Name, Said, Sync, Truncate, Write, _Reader
from faults.replaying import changed, cuts, images

ROOT = "/r"


def hexed(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def read(*lines: str) -> list[object]:
    return list(_Reader(ROOT).events(iter(lines)))


def test_calls_are_read_with_their_bytes() -> None:
    file = hexed("/r/a")
    assert read(
        f'7 openat(AT_FDCWD, "{file}", O_RDWR|O_CREAT, 0600) = 3<{file}>\n',
        f'7 pwrite64(3<{file}>, "{hexed("hello")}", 5, 4096) = 5\n',
        f"7 ftruncate(3<{file}>, 17) = 0\n",
        f"7 fdatasync(3<{file}>) = 0\n",
        f'7 rename("{file}", "{hexed("/r/b")}") = 0\n',
        f'7 write(1<{hexed("/dev/null")}>, "{hexed("kept 1")}\\x0a", 7) = 7\n',
    ) == [
        Name("create", "/r/a"),
        Write("/r/a", 4096, b"hello"),
        Truncate("/r/a", 17),
        Sync("/r/a"),
        Name("rename", "/r/a", "/r/b"),
        Said("kept 1"),
    ]


def test_calls_that_other_threads_interrupt_are_put_together() -> None:
    file = hexed("/r/a")
    assert read(
        f"7 fdatasync(3<{file}> <unfinished ...>\n",
        f'8 pwrite64(4<{file}>, "{hexed("x")}", 1, 0) = 1\n',
        "7 <... fdatasync resumed>) = 0\n",
    ) == [Write("/r/a", 0, b"x"), Sync("/r/a")]


def test_failed_calls_and_other_files_are_left_out() -> None:
    file, other = hexed("/r/a"), hexed("/elsewhere")
    assert not read(
        f'7 openat(AT_FDCWD, "{file}", O_RDWR|O_CREAT) = -1 ENOSPC (No space left on device)\n',
        f"7 fdatasync(3<{other}>) = 0\n",
        f'7 pwrite64(5<{hexed("/r/a-shm")}>, "\\x00", 1, 0) = 1\n',
        "7 +++ exited with 0 +++\n",
    )


@pytest.mark.parametrize(
    "line",
    [
        "7 fallocate(3<{}>, 0, 0, 4096) = 0\n",
        "7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3<{}>, 0) = 0x7f00\n",
        '7 pwrite64(3<{}>, "\\x00"..., 5000, 0) = 5000\n',
    ],
)
def test_what_a_trace_cannot_show_is_an_error(line: str) -> None:
    with pytest.raises(AssertionError):
        read(line.format(hexed("/r/a")))


def left(*events: object, seed: int = 1) -> list[dict[str, bytes]]:
    """What a power cut may leave at the end of a recording."""
    *_, last = cuts(list(events), ROOT)  # type: ignore[arg-type]
    return [image.files for image in images(last, ROOT, random.Random(seed), 200)]


def test_a_synced_file_without_a_synced_name_may_be_gone() -> None:
    found = left(Name("create", "/r/a"), Write("/r/a", 0, b"x"), Sync("/r/a"))
    assert {} in found
    assert {"/r/a": b"x"} in found


def test_what_is_synced_with_its_name_stays_as_it_is() -> None:
    made = (Name("create", "/r/a"), Write("/r/a", 0, b"x"), Sync("/r/a"), Sync(ROOT))
    assert left(*made) == [{"/r/a": b"x"}]


def test_a_file_in_a_folder_without_a_synced_name_may_be_gone() -> None:
    made = (Name("mkdir", "/r/d"), Name("create", "/r/d/a"), Write("/r/d/a", 0, b"x"))
    assert {} in left(*made, Sync("/r/d/a"), Sync("/r/d"))
    assert {} not in left(*made, Sync("/r/d/a"), Sync("/r/d"), Sync(ROOT))


def test_writes_are_lost_kept_and_torn_one_by_one() -> None:
    old, new = bytes(1024), b"n" * 1024
    made = (Name("create", "/r/a"), Write("/r/a", 0, old), Sync("/r/a"), Sync(ROOT))
    found = {files["/r/a"] for files in left(*made, Write("/r/a", 0, new))}
    half = b"n" * 512
    assert found == {old, new, half + bytes(512), bytes(512) + half}
    two = {files["/r/a"] for files in left(*made, Write("/r/a", 0, b"1"), Write("/r/a", 9, b"2"))}
    assert len(two) == 4


def test_a_rename_and_a_removal_may_be_lost_until_the_folder_is_synced() -> None:
    made = (Name("create", "/r/a"), Write("/r/a", 0, b"x"), Sync("/r/a"), Sync(ROOT))
    moved = left(*made, Name("rename", "/r/a", "/r/b"))
    assert {"/r/a": b"x"} in moved
    assert {"/r/b": b"x"} in moved
    assert left(*made, Name("unlink", "/r/a"), Sync(ROOT)) == [{}]
    assert {"/r/a": b"x"} in left(*made, Name("unlink", "/r/a"))


def test_holes_are_zeros_and_cuts_cut() -> None:
    assert changed(b"ab", Write("", 4, b"c")) == b"ab\0\0c"
    assert changed(b"abc", Truncate("", 1)) == b"a"


def test_lost_doubled_and_unknown_reports_are_counted(tmp_path: Path) -> None:
    prepare(tmp_path)
    with SqliteStore(store_path(tmp_path)) as store:
        store.append(reports(range(30)))
        store.append([replace(report(0), id=b"\xff" * 16)])
    outcome = Outcome("test")
    check_store(tmp_path, range(40), outcome, ())
    assert (outcome.lost, outcome.doubled, outcome.wrong) == (10, 1, 0)
    check_store(tmp_path, range(20), outcome, range(20, 29))
    assert outcome.wrong == 1  # the report with number 29 is nobody's
    assert "lost 10" in table([outcome])


def test_counters_that_say_more_than_is_there_are_noticed(tmp_path: Path) -> None:
    prepare(tmp_path)
    with SqliteStore(store_path(tmp_path)) as store:
        store.append(reports(range(30)))
        store.count({("daily", "accepted"): 3})
    outcome = Outcome("test")
    check_store(tmp_path, range(30), outcome)
    assert outcome.wrong == 1


def test_a_damaged_store_is_noticed(tmp_path: Path) -> None:
    prepare(tmp_path)
    with SqliteStore(store_path(tmp_path)) as store:
        store.append(reports(range(3_000)))
    path = store_path(tmp_path)
    data = bytearray(path.read_bytes())
    for page in range(4, len(data) // 4096):
        data[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    path.write_bytes(bytes(data))
    outcome = Outcome("test")
    try:
        check_store(tmp_path, range(3_000), outcome)
    except (sqlite3.Error, ValueError):
        outcome.damage("not readable")
    assert outcome.faults > 0


def test_answers_that_change_or_come_twice_are_noticed() -> None:
    moody = MoodyCollector(random.Random(1))
    moody._server.server_close()
    first = report(0, TODAY)
    moody.seen[first.id] = {first, report(4, TODAY)}
    outcome = Outcome("test")
    moody.judge(outcome)
    assert (outcome.wrong, outcome.doubled) == (1, 0)
    moody.seen[b"other"] = {first}
    moody.judge(outcome)
    assert outcome.doubled == 1


def test_several_questions_in_a_request_and_other_segments_are_noticed() -> None:
    moody = MoodyCollector(random.Random(1))
    moody._server.server_close()
    moody.mixed = 2
    moody.seen[b"one"] = {replace(report(0), question="by_platform", segments='{"platform":"mac"}')}
    outcome = Outcome("test")
    moody.judge(outcome)
    assert outcome.wrong == 2


def test_a_report_under_other_segments_or_another_level_is_noticed(tmp_path: Path) -> None:
    prepare(tmp_path)
    (by_segment, by_level) = (report(1), report(2))
    with SqliteStore(store_path(tmp_path)) as store:
        store.append([report(0), replace(by_segment, segments=combination(5))])
        store.append([replace(by_level, digest=report(3).digest)])
    outcome = Outcome("test")
    check_store(tmp_path, range(3), outcome)
    assert combination(1) != combination(5)
    assert (outcome.wrong, outcome.lost) == (1, 0)
    assert "2 reports under other segments or levels" in table([outcome])


@pytest.mark.parametrize("made", [False, True])
def test_a_client_without_tables_has_lost_what_it_promised_and_nothing_else(
    tmp_path: Path, made: bool
) -> None:
    (tmp_path / "state").mkdir()
    if made:  # killed after the file was made, before the tables were
        sqlite3.connect(tmp_path / "state" / "client.sqlite3").close()
        (tmp_path / "state" / "client.sqlite3").touch()
    outcome = Outcome("test")
    clients._check(tmp_path, set(), outcome)
    assert outcome.faults == 0
    clients._check(tmp_path, {("flag", 1)}, outcome)
    assert outcome.lost == 1
