"""A store beside what was acknowledged: nothing lost, nothing twice, all numbers agree."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from deniable.errors import StoreError
from deniable.store import STORE_FILE, open_store
from deniable.store.check import check_store as sound
from faults.material import SHORT_SURVEY, SURVEY, damage_of, misplaced_in, numbers_in
from faults.outcome import Outcome


def prepare(folder: Path) -> None:
    """Write the published surveys to a folder in which collectors will work."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "survey.json").write_bytes(SURVEY.published())
    (folder / "short.json").write_bytes(SHORT_SURVEY.published())


def store_path(folder: Path) -> Path:
    """Return the store of a folder in which collectors work."""
    return folder / "data" / STORE_FILE


def check_store(
    folder: Path,
    acknowledged: Collection[int],
    outcome: Outcome,
    perhaps: Collection[int] | None = (),
    place: str | None = None,
) -> None:
    """Compare what a store holds with what was acknowledged.

    Args:
        folder: where its `data` is.
        place: the address of a database instead.
        acknowledged: numbers that must be there once.
        outcome: where faults are counted.
        perhaps: numbers that may be there, once, because nobody heard an answer; None while
            senders are at work and any of theirs may be.
    """
    try:
        with open_store(place or folder / "data", create=False) as store:
            kept = numbers_in(store)
            misplaced = misplaced_in(store)
            tallies = sum(tally.reports for tally in store.tallies())
            counters = store.counters()
    except StoreError as error:
        outcome.lose(len(acknowledged), f"the store cannot be opened: {error}")
        return
    if place is None:
        outcome.damage(damage_of(store_path(folder)))
    else:
        problems = sound(place).problems
        outcome.damage(problems[0].words if problems else None)
    outcome.expect(not misplaced, f"{misplaced:,} reports under other segments or levels")
    promised = set(acknowledged)
    gone = promised - kept.keys() - outcome.missing
    outcome.missing |= gone
    outcome.lose(len(gone), "acknowledged, and not readable")
    outcome.double(sum(kept.values()) - len(kept), "readable more than once")
    if perhaps is not None:
        strangers = kept.keys() - promised - set(perhaps)
        outcome.expect(not strangers, f"{len(strangers):,} reports that nobody sent")
    counted = sum(count for (_, reason), count in counters.items() if reason == "accepted")
    readable = sum(kept.values())
    spread = max(tallies, counted, readable) - min(tallies, counted, readable)
    found, outcome.disagreement = spread - outcome.disagreement, spread
    outcome.expect(
        not found,
        f"tallies say {tallies:,}, counters {counted:,}, reading finds {readable:,}",
    )
