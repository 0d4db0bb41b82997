"""Counts that stay when the retention of their reports is over, as files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from deniable.cli.output import write_file
from deniable.collector.retention import Past
from deniable.protocol import Question, Survey
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
        from deniable.engines.local import accumulate

        found = accumulate(self.store, question, first_epoch=epoch, last_epoch=epoch, threads=1)
        if not found.n:
            return
        told = {
            "question": question.id,
            "version": question.version,
            "level": question.level,
            "digest": question.digest.hex(),
            "epoch": epoch,
            "simulated": found.simulated,
            "fields": {
                name: {"reports": counts.reports.tolist(), "table": counts.table.tolist()}
                for name, counts in found.counts.items()
            },
        }
        name = f"{question.id}-{question.version}-{question.digest.hex()[:8]}-{epoch}"
        write_file(self.folder / f"{name}-{token_hex(4)}.json", json.dumps(told).encode())
