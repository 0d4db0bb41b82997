"""The options of every ask: which reports, how many threads, which share of crafted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deniable.ask.several import AnyCounts, Asked, Several, check_epochs, each_of
from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.engines.accumulated import Accumulated
from deniable.engines.files import Progress
from deniable.engines.local import accumulate
from deniable.engines.mapping import Engine
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter
from deniable.protocol import Question
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store.base import Store

if TYPE_CHECKING:
    from deniable.decode.binomial import Form
    from deniable.discover.ngrams.discovery import Search
    from deniable.mechanisms.chances import Of

People = Literal["unknown", "new", "same"]
"""Who reports in several epochs."""
Source = Store | AnyCounts
"""Where an ask finds reports: a store, or counts that somebody made of them."""
Stages = Callable[[str, int, int], None]
"""Called with the name of a stage, the work done in it, and all its work."""


@dataclass(frozen=True)
class Options:
    """The options of an ask; each ask reads those that concern it.

    Attributes:
        first_epoch, last_epoch: leave out the epochs before and after these.
        where: a value for some segments; only reports that carry them.
        floor: the fewest reports of a combination of segments that is told apart.
        threads: the number of threads that count; one per processor if None.
        engine: where files of an archive are counted; in threads if None.
        people: who reports in several epochs: "unknown" (no error is too small, whoever came
            back), "new" (nobody came back), "same" (the same devices: changes are told sooner).
        of: what intervals are of, "population" or "reporters".
        interval: the form of exact intervals, "mid-p" or "exact".
        crafted: the share of reports that may be crafted; adds a second interval.
        progress: called with the stage ("counting", "finding" or "searching") and its progress.
        candidates: the strings to test for, by field name; for an association, the answers to
            tell apart.
        folder: where the fields' own candidate files are.
        fields: only these fields of the question; all of them if None.
        top: the most answers of a field that an association tells apart, among those that stand
            out.
        other: False leaves out the category of all other answers of an association.
        confidence: the level of intervals; of an estimate, decisions are made at 1 less it.
        decoder: of strings in Bloom filters: "default", or "lasso" for that of [EPK14].
        truth: the true shares by field name, where they are known: an estimate is held against
            them. None for the share of an answer of which only that people hold it is known.
        solver: of joint tables: "sqp", "squarem" or "em".
        method: of the test of independence, as `associate.independence` takes it.
        profile: of unlisted answers in joint tables, as `associate.other` describes them.
        given: of an association: also shares given the answers to these fields.
        quantiles, above: further quantiles of numbers, and values to tell the share above of.
        discovered: of an association: fields whose candidates are found on a part of the people.
        beam: the number of beginnings that each level keeps, where strings are grown.
        search: the settings of the search, where strings are put together from n-grams.
    """

    first_epoch: int | None = None
    last_epoch: int | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    floor: int = DEFAULT_FLOOR
    threads: int | None = None
    engine: Engine | None = None
    people: People = "unknown"
    of: Of = "population"
    interval: Form = "mid-p"
    crafted: float | None = None
    progress: Stages | None = None
    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    folder: Path | None = None
    fields: Sequence[str] | None = None
    top: int | None = None
    other: bool | None = None
    confidence: float = 0.95
    decoder: str = "default"
    truth: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    solver: str = "sqp"
    method: str = "default"
    profile: str = "peaks"
    given: Sequence[str] = ()
    quantiles: Sequence[float] = ()
    above: Sequence[float] = ()
    discovered: Sequence[str] = ()
    beam: int = BEAM
    search: Search | None = None

    def stage(self, name: str) -> Progress | None:
        """Return the progress of one stage as a function of (done, all)."""
        return None if self.progress is None else partial(self.progress, name)

    @property
    def selection(self) -> Selection:
        """The reports that are asked about."""
        return Selection(self.first_epoch, self.last_epoch, self.where, self.floor)

    def counted(
        self, source: Source, question: Question, *, apart: bool | None = None
    ) -> Accumulated:
        """Return the counts of the reports that are asked about.

        Args:
            source: a store, or counts.
            question: the question, with the version and the level that are wanted.
            apart: keep epochs and segments apart; by default where their counts are small.

        Raises:
            StoreError: if the store cannot be read.
            InvalidParameter: if the question has no segment or value that is asked about, or the
                counts are of another.
        """
        if isinstance(source, Accumulated | Several):
            there = source.parts if isinstance(source, Several) else (source,)
            found = [one for one in there if one.question.digest == question.digest]
            if not found:
                raise InvalidParameter(
                    f"There are no counts of version {question.version} of {question.title!r}.",
                    "Name the version and the level that the file of counts is of.",
                )
            return found[0].selected(self.selection)
        return accumulate(
            source,
            question,
            self.selection,
            apart=apart,
            threads=self.threads,
            progress=self.stage("counting"),
            engine=self.engine,
        )

    def counted_all(self, source: Source, asked: Asked, *, apart: bool | None = None) -> AnyCounts:
        """Return the counts of all levels and versions that are asked about.

        Raises:
            StoreError: if the store cannot be read.
            InvalidParameter: as `counted`; also if some epochs are asked about, of versions whose
                epochs have different lengths.
        """
        each = each_of(asked)
        if len(each) == 1:
            return self.counted(source, each[0], apart=apart)
        if self.first_epoch is not None or self.last_epoch is not None:
            check_epochs(each)
        return Several(tuple(self.counted(source, one, apart=apart) for one in each))


def store_of(source: Source, why: str) -> Store:
    """Return the store of an ask that needs the reports themselves.

    Args:
        source: a store, or counts.
        why: the reason why counts are not enough, as the end of a sentence.

    Raises:
        InvalidParameter: if it is counts.
    """
    if isinstance(source, Accumulated | Several):
        raise InvalidParameter(
            f"Counts are not enough here: {why}.", "Ask where the reports are: leave out --counts."
        )
    return source


DEFAULTS = Options()
"""All reports, all fields, no crafted ones."""
