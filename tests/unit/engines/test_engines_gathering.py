"""Patterns and samples are the same to the bit wherever files are read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from deniable.ask import associate
from deniable.ask.associate import field_reports
from deniable.ask.options import Options
from deniable.engines import Gathered, Processes, Selection, Threads, fields_cut, patterns, sample
from deniable.engines.gathering import Cut, PatternFold, repeats
from deniable.protocol import Question
from deniable.store import open_store
from deniable.store.archive import Archive
from deniable.store.base import Store
from material.archives import every_archive

Made = tuple[Question, Path, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    survey, data, place = every_archive(tmp_path_factory.mktemp("gather"), ("together", "bloom"))
    return next(q for q in survey.questions if q.id == "together"), data, place


def slow(store: Store, question: Question, cut: Cut) -> Counter[bytes]:
    """The obvious twin: one record at a time."""
    found: Counter[bytes] = Counter()
    size = question.record_size
    for chunk in store.read(question.id):
        for start in range(0, len(chunk.records), size):
            record = chunk.records[start : start + size]
            found[b"".join(record[first:end] for first, end in cut)] += 1
    return found


def as_counter(found: Gathered) -> Counter[bytes]:
    pairs = zip(found.rows, found.numbers, strict=True)
    return Counter({row.tobytes(): int(number) for row, number in pairs})


@pytest.mark.parametrize("names", [["dark", "colour"], ["colour", "dark"], ["colour"]])
def test_patterns_are_distinct_records_with_their_numbers(made: Made, names: list[str]) -> None:
    question, data, place = made
    cut = fields_cut(question, names)
    with open_store(data, create=False) as store, open_store(place) as archive:
        expected = slow(store, question, cut)
        for where in (store, archive):
            found = patterns(where, question, cut)
            assert as_counter(found) == expected
            assert found.n == expected.total()
            assert [row.tobytes() for row in found.rows] == sorted(expected)


def test_a_sample_is_the_same_in_processes_and_in_any_order(made: Made) -> None:
    question, _, place = made
    cut = fields_cut(question, ["dark", "colour"])
    with open_store(place) as archive:
        one = sample(archive, question, cut, 50, engine=Threads(1))
        two = sample(archive, question, cut, 50, engine=Processes(2))
        whole = sample(archive, question, cut, 10**6)
        assert Counter(map(bytes, whole.rows)) == slow(archive, question, cut)
    assert (one.rows == two.rows).all()
    assert (one.numbers == two.numbers).all()
    assert len(one.rows) == 50
    assert one.n == whole.n == len(whole.rows)
    assert (whole.rows[:50] == one.rows).all()


def test_what_travels_comes_back_whole(made: Made) -> None:
    question, _, place = made
    cut = fields_cut(question, ["dark"])
    with open_store(place) as archive:
        found = patterns(archive, question, cut)
    fold = PatternFold(question, cut)
    again = fold.unpack(fold.pack(found))
    assert (again.rows == found.rows).all()
    assert (again.numbers == found.numbers).all()
    assert again.tallies == found.tallies
    assert fold.unpack(fold.pack(fold.none())).n == 0


def test_an_association_of_an_archive_is_that_of_the_store(made: Made) -> None:
    question, data, place = made
    with open_store(data, create=False) as store, open_store(place) as archive:
        assert isinstance(archive, Archive)
        assert repeats(archive, question, fields_cut(question, ["dark", "colour"]))
        one, two = associate(store, question), associate(archive, question)
        three = associate(archive, question, Options(engine=Processes(2)))
    assert two == three
    assert one.about == two.about
    for row, other in zip(one.rows, two.rows, strict=True):
        assert row.keys() == other.keys()
        for name, value in row.items():
            if isinstance(value, float):
                assert other[name] == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("repeating", [True, False])
def test_a_sample_of_very_many_is_said_and_its_intervals_are_wider(
    made: Made, monkeypatch: pytest.MonkeyPatch, repeating: bool
) -> None:
    question, _, place = made
    monkeypatch.setattr(field_reports, "repeats", lambda *_: repeating)
    with open_store(place) as archive:
        whole = associate(archive, question)
        monkeypatch.setattr(field_reports, "MOST_WIDE", 100)
        monkeypatch.setattr(field_reports, "MOST_PATTERNED", 100)
        part = associate(archive, question)
        some = associate(archive, question, Options(last_epoch=20_000))
    assert part.about.n == 100
    assert any("random sample of 100 of" in note for note in part.notes)
    assert not any("random sample" in note for note in whole.notes)
    assert some.about.n == 100
    assert part.rows[0]["std_error"] > whole.rows[0]["std_error"]  # type: ignore[operator]


def test_no_reports_have_no_patterns(made: Made) -> None:
    question, _, place = made
    with open_store(place) as archive:
        found = patterns(archive, question, ((0, 1),), Selection(last_epoch=1))
        assert (found.n, len(found.rows)) == (0, 0)
        assert len(sample(archive, question, ((0, 1),), 5, Selection(last_epoch=1)).rows) == 0
