"""One function over files gives the counts of the store, wherever it runs."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from deniable.engines import (
    Accumulated,
    Engine,
    Processes,
    Selection,
    Threads,
    accumulate,
    count_file,
)
from deniable.engines.counts_file import to_bytes
from deniable.engines.files import CountFold, Files, TallyFold
from deniable.engines.spark import default_tasks
from deniable.errors import InvalidParameter, StoreError
from deniable.protocol import Survey
from deniable.store import open_store
from deniable.store.archive import Archive
from deniable.store.archive.reading import open_part
from material.archives import EPOCHS, every_archive

Made = tuple[Survey, Path, Path]
SOME = Selection(EPOCHS[0], EPOCHS[1], {"platform": "linux"}, 20)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return every_archive(tmp_path_factory.mktemp("archive"))


def test_threads_over_files_count_every_mechanism_as_the_store_does(made: Made) -> None:
    survey, data, place = made
    with open_store(data, create=False) as store, open_store(place) as archive:
        for question in survey.questions:
            expected = accumulate(store, question, apart=True)
            assert expected.n > 0
            found = accumulate(archive, question, apart=True, threads=2)
            assert to_bytes(found) == to_bytes(expected), question.id
            whole = accumulate(archive, question, apart=False)
            assert not whole.cells
            assert (whole.epochs, whole.segments) == (expected.epochs, expected.segments)
            for name, counts in expected.counts.items():
                assert (whole.counts[name].table == counts.table).all()


def test_every_mechanism_without_segments_is_counted_from_the_pages_of_its_files(
    tmp_path: Path,
) -> None:
    survey, data, place = every_archive(tmp_path, segmented=False)
    with open_store(data, create=False) as store, open_store(place) as archive:
        for question in survey.questions:
            for apart in (True, False):
                one = accumulate(store, question, apart=apart)
                two = accumulate(archive, question, apart=apart)
                assert one.n == two.n > 0
                assert (one.cells.keys(), one.epochs) == (two.cells.keys(), two.epochs)
                for name, counts in one.counts.items():
                    assert (two.counts[name].table == counts.table).all(), question.id
            assert to_bytes(accumulate(store, question, apart=True)) == to_bytes(
                accumulate(archive, question, apart=True)
            )


def test_a_file_that_another_program_wrote_anew_counts_the_same(tmp_path: Path) -> None:
    survey, _, place = every_archive(tmp_path, ["bloom"], segmented=False)
    question = next(q for q in survey.questions if q.id == "bloom")
    path = next(place.rglob("*.parquet"))
    expected = to_bytes(count_file(str(path), question))
    for how in ({"compression": "snappy"}, {"use_dictionary": True}, {"data_page_version": "2.0"}):
        pq.write_table(pq.read_table(path), path, **how)
        assert to_bytes(count_file(str(path), question)) == expected, how


def test_a_file_that_becomes_shorter_while_it_is_counted_is_named(tmp_path: Path) -> None:
    _, _, place = every_archive(tmp_path, ["bloom"], segmented=False)
    path = next(place.rglob("*.parquet"))
    part = open_part(str(path))
    os.truncate(path, 100)
    with pytest.raises(StoreError, match=f"{path.name} cannot be read"):
        list(part.pieces())


def test_a_selection_and_a_higher_floor_are_kept(made: Made) -> None:
    survey, data, place = made
    question = survey.questions[0]
    with open_store(data, create=False) as store, open_store(place) as archive:
        for selection in (SOME, Selection(floor=60), Selection(last_epoch=1)):
            one = accumulate(store, question, selection, apart=True)
            two = accumulate(archive, question, selection, apart=True)
            assert to_bytes(one) == to_bytes(two)
        assert set(accumulate(archive, question, Selection(floor=60)).segments) != set(
            accumulate(archive, question, Selection(floor=20)).segments
        )


def test_files_merge_by_hand_in_any_order(made: Made) -> None:
    survey, _, place = made
    question = survey.questions[0]
    with open_store(place) as archive:
        assert isinstance(archive, Archive)
        paths = [archive.address(name) for name in archive.within(question.id)]
        expected = accumulate(archive, question, Selection(floor=1), apart=True)
    assert len(paths) > len(EPOCHS)
    for order in (paths, paths[::-1]):
        parts = [count_file(path, question) for path in order]
        assert to_bytes(functools.reduce(Accumulated.merge, parts)) == to_bytes(expected)


def test_processes_count_as_threads_do(made: Made) -> None:
    survey, _, place = made
    question = next(q for q in survey.questions if q.id == "bloom")
    with open_store(place) as archive:
        found = accumulate(archive, question, apart=True, engine=Processes(2))
        assert to_bytes(found) == to_bytes(accumulate(archive, question, apart=True))


@pytest.mark.parametrize("apart", [True, False])
def test_what_travels_between_machines_comes_back_whole(made: Made, apart: bool) -> None:
    survey, _, place = made
    for question in survey.questions:
        with open_store(place) as archive:
            files = Files.of(archive, question, Selection(floor=20), Threads())
            counted = accumulate(archive, question, apart=apart)
        fold = copy.deepcopy(CountFold(question, files.names, apart))
        assert pickle.dumps(fold)
        again = fold.unpack(fold.pack(counted))
        assert fold.pack(again) == fold.pack(counted)
        assert (again.epochs, again.segments) == (counted.epochs, counted.segments)
        tallies = Threads().folded(TallyFold(), files.paths)
        assert tallies is not None
        assert TallyFold().unpack(TallyFold().pack(tallies)) == tallies
        assert tallies.total() == counted.n


def test_dask_maps_it_in_the_lines_of_the_documentation(made: Made) -> None:
    survey, _, place = made
    question = survey.questions[0]
    with open_store(place) as archive:
        assert isinstance(archive, Archive)
        names = {
            "paths": [archive.address(name) for name in archive.within(question.id)],
            "question": question,
            "count_file": count_file,
            "Accumulated": Accumulated,
        }
        expected = accumulate(archive, question, Selection(floor=1), apart=True)
    text = (Path(__file__).resolve().parents[3] / "docs" / "scale.md").read_text()
    (block,) = re.findall(r"```python[^\n]*\n(import dask.*?)```", text, re.DOTALL)
    exec(block.replace(".compute()", ".compute(scheduler='threads')"), names)  # noqa: S102
    assert to_bytes(names["counts"]) == to_bytes(expected)  # type: ignore[arg-type]


def test_engines_of_files_refuse_other_stores(made: Made) -> None:
    survey, data, _ = made
    engine: Engine = Processes()
    with open_store(data, create=False) as store, pytest.raises(InvalidParameter, match="archive"):
        accumulate(store, survey.questions[0], engine=engine)


def test_a_file_of_another_question_or_none_is_refused(made: Made, tmp_path: Path) -> None:
    survey, _, place = made
    one, two = survey.questions[:2]
    with open_store(place) as archive:
        assert isinstance(archive, Archive)
        path = archive.address(next(iter(archive.within(one.id))))
    with pytest.raises(InvalidParameter, match="another digest"):
        count_file(path, two)
    (tmp_path / "no.parquet").write_bytes(b"no")
    with pytest.raises(StoreError):
        count_file(str(tmp_path / "no.parquet"), one)
    with pytest.raises(StoreError):
        count_file("s3://", one)


def test_counts_of_two_questions_do_not_merge(made: Made) -> None:
    survey, _, place = made
    with open_store(place) as archive:
        one, two = (accumulate(archive, q) for q in survey.questions[:2])
    with pytest.raises(InvalidParameter, match="one question"):
        one.merge(two)


@pytest.mark.parametrize(("files", "tasks"), [(1, 2), (27, 2), (127, 3), (268, 8), (10_000, 8)])
def test_a_core_has_one_task_and_four_where_files_are_many(files: int, tasks: int) -> None:
    assert default_tasks(2, files) == tasks
