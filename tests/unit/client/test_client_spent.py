"""All that was disclosed is in one table: migrated whole, and saying no more than two did."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deniable.client import ledger
from deniable.client.database import FILE_NAME, MIGRATIONS, Database
from deniable.client.ledger import Charge
from deniable.errors import StoreError
from deniable.protocol.windows import Span, Window
from material.clients import COLOURS, Clock, question, strict, survey

PAGE = 4_096
ASKED = survey(
    question("fresh"),
    question("kept", COLOURS, parameters={"epsilon": 0.5, "epsilon_forever": 1.5}),
    question("same", COLOURS, repeat="permanent"),
)


def of_version_1(folder: Path, seed: int, rows: int) -> tuple[list[object], list[object]]:
    """A database as the first version left it, and the rows of its ledger and its charges."""
    rng = random.Random(seed)
    folder.mkdir(exist_ok=True)
    path = folder / FILE_NAME
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(MIGRATIONS[0].read_text("utf-8"))
        for number in range(rows):
            sums = (rng.randrange(10**6), rng.randrange(10**6), rng.choice([0, 1, 10**9, 10**13]))
            connection.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", (f"q{number}", *sums))
            first = rng.randrange(10**6)
            days = (first, first + rng.randrange(100), rng.randrange(10**8))
            connection.execute("INSERT OR IGNORE INTO charges VALUES (?, ?, ?)", days)
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
        return told(connection)


def told(connection: sqlite3.Connection) -> tuple[list[object], list[object]]:
    lines = connection.execute("SELECT * FROM ledger ORDER BY 1").fetchall()
    return lines, connection.execute("SELECT * FROM charges ORDER BY 1, 2").fetchall()


@pytest.mark.parametrize(("seed", "rows"), [(1, 0), (2, 1), (3, 40), (4, 2_000)])
def test_a_migration_keeps_every_micro(tmp_path: Path, seed: int, rows: int) -> None:
    lines, days = of_version_1(tmp_path, seed, rows)
    database, window = Database(tmp_path, 1.0), Window(10**6, 30)
    with database.reading() as connection:
        assert connection is not None
        assert told(connection) == (lines, days)
        found = ledger.disclosed(connection, 1.0, window)
        assert connection.execute(ledger.TOTAL).fetchone() == (sum(line[3] for line in lines),)  # type: ignore[index]
    database.close()
    assert [(q.question, q.reports, q.answers, q.micros) for q in found.questions] == lines
    assert found.fullest == window.fullest(Span(*row) for row in days)  # type: ignore[misc]


def test_a_migration_leaves_nothing_of_the_old_tables(tmp_path: Path) -> None:
    of_version_1(tmp_path, 5, 2_000)
    database = Database(tmp_path, 1.0)
    with database.reading() as connection:
        assert connection is not None
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    database.close()
    data = (tmp_path / FILE_NAME).read_bytes()
    trunk = int.from_bytes(data[32:36], "big")
    assert free > 20
    while trunk:
        page = data[(trunk - 1) * PAGE : trunk * PAGE]
        leaves = int.from_bytes(page[4:8], "big")
        assert not any(page[8 + 4 * leaves :])
        for place in range(leaves):
            number = int.from_bytes(page[8 + 4 * place : 12 + 4 * place], "big")
            assert not any(data[(number - 1) * PAGE : number * PAGE])
        trunk = int.from_bytes(page[:4], "big")
    journal = tmp_path / f"{FILE_NAME}-journal"
    assert not journal.exists() or not journal.stat().st_size


def test_a_process_of_the_first_version_writes_nothing_into_the_new_tables(tmp_path: Path) -> None:
    """One that had the file open: the first statement that would charge fails, and rolls back."""
    lines, days = of_version_1(tmp_path, 6, 3)
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as older:
        database = Database(tmp_path, 1.0)
        with database.transaction():
            pass
        database.close()
        for statement in (
            "INSERT INTO ledger VALUES ('q0', 1, 1, 1) ON CONFLICT (question) DO UPDATE"
            " SET reports = reports + 1",
            "INSERT INTO charges VALUES (1, 1, 1) ON CONFLICT (first, last) DO UPDATE"
            " SET micros = micros + excluded.micros",
        ):
            with pytest.raises(sqlite3.OperationalError):
                older.execute(statement)
        assert told(older) == (lines, days)


def test_an_older_client_refuses_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strict(ASKED, tmp_path).close()
    before = (tmp_path / FILE_NAME).read_bytes()
    monkeypatch.setattr("deniable.client.database.MIGRATIONS", MIGRATIONS[:1])
    client = strict(ASKED, tmp_path)
    with pytest.raises(StoreError, match="has schema 2, this version reads up to 1: upgrade"):
        client.disclosed()
    assert (tmp_path / FILE_NAME).read_bytes() == before


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        for step in MIGRATIONS:
            made.executescript(step.read_text("utf-8"))
        yield made


def test_sums_are_those_of_two_tables(connection: sqlite3.Connection) -> None:
    """The slow twin: dictionaries."""
    rng, lines, days = random.Random(7), dict[str, list[int]](), dict[tuple[int, int], int]()
    for _ in range(400):
        asked = question(rng.choice("abc"), epoch=rng.choice([1, 7]))
        epoch, paid = rng.randrange(30), rng.choice([0, 1, 127, 10**6, 10**12])
        charge = Charge(paid, 1 if paid else 0)
        ledger.add(connection, asked, epoch, charge)
        line = lines.setdefault(asked.id, [0, 0, 0])
        for place, number in enumerate((1, charge.answers, charge.micros)):
            line[place] += number
        if paid:
            key = (epoch * asked.epoch, epoch * asked.epoch + asked.epoch - 1)
            days[key] = days.get(key, 0) + paid
    assert told(connection) == (
        sorted((name, *line) for name, line in lines.items()),
        sorted((*key, micros) for key, micros in days.items()),
    )


def test_a_report_that_costs_nothing_leaves_no_trace_among_the_days(
    connection: sqlite3.Connection,
) -> None:
    ledger.add(connection, ASKED.questions[1], 5, Charge(0, 0))
    assert told(connection) == ([("kept", 1, 0, 0)], [])


def test_sums_and_windows_are_found_by_key(connection: sqlite3.Connection) -> None:
    """A sum over the questions does not read the days, which are more every day."""
    for statement, values in (
        (ledger.TOTAL, ()),
        ("SELECT first, last, micros FROM charges WHERE last > ? AND first < ?", (1, 9)),
    ):
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
        assert [row[3].split(" (")[0] for row in plan] == ["SEARCH spent USING PRIMARY KEY"]


def places(path: Path, table: str = "spent") -> list[int]:
    """Return where each row of a small table begins in its page, in the order of keys."""
    with closing(sqlite3.connect(path)) as connection:
        statement = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (root,) = connection.execute(statement, (table,)).fetchone()
    page = path.read_bytes()[(root - 1) * PAGE : root * PAGE]
    assert page[0] == 10  # a leaf: all rows are in this page
    cells = int.from_bytes(page[3:5], "big")
    return [int.from_bytes(page[8 + 2 * n : 10 + 2 * n], "big") for n in range(cells)]


def a_life(folder: Path, changes: set[int], first: str) -> Path:
    """Twenty days of three questions, two of which get another value on some days."""
    clock, colours = Clock(), ["red", "green", "blue"]
    client = strict(ASKED, folder, clock=clock)
    for day in range(20):
        colour = colours[sum(change <= day for change in changes)]
        values = {"fresh": True, "kept": colour, "same": colour}
        for name in sorted(values, reverse=first == "same"):
            client.record(name, values[name])
        clock.forward(days=1)
    client.close()
    return folder / FILE_NAME


LIVES = [set[int](), {3}, {15}, {4, 11}, {12, 13}]


@pytest.mark.parametrize("first", ["fresh", "same"])
def test_the_places_of_rows_do_not_say_when_a_value_changed(tmp_path: Path, first: str) -> None:
    """Days are sums over all questions; a question's place must not tell whose they are."""
    found = [
        places(a_life(tmp_path / str(number), changes, first))
        for number, changes in enumerate(LIVES)
    ]
    assert len(found[0]) == 20 + 3
    assert found == [found[0]] * len(LIVES)


def test_places_would_say_so_if_sums_took_the_bytes_they_need(tmp_path: Path) -> None:
    """The control: the same rows with plain numbers, as SQLite writes them, move."""
    found = []
    for number, changes in enumerate(LIVES):
        path = tmp_path / f"{number}.sqlite3"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(
                "CREATE TABLE spent (question, first, last, answers, micros,"
                " PRIMARY KEY (question, first, last)) WITHOUT ROWID"
            )
            for day in range(20):
                paid = day == 0 or day in changes
                for row in (("", day, day, None, 10**6), ("kept", 0, 0, paid, paid * 1_500_000)):
                    connection.execute(
                        "INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                        " answers = answers + excluded.answers, micros = micros + excluded.micros",
                        row,
                    )
        found.append(places(path))
    assert len({tuple(each) for each in found}) > 1
