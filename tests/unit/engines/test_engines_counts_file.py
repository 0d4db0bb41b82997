"""Counts as files: equal counts are equal bytes, and whatever does not fit is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.engines import Accumulated, Cell, Selection, accumulate, merge_counts
from deniable.engines.counts_file import from_bytes, read_counts, to_bytes
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.protocol import Categories, Field, Question
from deniable.protocol.olh import OLHParameters
from deniable.protocol.segments import Segment, combination_text
from deniable.store import Batch, SqliteStore
from material.engines import EPOCH, append, new_store, question, records

PLATFORMS = (Segment("platform", ("linux", "mac")), Segment("channel", ("beta",)))


def counted(folder: Path, name: str, seed: int, epochs: int = 3) -> tuple[Question, Accumulated]:
    """Return a question of two fields and the counts of its reports in several epochs."""
    asked, rng = question(), np.random.default_rng(seed)
    with new_store(folder, name) as store:
        for epoch in range(epochs):
            append(store, asked, records(asked, 40 + epoch, rng), EPOCH + epoch)
        return asked, accumulate(store, asked, apart=True, threads=2)


def test_counts_survive_a_file_and_equal_counts_are_equal_bytes(tmp_path: Path) -> None:
    asked, one = counted(tmp_path, "one", 1)
    data = to_bytes(one)
    again = from_bytes(data, asked)
    assert to_bytes(again) == data
    assert again.epochs == one.epochs == {EPOCH: 40, EPOCH + 1: 41, EPOCH + 2: 42}
    for name, counts in one.counts.items():
        assert (again.counts[name].table == counts.table).all()
        assert again.counts[name].digest == counts.digest


def test_merging_files_is_counting_both_stores(tmp_path: Path) -> None:
    _asked, one = counted(tmp_path, "one", 1)
    _, two = counted(tmp_path, "two", 2, epochs=5)
    both, turned = merge_counts([one, two]), merge_counts([two, one])
    assert to_bytes(both) == to_bytes(turned)
    assert both.n == one.n + two.n
    assert len(both.cells) == 5
    for name in both.counts:
        assert (both.counts[name].table == one.counts[name].table + two.counts[name].table).all()
    with pytest.raises(InvalidParameter, match="one question"):
        merge_counts([])


def test_patterns_of_reports_are_counts_too(tmp_path: Path) -> None:
    domain = Categories(("a", "b", "c"))
    own = Field("value", domain, resolve(OLHParameters, {"epsilon": 1.0}, domain, False))
    asked = Question("q", 1, "?", "us", question().expires, 1, "once", "recorded", (own,))
    mechanism, rng = mechanism_for(own.parameters), np.random.default_rng(3)
    with new_store(tmp_path) as store:
        sent = mechanism.simulate(["a"] * 30, rng)
        append(store, asked, sent.tobytes())
        found = accumulate(store, asked, apart=True)
    again = from_bytes(to_bytes(found), asked)
    assert to_bytes(again) == to_bytes(found)
    assert again.counts["value"].n == 30


@pytest.mark.parametrize("cut", [1, 33, 100, 400])
def test_a_cut_off_file_is_refused(tmp_path: Path, cut: int) -> None:
    asked, one = counted(tmp_path, "one", 1)
    with pytest.raises(InvalidParameter, match="damaged or cut off"):
        from_bytes(to_bytes(one)[:-cut], asked)


def test_a_flipped_bit_anywhere_is_refused(tmp_path: Path) -> None:
    asked, one = counted(tmp_path, "one", 1, epochs=1)
    data = to_bytes(one)
    for place in range(0, len(data), 97):
        wrong = bytearray(data)
        wrong[place] ^= 1
        with pytest.raises(InvalidParameter):
            from_bytes(bytes(wrong), asked)


def test_counts_that_cannot_be_are_refused_though_the_sum_fits(tmp_path: Path) -> None:
    asked, one = counted(tmp_path, "one", 1, epochs=1)
    for change in (lambda d: d[:-8], lambda d: d + bytes(8), lambda d: d.replace(b":40", b":41")):
        data = change(to_bytes(one)[:-32])
        with pytest.raises(InvalidParameter, match="damaged"):
            from_bytes(data + hashlib.sha256(data).digest(), asked)


def test_another_digest_another_format_and_another_file_are_refused(tmp_path: Path) -> None:
    asked, one = counted(tmp_path, "one", 1)
    with pytest.raises(InvalidParameter, match="another digest"):
        from_bytes(to_bytes(one), question(epsilon=2.0))
    with pytest.raises(InvalidParameter, match="Upgrade deniable"):
        from_bytes(to_bytes(one).replace(b"counts 1", b"counts 2", 1), asked)
    with pytest.raises(InvalidParameter, match="holds no counts"):
        from_bytes(b"PK", asked)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_counts(tmp_path / "nowhere", asked)


def segmented(store: SqliteStore, told: dict[tuple[str, str], int], epoch: int = EPOCH) -> Question:
    """Write as many reports of each combination of platform and channel as are told."""
    plain, rng = question(), np.random.default_rng(5)
    values = (plain.expires, 1, "once", "recorded", plain.fields)
    asked = Question("seg", 1, "?", "us", *values, segments=PLATFORMS)
    for (platform, channel), number in told.items():
        text = combination_text({"platform": platform, "channel": channel})
        batch = Batch(asked.id, 1, asked.digest, epoch, False, text)
        store.append_records(batch, records(asked, number, rng), asked.record_size)
    return asked


def test_no_view_and_no_difference_of_views_shows_a_small_combination(tmp_path: Path) -> None:
    told = {("linux", "beta"): 500, ("linux", "(other)"): 120, ("mac", "beta"): 3}
    with new_store(tmp_path) as store:
        asked = segmented(store, told)
        found = accumulate(store, asked, Selection(floor=100), apart=True)
        sizes = sorted(part.n for part in found.cells.values())
        # 3 alone are too few, so that the next smallest joins them.
        assert sizes == [123, 500]
        by = found.by_segment("platform")
        assert {name: part.n for name, part in by.items()} == {"linux": 500, "(small)": 123}
        linux = accumulate(store, asked, Selection(where={"platform": "linux"}), apart=True)
        assert linux.n == 500
        assert (
            from_bytes(to_bytes(found), asked).selected(Selection(where={"platform": "mac"})).n == 0
        )
        # The rule is one of each epoch: what is large over all epochs may be small in one.
        segmented(store, {("mac", "beta"): 400, ("linux", "beta"): 99}, EPOCH + 1)
        both = accumulate(store, asked, Selection(floor=100), apart=True)
        later = {c.segments: p.n for c, p in both.cells.items() if c.epoch == EPOCH + 1}
        assert list(later.values()) == [499]  # 99 are small, and 400 join them


def test_simulated_reports_do_not_lift_real_ones_above_the_floor(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        asked = segmented(store, {("linux", "beta"): 60, ("mac", "beta"): 300})
        text = combination_text({"platform": "linux", "channel": "beta"})
        made_up = Batch(asked.id, 1, asked.digest, EPOCH, True, text)
        rng = np.random.default_rng(6)
        store.append_records(made_up, records(asked, 60, rng), asked.record_size)
        found = accumulate(store, asked, Selection(floor=100), apart=True)
    assert {cell.segments for cell in found.cells} == {
        combination_text({"platform": "(small)", "channel": "(small)"})
    }


def test_unknown_segments_and_values_are_named(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        asked = segmented(store, {("linux", "beta"): 10})
        with pytest.raises(InvalidParameter, match="no segment 'country'"):
            accumulate(store, asked, Selection(where={"country": "fr"}))
        with pytest.raises(InvalidParameter, match="no value 'beos'"):
            accumulate(store, asked, Selection(where={"platform": "beos"}))
        whole = accumulate(store, asked, apart=False)
    with pytest.raises(InvalidParameter, match="not kept apart"):
        whole.by_epoch()
    assert whole.n == 10
    assert Cell(EPOCH) not in whole.cells
