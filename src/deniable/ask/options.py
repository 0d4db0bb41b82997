"""What every ask may be told, once: which reports, how many threads, what to allow for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.engines.local import Accumulated, Progress, accumulate
from deniable.protocol import Question
from deniable.protocol.prefixes_plan import BEAM
from deniable.store.base import Store

if TYPE_CHECKING:
    from deniable.discover.ngrams.discovery import Search

Stages = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Options:
    """How a question is asked; an ask reads what concerns it.

    Attributes:
        first_epoch, last_epoch: leave out the epochs before and after these.
        threads: how many count at once; one per processor if None.
        attackers: the share of reports that may be crafted; adds a second interval.
        progress: told the stages "counting", "finding" and "attacking", and how far they are.
        candidates: the strings to test for, by field name; of an association the answers to tell
            apart.
        folder: where the fields' own candidate files are.
        fields: only these fields of the question; all of them if None.
        top: of each field of an association, at most so many of the answers that stand out.
        other: False leaves out the category of all other answers of an association.
        beam: how many beginnings each level keeps, where strings are grown.
        search: how candidates are searched for, where they are put together from n-grams.
    """

    first_epoch: int | None = None
    last_epoch: int | None = None
    threads: int | None = None
    attackers: float | None = None
    progress: Stages | None = None
    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    folder: Path | None = None
    fields: Sequence[str] | None = None
    top: int | None = None
    other: bool | None = None
    beam: int = BEAM
    search: Search | None = None

    def stage(self, name: str) -> Progress | None:
        """Return what to tell about one stage."""
        return None if self.progress is None else partial(self.progress, name)

    def counted(self, store: Store, question: Question) -> Accumulated:
        """Return the counts of the reports that are asked about.

        Raises:
            StoreError: if the store cannot be read.
        """
        return accumulate(
            store,
            question,
            first_epoch=self.first_epoch,
            last_epoch=self.last_epoch,
            threads=self.threads,
            progress=self.stage("counting"),
        )


DEFAULTS = Options()
"""All reports, all fields, no crafted ones."""
