"""Backups of either store can be restored into either, and what they hold is compared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import open_store
from deniable.store.check import check_store
from deniable.store.copying import back_up, restore
from deniable.store.tabled import TabledStore
from material.store_kinds import PostgresStores, Stores
from material.stores import multiset, report, reports

DAYS = {("colour", 1): 1, ("shape", 1): 1}


@pytest.fixture
def filled(store: TabledStore) -> TabledStore:
    store.append([*reports(50, epoch=10), report(900, 10, "shape")])
    store.append(reports(50, epoch=10), {("colour", "digest"): 3})
    store.close_epochs(11, DAYS, running_seconds=0)
    store.append(reports(7, 50, epoch=20))
    return store


def test_a_backup_has_the_closed_epochs_and_no_id_of_open_ones(
    filled: TabledStore, stores: Stores, tmp_path: Path
) -> None:
    copied = back_up(stores.place(), tmp_path / "copy")
    assert sum(copied.values()) == 51
    with open_store(tmp_path / "copy", create=False) as copy:
        assert multiset(copy) == Counter(range(50))
        assert copy.counters() == {
            ("colour", "accepted"): 50,
            ("colour", "duplicate"): 50,
            ("colour", "digest"): 3,
            ("shape", "accepted"): 1,
        }
    everything = b"".join(path.read_bytes() for path in (tmp_path / "copy").iterdir())
    assert not any(each.id in everything for each in reports(57))
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []


def test_it_can_be_restored_into_an_empty_store_of_the_same_kind(
    filled: TabledStore, stores: Stores, tmp_path: Path
) -> None:
    back_up(stores.place(), tmp_path / "copy")
    copied = restore(tmp_path / "copy", stores.place("other"))
    assert sum(copied.values()) == 51
    with open_store(stores.place("other"), create=False) as store:
        assert multiset(store) == Counter(range(50))
        assert store.append(reports(5, 70, epoch=20)).accepted == 5
        assert store.close_epochs(21, DAYS, running_seconds=0) == 1
    assert check_store(stores.place("other")).problems == ()
    with pytest.raises(StoreError, match="holds reports already"):
        restore(tmp_path / "copy", stores.place("other"))


def test_with_open_epochs_their_ids_are_known_afterwards(
    filled: TabledStore, stores: Stores, tmp_path: Path
) -> None:
    back_up(stores.place(), tmp_path / "copy", with_open=True)
    restore(tmp_path / "copy", stores.place("other"))
    with open_store(stores.place("other"), create=False) as store:
        assert multiset(store) == Counter(range(57))
        assert store.append(reports(8, 50, epoch=20)).new == (False,) * 7 + (True,)
        assert store.close_epochs(21, DAYS, running_seconds=0) == 1
        assert multiset(store) == Counter(range(58))
    assert check_store(stores.place("other")).problems == ()


def test_a_damaged_store_gives_no_backup(
    filled: TabledStore, stores: Stores, tmp_path: Path
) -> None:
    stores.damage("epoch = 10 AND question = 'colour'")
    with pytest.raises(StoreError, match="does not fit its sum"):
        back_up(stores.place(), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []


def test_a_backup_replaces_nothing(filled: TabledStore, stores: Stores, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with pytest.raises(StoreError, match="exists already"):
        back_up(stores.place(), tmp_path / "copy")


def test_a_store_moves_from_a_file_to_a_database(
    filled: TabledStore, stores: Stores, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    back_up(stores.place(), tmp_path / "copy")
    others = PostgresStores(request.getfixturevalue("cluster"), "moved")
    try:
        restore(tmp_path / "copy", others.place())
        with open_store(others.place(), create=False) as store:
            assert multiset(store) == Counter(range(50))
    finally:
        others.end()


_LIMITED = """
import sys
from pathlib import Path
from faults.limits import limit_files
from deniable.errors import StoreError
from deniable.store.copying import back_up, restore
limit_files(120_000)
verb = {"back_up": back_up, "restore": restore}[sys.argv[1]]
try:
    verb(Path(sys.argv[2]), Path(sys.argv[3]))
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("verb", ["back_up", "restore"])
def test_a_disk_that_is_full_is_named_and_leaves_nothing_to_believe(
    tmp_path: Path, verb: str
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with open_store(source) as store:
        for epoch in range(40):
            store.append(reports(200, 200 * epoch, epoch=epoch))
        store.close_epochs(41, DAYS, running_seconds=0)
    command = [sys.executable, "-c", _LIMITED, verb, str(source), str(target)]
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert "The store cannot take the copy" in done.stdout
    assert "close an epoch" not in done.stdout
    if verb == "back_up":
        assert [path.name for path in tmp_path.iterdir()] == ["source"]
    else:  # the store is empty, and takes the copy when there is room
        assert sum(restore(source, target).values()) == 8_000
