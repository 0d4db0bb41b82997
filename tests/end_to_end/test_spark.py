"""A real Spark cluster counts to the bit what threads count, also when it loses a worker."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deniable.engines import Selection, Threads, accumulate
from deniable.engines.counts_file import to_bytes
from deniable.engines.files import CountFold, Files
from deniable.engines.spark import Spark, running_session, spark_session
from deniable.errors import InvalidParameter, InvalidReport, StoreError
from deniable.protocol import Question
from deniable.store.archive import Archive
from material.archives import EPOCHS, every_archive
from material.commands import call, run
from material.spark_cluster import PATIENCE, SparkCluster, descendants, listening
from material.spark_gates import GatedFold

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


class World:
    """The cluster, a session on it, and an archive."""

    def __init__(self, cluster: SparkCluster, session: SparkSession, folder: Path) -> None:
        self.cluster, self.session = cluster, session
        self.survey, self.data, self.place = every_archive(folder)
        self.folder = folder
        self.archive = Archive(self.place)

    def question(self, name: str) -> Question:
        return next(question for question in self.survey.questions if question.id == name)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    cluster = SparkCluster(tmp_path_factory.mktemp("spark"))
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in cluster.environment.items():
                patch.setenv(name, value)
            cluster.add_worker()
            cluster.add_worker()
            session = spark_session(cluster.address)
            try:
                yield World(cluster, session, tmp_path_factory.mktemp("archive"))
            finally:
                session.stop()
    finally:
        cluster.stop()


def test_every_mechanism_by_epoch_and_segment(world: World) -> None:
    spark = Spark(world.session, tasks=2)
    for question in world.survey.questions:
        found = accumulate(world.archive, question, apart=True, engine=spark)
        assert found.n > 0
        assert to_bytes(found) == to_bytes(accumulate(world.archive, question, apart=True))


def test_everything_listens_on_loopback_alone(world: World) -> None:
    own = [*world.cluster.pids, *descendants(os.getpid())]
    found = listening(own)
    assert found
    assert found <= LOOPBACK


@pytest.mark.parametrize("apart", [True, False])
def test_workers_merge_large_counts_first(world: World, apart: bool) -> None:
    question = world.question("hcms")
    expected = accumulate(world.archive, question, apart=apart)
    spark = Spark(world.session, tasks=6, driver_bytes=1)
    files = Files.of(world.archive, question, Selection(floor=20), Threads())
    fold = CountFold(question, files.names, apart, weight=1)
    assert len(list(Spark(world.session, 6).partials(fold, files.paths))) == 6
    assert len(list(spark.partials(fold, files.paths))) <= 3, "merged by three tasks"
    found = accumulate(world.archive, question, apart=apart, engine=spark)
    assert (found.epochs, found.segments) == (expected.epochs, expected.segments)
    assert found.cells.keys() == expected.cells.keys()
    assert (found.counts["value"].table == expected.counts["value"].table).all()


def test_a_selection_and_a_floor(world: World) -> None:
    question, spark = world.question("bloom"), Spark(world.session)
    for selection in (
        Selection(EPOCHS[0], EPOCHS[1], {"platform": "linux"}, 20),
        Selection(floor=60),
        Selection(last_epoch=1),
    ):
        expected = accumulate(world.archive, question, selection, apart=True)
        found = accumulate(world.archive, question, selection, apart=True, engine=spark)
        assert to_bytes(found) == to_bytes(expected)


def test_any_dataframe_with_a_binary_column(world: World) -> None:
    question, spark = world.question("bloom"), Spark(world.session)
    selection = Selection(floor=20)
    frame = world.session.read.parquet(str(world.place / "question=bloom"))
    other = world.session.read.parquet(str(world.place / "question=krr"))
    expected = accumulate(world.archive, question, selection, apart=True)
    assert to_bytes(spark.count_dataframe(frame, question, selection)) == to_bytes(expected)
    alone = spark.count_dataframe(
        frame.select(frame["record"].alias("bits")), question, record="bits", epoch=7
    )
    assert alone.epochs == {7: expected.n}
    assert (alone.counts["value"].table == expected.counts["value"].table).all()
    with pytest.raises(InvalidParameter, match="no column"):
        spark.count_dataframe(frame, question, record="nothing")
    with pytest.raises(InvalidReport, match="must have"):
        spark.count_dataframe(other, question)


VERBS = (
    ("count", "bloom"),
    ("estimate", "krr"),
    ("estimate", "basic", "--by", "epoch"),
    ("marginals", "inp_ht", "--order", "2"),
    ("discover", "prefixes"),
    ("discover", "ngrams"),
    ("associate", "together"),
)


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_the_verbs_print_what_they_print_without_a_cluster(
    world: World, words: tuple[str, ...]
) -> None:
    common = (*words, "--survey", world.folder / "survey.json", "--data", world.place, "--json")
    engine = ("--engine", "spark", "--master", world.cluster.address)
    assert json.loads(call(*common, *engine)) == json.loads(call(*common))
    assert running_session() is not None, "a session that ran before goes on"


def test_a_store_that_is_no_archive_says_what_to_do(world: World) -> None:
    words = ("estimate", "krr", "--survey", world.folder / "survey.json", "--data", world.data)
    failed = run(*words, "--engine", "spark", "--master", world.cluster.address)
    assert failed.exit_code != 0
    assert "export --archive" in str(failed.exception)


def test_a_damaged_file_is_named(world: World, tmp_path: Path) -> None:
    question = world.question("krr")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(StoreError, match="broken"):
        list(Spark(world.session).partials(CountFold(question), [str(broken)]))


def test_a_worker_that_is_killed_in_the_middle_of_a_job_changes_nothing(
    world: World, tmp_path: Path
) -> None:
    question, chosen = world.question("basic"), Selection(floor=20)
    expected = accumulate(world.archive, question, chosen, apart=True)
    files = Files.of(world.archive, question, chosen, Threads())
    fold = GatedFold(question, files.names, folder=tmp_path)
    results: list[object] = []
    spark = Spark(world.session, tasks=6)
    job = threading.Thread(target=lambda: results.append(spark.folded(fold, files.paths)))
    job.start()
    end = time.monotonic() + PATIENCE
    while len(begun := list(tmp_path.glob("begun-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    assert len(begun) == 2, "both workers count"
    world.cluster.kill(world.cluster.workers[0])
    (tmp_path / "gate").touch()
    job.join(PATIENCE)
    (found,) = results
    assert to_bytes(found) == to_bytes(expected)  # type: ignore[arg-type]
    world.cluster.add_worker()
