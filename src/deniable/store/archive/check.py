"""Looking for damage in an archive: every part's place, head, rows and sum; every epoch's parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import StoreError
from deniable.protocol.canonical import canonical
from deniable.protocol.question import DIGEST_PREFIX
from deniable.store.archive.layout import Head, incomplete
from deniable.store.archive.reading import Archive
from deniable.store.base import Batch

_COVERED = ("id", "version", "epoch", "repeat", "send")
"""The members of a contract that its digest covers, beside its level and its fields."""

Progress = Callable[[int, int], None]
"""Called with the number of parts done and the number of all."""


@dataclass(frozen=True)
class CheckedArchive:
    """The outcome of a check.

    Attributes:
        parts: the number of parts.
        reports: the number of reports in those that are sound.
        problems: a sentence for each part that is not, each epoch whose parts are not all there
            once, and each Parquet file that is no part.
    """

    parts: int
    reports: int
    problems: tuple[str, ...]


def check_archive(place: str | Path, progress: Progress | None = None) -> CheckedArchive:
    """Read every part of an archive; compare records with heads, and parts with their epoch.

    Cost: reading the archive once.

    Raises:
        StoreError: if there is no archive.
    """
    archive = Archive(place)
    sound: dict[Batch, list[Head]] = {}
    problems, damaged = [], set()
    for done, (name, batch) in enumerate(archive.paths.items(), start=1):
        try:
            part = archive.part(name)
            part.check()
            _check_contract(name, part.head)
            sound.setdefault(batch, []).append(part.head)
        except StoreError as error:
            problems.append(str(error))
            damaged.add(batch)
        if progress is not None:
            progress(done, len(archive.paths))
    problems += [f"The archive's file {name} has no name of a part." for name in archive.strays]
    problems += [incomplete(batch, heads) for batch, heads in sound.items() if batch not in damaged]
    reports = sum(head.reports for heads in sound.values() for head in heads)
    return CheckedArchive(len(archive.paths), reports, tuple(filter(None, problems)))


def _check_contract(name: str, head: Head) -> None:
    """Compare a head's contract with the digest that it must have.

    Raises:
        StoreError: if it is another question's, or none.
    """
    try:
        told = json.loads(head.contract)
        fields = [{k: v for k, v in each.items() if k != "candidates"} for each in told["fields"]]
        covered = {k: told[k] for k in _COVERED} | {k: told[k] for k in ("level",) if k in told}
        written = canonical({**covered, "fields": fields})
    except (AttributeError, KeyError, TypeError, ValueError):
        written = b""
    if hashlib.sha256(DIGEST_PREFIX + written).digest() != head.batch.digest:
        raise StoreError(f"The contract in the archive's part {name} does not fit its digest.")
