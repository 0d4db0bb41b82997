"""Power cuts of the store: its append, its closing, its swap."""

from __future__ import annotations

from pathlib import Path

from deniable.store import STORE_FILE, Store
from faults.material import EPOCH_DAYS, TODAY, damage_of, misplaced_in, numbers_in, reports
from faults.outcome import Outcome
from faults.recording import Event, record
from faults.store_child import HastyStore
from faults.store_workload import BEFORE, GROUP


def recorded(root: Path, rounds: int, careless: bool = False) -> list[Event]:
    """Return the writes and syncs of a store at work."""
    root.mkdir(parents=True)
    how = "careless" if careless else "careful"
    return record("faults.store_workload", root, str(rounds), how)


def check(place: Path, said: tuple[str, ...], outcome: Outcome) -> None:
    """Open what was left, and compare it with what was promised; then go on with it.

    Groups that were kept are there once. The group that was begun last is there or not, as a
    whole. Retries of open epochs are told to be duplicates, and closing still works.
    """
    begun, kept = _promised(said)
    outcome.acknowledged += len(kept) * GROUP
    path = place / "data" / STORE_FILE
    with HastyStore(path) as store:
        _compare(store, begun, kept, outcome)
        again = [
            report
            for group, day in kept.items()
            if day > BEFORE
            for report in reports(_numbers(group), day)
        ]
        told = store.append(again)
        outcome.double(told.accepted, "a retry was taken for new")
        outcome.duplicates += told.duplicates
        store.close_epochs(BEFORE, EPOCH_DAYS)
        _compare(store, begun, kept, outcome)
    outcome.damage(damage_of(path))


def _promised(said: tuple[str, ...]) -> tuple[set[int], dict[int, int]]:
    """Return the groups that were begun, and those that were kept with their days."""
    lines = [line.split() for line in said]
    begun = {int(line[1]) for line in lines if line[0] == "begin"}
    kept = {int(line[1]): int(line[2]) for line in lines if line[0] == "kept"}
    assert all(TODAY - 200 < day <= TODAY for day in kept.values())
    return begun, kept


def _numbers(group: int) -> range:
    return range(group * GROUP, (group + 1) * GROUP)


def _compare(store: Store, begun: set[int], kept: dict[int, int], outcome: Outcome) -> None:
    found = numbers_in(store)
    promised = {number for group in kept for number in _numbers(group)}
    outcome.lose(len(promised - found.keys()), "acknowledged, and not readable")
    outcome.double(sum(found.values()) - len(found), "readable more than once")
    for group in begun - kept.keys():
        there = sum(number in found for number in _numbers(group))
        outcome.expect(there in (0, GROUP), f"{there} of {GROUP} reports of one group")
    strangers = found.keys() - {number for group in begun for number in _numbers(group)}
    outcome.expect(not strangers, f"{len(strangers)} reports that nobody appended")
    misplaced = misplaced_in(store)
    outcome.expect(not misplaced, f"{misplaced} reports under other segments or levels")
    readable = sum(found.values())
    tallies = sum(tally.reports for tally in store.tallies())
    counted = sum(n for (_, reason), n in store.counters().items() if reason == "accepted")
    outcome.expect(
        tallies == counted == readable,
        f"tallies say {tallies}, counters {counted}, reading finds {readable}",
    )
