"""Counts that stay when the retention of their reports is over, as files."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from deniable.collector.retention import Past
from deniable.errors import StoreError
from deniable.protocol import Question, Survey
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import Store
from deniable.store.place import is_database


def counts_folder(data: str, survey: Path) -> Path:
    """Return where kept counts go: into the data directory, or beside the survey."""
    return (survey.parent if is_database(data) else Path(data)) / "counts"


@dataclass(frozen=True)
class CountsKeeper:
    """Writes the counts of an epoch before its reports go, a file for each level.

    Edge cases: a file is named for the batches that it counts, so that a second collector, or a
    second try after a crash, writes the same one; reports that came late have one of their own.
    """

    store: Store
    survey: Survey
    folder: Path

    def __call__(self, past: Past) -> None:
        """Write the counts of an epoch.

        Raises:
            MissingExtra: without the packages that count; the reports stay then.
            StoreError: if the file cannot be written; so do they.
        """
        for question in self.survey.known:
            if (question.id, question.version) == (past.question, past.version):
                self._write(question, past.epoch)

    def _write(self, question: Question, epoch: int) -> None:
        """Write a level's counts, unless they would be the reports themselves.

        They are where few people reported, and where a mechanism's counts list every report.
        """
        from deniable.engines.counts_file import to_bytes
        from deniable.engines.local import accumulate
        from deniable.engines.selection import Selection
        from deniable.mechanisms import Counts

        floor = self.survey.floor or DEFAULT_FLOOR
        chosen = Selection(epoch, epoch, floor=floor)
        found = accumulate(self.store, question, chosen, apart=True, threads=1)
        if found.n < floor or any(type(each) is not Counts for each in found.counts.values()):
            return
        name = f"{question.id}-{question.version}-{question.digest.hex()[:8]}-{epoch}"
        path = self.folder / f"{name}-{self._batches(question, epoch)}.counts"
        try:
            _write_durably(path, to_bytes(found))
        except OSError as error:
            raise StoreError(
                f"Counts cannot be written to {path}: {error.strerror or error}. Reports to "
                f"{question.id} are past their retention, and stay until they can."
            ) from None

    def _batches(self, question: Question, epoch: int) -> str:
        """Return a name of the batches of an epoch; their stamps are random and used once."""
        stamps = sorted(
            (tally.stamp, tally.reports)
            for tally in self.store.tallies()
            if (tally.batch.digest, tally.batch.epoch) == (question.digest, epoch)
        )
        return hashlib.blake2b(repr(stamps).encode(), digest_size=4).hexdigest()


def _write_durably(path: Path, data: bytes) -> None:
    """Write a file that is on the disk before the reports that it counts are deleted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.new")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
