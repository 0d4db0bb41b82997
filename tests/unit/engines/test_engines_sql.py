"""Databases count the columns of an archive to the bit as threads count its records."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable.engines import accumulate
from deniable.engines.counts_file import to_bytes
from deniable.engines.sql import HEADER, counts_from_sql, dealt, query, weighed
from deniable.errors import InvalidParameter, StoreError
from deniable.mechanisms import KRR
from deniable.protocol import Survey
from deniable.store import Batch, open_store
from deniable.store.archive import Archive, check_archive, write_archive
from deniable.store.archive.columns import columns_of
from material.archives import every_archive
from material.cluster import Cluster
from material.commands import call, run

Made = tuple[Survey, Path, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("sql")
    survey, data, place = every_archive(folder, columns=True)
    krr = next(question for question in survey.questions if question.id == "krr")
    with open_store(data) as store:
        batch = Batch(krr.id, krr.version, krr.digest, 20_009, simulated=True)
        store.begin_simulation(batch, 7, 30, among_real=True)
        store.append_records(batch, bytes(krr.record_size) * 30, krr.record_size)
        store.close_question(krr.id, floor=20)
        write_archive(store, survey.known, place, columns=True)
    return survey, data, place


def by_duckdb(text: str, result: Path) -> None:
    duckdb.sql(f"COPY ({text.rstrip().rstrip(';')}) TO '{result}' (HEADER, DELIMITER ',')")


def test_duckdb_counts_every_mechanism(made: Made, tmp_path: Path) -> None:
    survey, _, place = made
    with open_store(place) as archive:
        for question in survey.questions:
            result = tmp_path / f"{question.id}.csv"
            by_duckdb(query(question, "duckdb", str(place)), result)
            expected = accumulate(archive, question, apart=True)
            found = counts_from_sql(result, question)
            assert expected.n > 0
            assert to_bytes(found) == to_bytes(expected), question.id
        krr = next(question for question in survey.questions if question.id == "krr")
        assert accumulate(archive, krr).simulated == 30


def test_postgresql_counts_every_mechanism(made: Made, cluster: Cluster, tmp_path: Path) -> None:
    survey, _, place = made
    archive = Archive(place)
    with cluster.connect() as connection:
        for question in survey.questions:
            names = [column.name for column in columns_of(question)]
            connection.execute('DROP TABLE IF EXISTS "from archive"')
            connection.execute(
                'CREATE TABLE "from archive" (digest text, epoch bigint, simulated boolean, '
                + "segments text, "
                + ", ".join(f'"{name}" bigint' for name in names)
                + ")"
            )
            with connection.cursor().copy('COPY "from archive" FROM STDIN') as copy:
                for name, batch in archive.within(question.id).items():
                    table = pq.read_table(archive.address(name), partitioning=None).to_pydict()
                    texts = table.get("segments", [""] * len(table["record"]))
                    for row, text in enumerate(texts):
                        head = (batch.digest.hex(), batch.epoch, batch.simulated, text)
                        copy.write_row((*head, *(table[name][row] for name in names)))
            result = tmp_path / f"{question.id}.csv"
            text = query(question, "postgres", "from archive").rstrip().rstrip(";")
            out = f"COPY ({text}) TO STDOUT (FORMAT csv, HEADER)"
            with connection.cursor().copy(out.encode()) as copy, result.open("wb") as file:
                for data in copy:
                    file.write(data)
            found = counts_from_sql(result, question)
            assert to_bytes(found) == to_bytes(accumulate(archive, question, apart=True))
        connection.execute('DROP TABLE "from archive"')


def test_the_commands_make_the_same_counts_file(made: Made, tmp_path: Path) -> None:
    _, _, place = made
    survey = ("--survey", place.parent / "survey.json")
    text = call("export", "bloom", *survey, "--sql", "duckdb", "--archive", place)
    by_duckdb(text, tmp_path / "result.csv")
    call("count", "bloom", *survey, "--from-sql", tmp_path / "result.csv", "-o", tmp_path / "one")
    call("count", "bloom", *survey, "--data", place, "-o", tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert 'FROM "my table"' in call(
        "export", "bloom", *survey, "--sql", "postgres", "--table", "my table"
    )
    failed = run("count", "krr", *survey, "--from-sql", tmp_path / "result.csv")
    assert failed.exit_code != 0


def test_an_archive_with_columns_is_an_archive(made: Made, tmp_path: Path) -> None:
    survey, data, place = made
    assert check_archive(place).problems == ()
    with open_store(data, create=False) as store:
        with pytest.raises(StoreError, match="with columns"):
            write_archive(store, survey.known, place)
        write_archive(store, survey.known, tmp_path / "plain")
        with pytest.raises(StoreError, match="without columns"):
            write_archive(store, survey.known, tmp_path / "plain", columns=True)


def damaged(result: Path, change: dict[str, str], target: Path) -> Path:
    with result.open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= change
    with target.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    return target


@pytest.mark.parametrize(
    "change",
    [
        {"n": "0"},
        {"n": "-3"},
        {"n": "1"},
        {"numbers": "[]"},
        {"numbers": "[NULL]"},
        {"sums": "[1]"},
        {"sums": "hello"},
        {"field": "nobody"},
        {"epoch": ""},
    ],
)
def test_a_result_that_does_not_fit_is_refused(
    made: Made, tmp_path: Path, change: dict[str, str]
) -> None:
    survey, _, place = made
    question = next(question for question in survey.questions if question.id == "bloom")
    by_duckdb(query(question, "duckdb", str(place)), tmp_path / "r.csv")
    with pytest.raises(InvalidParameter):
        counts_from_sql(damaged(tmp_path / "r.csv", change, tmp_path / "d.csv"), question)
    (tmp_path / "e.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidParameter, match="columns"):
        counts_from_sql(tmp_path / "e.csv", question)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        counts_from_sql(tmp_path / "nothing.csv", question)


def test_bits_are_dealt_with_their_sums_and_evenly(rng: np.random.Generator) -> None:
    for n in (1, 2, 7, 1_000):
        for _ in range(20):
            sums = rng.integers(0, n + 1, 9)
            bits, times = dealt(sums, n)
            assert times.sum() == n
            assert len(times) <= 10
            assert ((bits * times[:, None]).sum(axis=0) == sums).all()
            held = bits.sum(axis=1)
            assert held.max() - held.min() <= 1


def test_records_that_occur_often_count_often() -> None:
    mechanism = KRR(3, epsilon=1.0)
    records = np.zeros((2, 4), np.uint8)
    records[1, 0] = 2
    found = weighed(mechanism, records, np.array([10**12 + 5, 3]))
    assert found.table.tolist() == [[10**12 + 5, 0, 3]]
    assert found.n == 10**12 + 8
