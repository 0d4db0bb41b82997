"""Closed epochs as files: the same reports as the store, whole epochs or none, damage noticed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable.engines import accumulate
from deniable.errors import StoreError
from deniable.protocol import Survey
from deniable.store import Batch, open_store
from deniable.store.archive import Archive, check_archive, layout, write_archive, writing
from deniable.store.base import Store
from deniable.store.place import is_archive
from fixtures.looking import survey_of

V1 = Path(__file__).resolve().parents[2] / "fixtures" / "v1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with closed and open epochs, segments and levels, and its survey."""
    copy = tmp_path / "v1"
    shutil.copytree(V1, copy)
    for path in copy.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return copy


def simulated_crowd(store: Store, survey: Survey, epoch: int = 900) -> int:
    """Add a closed epoch of invented people, and return their number."""
    question = next(q for q in survey.known if not q.segments and not q.level)
    batch = Batch(question.id, question.version, question.digest, epoch, simulated=True)
    people = 30
    store.begin_simulation(batch, 7, people, among_real=True)
    records = bytes(question.record_size) * people
    store.append_records(batch, records, question.record_size)
    store.close_question(question.id, question.version, epoch)
    return people


def held(store: Store, survey: Survey, *, closed: bool) -> Counter[tuple[Batch, bytes]]:
    """Return every record of a store with its batch, as a multiset."""
    found: Counter[tuple[Batch, bytes]] = Counter()
    tallies = {tally.batch: tally for tally in store.tallies()}
    for question in {q.id for q in survey.known}:
        for chunk in store.read(question):
            if closed and tallies[chunk.batch].open:
                continue
            size = len(chunk.records) // chunk.count
            for start in range(0, len(chunk.records), size):
                found[chunk.batch, chunk.records[start : start + size]] += 1
    return found


def test_an_archive_holds_all_closed_reports_and_no_open_ones(folder: Path, tmp_path: Path) -> None:
    survey = survey_of(folder)
    seen: list[tuple[int, int]] = []
    with open_store(folder / "store", create=False) as store:
        crowd = simulated_crowd(store, survey)
        written = write_archive(
            store, survey.known, tmp_path / "a", progress=lambda *told: seen.append(told)
        )
        expected = held(store, survey, closed=True)
        waiting = {t.batch.epoch for t in store.tallies() if t.open}
        assert waiting
        assert written.waiting > 0
        assert len(held(store, survey, closed=False)) > len(expected)
    assert written.reports == expected.total() == seen[-1][0] == seen[-1][1]
    with open_store(tmp_path / "a") as archive:
        assert isinstance(archive, Archive)
        assert held(archive, survey, closed=True) == expected
        assert sum(tally.reports for tally in archive.tallies()) == written.reports
        counters = archive.counters()
    assert sum(n for (_, kind), n in counters.items() if kind == "simulated") == crowd
    assert sum(counters.values()) == written.reports
    assert any("(small)" in batch.segments for batch, _ in expected), "a masked combination"
    assert check_archive(tmp_path / "a").problems == ()


def test_counts_of_an_archive_are_those_of_the_store(folder: Path, tmp_path: Path) -> None:
    survey = survey_of(folder)
    with open_store(folder / "store", create=False) as store:
        for question in survey.known:
            store.close_question(question.id)
        write_archive(store, survey.known, tmp_path / "a")
        with open_store(tmp_path / "a") as archive:
            for question in survey.known:
                one, two = accumulate(store, question), accumulate(archive, question)
                assert one.epochs == two.epochs
                assert one.segments == two.segments
                for name, counts in one.counts.items():
                    assert np.array_equal(counts.table, two.counts[name].table)
                    assert np.array_equal(counts.reports, two.counts[name].reports)


def test_a_second_run_writes_only_what_was_closed_since(folder: Path, tmp_path: Path) -> None:
    survey, place = survey_of(folder), tmp_path / "a"
    with open_store(folder / "store", create=False) as store:
        first = write_archive(store, survey.known, place)
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*.parquet")}
        again = write_archive(store, survey.known, place)
        assert (again.epochs, again.reports, again.there) == (0, 0, first.epochs)
        for question in survey.known:
            store.close_question(question.id)
        more = write_archive(store, survey.known, place)
        assert (more.epochs, more.waiting) == (first.waiting, 0)
        assert before.items() <= {p: p.stat().st_mtime_ns for p in place.rglob("*.parquet")}.items()


def test_an_epoch_that_changed_is_named(folder: Path, tmp_path: Path) -> None:
    survey = survey_of(folder)
    with open_store(folder / "store", create=False) as store:
        simulated_crowd(store, survey)
        write_archive(store, survey.known, tmp_path / "a")
        part = next((tmp_path / "a" / "simulated").rglob("*.parquet"))
        table = pq.read_table(part)
        head = json.loads(table.schema.metadata[layout.HEAD]) | {"reports": 29}
        fewer = table.slice(0, 29).replace_schema_metadata({layout.HEAD: json.dumps(head)})
        pq.write_table(fewer, part)
        with pytest.raises(StoreError, match="holds 29 reports, the store 30"):
            write_archive(store, survey.known, tmp_path / "a")


@pytest.mark.parametrize("where", ["write_table", "rename"])
def test_an_interrupted_epoch_is_not_there_and_is_written_the_next_time(
    folder: Path, tmp_path: Path, where: str
) -> None:
    survey, place = survey_of(folder), tmp_path / "a"

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with open_store(folder / "store", create=False) as store:
        with pytest.MonkeyPatch.context() as patch:
            owner = pq if where == "write_table" else Path
            patch.setattr(owner, where, full)
            with pytest.raises(StoreError, match="No space left on device"):
                write_archive(store, survey.known, place)
        assert not list(place.rglob("*.parquet"))
        left = place / Path(layout.folder_of(store.tallies()[0].batch)).parent / ".epoch=1.dead"
        left.mkdir(parents=True)
        written = write_archive(store, survey.known, place)
        assert written.reports == held(store, survey, closed=True).total()


def test_parts_are_cut_and_shuffled(folder: Path, tmp_path: Path) -> None:
    survey = survey_of(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "PART_BYTES", 1)
        with open_store(folder / "store", create=False) as store:
            write_archive(store, survey.known, tmp_path / "a")
            expected = held(store, survey, closed=True)
    parts = list((tmp_path / "a").rglob("*.parquet"))
    epochs = {path.parent for path in parts}
    assert len(parts) > len(epochs), "an epoch of several segments has several chunks"
    with open_store(tmp_path / "a") as archive:
        assert held(archive, survey, closed=True) == expected


def damaged(part: Path, how: str) -> None:
    data = bytearray(part.read_bytes())
    if how == "flipped":
        data[40] ^= 1
    elif how == "cut":
        data = data[: len(data) // 2]
    elif how == "empty":
        data = bytearray()
    elif how == "head":
        place = data.rindex(b"sum")
        data[place] = ord("z")
    part.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["flipped", "cut", "empty", "head"])
def test_damage_is_found_and_named(folder: Path, tmp_path: Path, how: str) -> None:
    survey, place = survey_of(folder), tmp_path / "a"
    with open_store(folder / "store", create=False) as store:
        write_archive(store, survey.known, place)
    part = sorted(place.rglob("*.parquet"))[0]
    damaged(part, how)
    found = check_archive(place)
    assert len(found.problems) == 1
    assert part.name in found.problems[0]


@pytest.mark.parametrize("how", ["missing", "doubled", "renamed", "contract", "another"])
def test_parts_that_do_not_belong_together_are_named(
    folder: Path, tmp_path: Path, how: str
) -> None:
    survey, place = survey_of(folder), tmp_path / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "PART_BYTES", 1)
        with open_store(folder / "store", create=False) as store:
            write_archive(store, survey.known, place)
    assert check_archive(place).problems == ()
    parts = sorted(place.rglob("*.parquet"))
    part = next(p for p in parts if len(list(p.parent.iterdir())) > 1)
    other = next(p for p in parts if p.parents[3] != part.parents[3])
    (part.parent / "notes.txt").write_text("no business of ours")
    name = str(part.parent.relative_to(place))
    match how:
        case "missing":
            part.unlink()
        case "doubled":
            shutil.copy(part, part.with_name("part-00000000000000aa.parquet"))
        case "renamed":
            part.rename(part.with_name("copy.parquet"))
            name = "copy.parquet has no name of a part"
        case "contract":
            head = json.loads(pq.read_schema(part).metadata[layout.HEAD])
            head["contract"] = json.loads(pq.read_schema(other).metadata[layout.HEAD])["contract"]
            table = pq.read_table(part).replace_schema_metadata({layout.HEAD: json.dumps(head)})
            pq.write_table(table, part)
            name = f"{part.name} does not fit its digest"
        case "another":
            shutil.copy(other, part)
            name = part.name
    found = check_archive(place).problems
    assert any(name in problem for problem in found), found
    assert len(found) == (2 if how == "renamed" else 1)
    batch = layout.batch_of(str(part.relative_to(place)))
    assert batch is not None
    if how in ("missing", "doubled", "renamed"):  # nobody answers with fewer reports, or with more
        with pytest.raises(StoreError, match="a part is missing, or there twice"):
            list(Archive(place).read(batch.question))
    others = {q.id for q in survey.questions} - {batch.question}
    assert all(list(Archive(place).read(name)) for name in others)


def test_parts_that_do_not_tell_their_epoch_are_sound(folder: Path, tmp_path: Path) -> None:
    survey, place = survey_of(folder), tmp_path / "a"
    with open_store(folder / "store", create=False) as store:
        write_archive(store, survey.known, place)
    for part in place.rglob("*.parquet"):
        head = json.loads(pq.read_schema(part).metadata[layout.HEAD])
        assert head.pop("epoch_reports") > 0
        table = pq.read_table(part).replace_schema_metadata({layout.HEAD: json.dumps(head)})
        pq.write_table(table, part)
    assert check_archive(place).problems == ()


def test_an_address_of_a_database_is_no_archive() -> None:
    assert not is_archive("postgresql://somebody@127.0.0.1/base?schema=s")
    assert not is_archive("postgres://127.0.0.1/base")
    assert is_archive("s3://bucket/folder")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear reader")
    with pytest.raises(StoreError, match="neither empty nor an archive"):
        writing._begin(tmp_path / "full", columns=False)
    with pytest.raises(StoreError, match="is no archive"):
        Archive(tmp_path / "missing")
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "archive.json").write_text('{"format":2}')
    with pytest.raises(StoreError, match="format 2"):
        open_store(tmp_path / "newer")


def test_an_archive_is_only_read(folder: Path, tmp_path: Path) -> None:
    survey = survey_of(folder)
    with open_store(folder / "store", create=False) as store:
        write_archive(store, survey.known, tmp_path / "a")
    with open_store(tmp_path / "a") as archive:
        batch = archive.tallies()[0].batch
        for change in (
            lambda: archive.append([]),
            lambda: archive.append_records(batch, b"", 4),
            lambda: archive.begin_simulation(batch, 1, 1),
            lambda: archive.remove_simulated(),
            lambda: archive.count({}),
        ):
            with pytest.raises(StoreError, match="only read"):
                change()
        assert archive.close_epochs(10**6, {}) == archive.close_question("x") == 0
        assert archive.find_over(10**6, {}).batches == 0
