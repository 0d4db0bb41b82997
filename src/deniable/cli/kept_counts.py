"""Counts that stay when the retention of their reports is over, as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from deniable.cli.output import write_file
from deniable.collector.retention import Past
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

    Edge cases: a file is never written over; reports that came late have one of their own.
    """

    store: Store
    survey: Survey
    folder: Path

    def __call__(self, past: Past) -> None:
        """Write the counts of an epoch.

        Raises:
            MissingExtra: without the packages that count; the reports stay then.
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
        write_file(self.folder / f"{name}-{token_hex(4)}.counts", to_bytes(found))
