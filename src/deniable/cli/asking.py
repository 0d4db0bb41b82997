"""The common part of all asking verbs: which reports, from a store or from a file of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask.options import Options, People, Source
from deniable.cli.engine import HERE, At
from deniable.cli.output import stages
from deniable.cli.values import load_survey, say_where_reports_are
from deniable.engines.counts_file import read_counts
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Survey
from deniable.protocol.epochs import day_of, epoch_of
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import open_store

_DATE = ["%Y-%m-%d"]

EpochNumber = Annotated[
    int | None, typer.Option("--epoch", min=0, help="Only this epoch.", metavar="N")
]
SinceDate = Annotated[
    datetime | None,
    typer.Option("--since", formats=_DATE, help="From the epoch of this day on.", metavar="DATE"),
]
UntilDate = Annotated[
    datetime | None,
    typer.Option("--until", formats=_DATE, help="Up to the epoch of this day.", metavar="DATE"),
]
WhereSegments = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Only reports of a segment's value. May be repeated.",
        metavar="SEGMENT=VALUE",
    ),
]
CountsFile = Annotated[
    Path | None,
    typer.Option("--counts", help="A file of counts, in place of a store.", metavar="FILE"),
]
NewPeople = Annotated[
    bool, typer.Option("--new-people", help="Nobody reported in two epochs: narrower errors.")
]
SamePeople = Annotated[
    bool,
    typer.Option("--same-people", help="The same devices in all epochs: changes are told sooner."),
]
GroupBy = Annotated[
    list[str] | None,
    typer.Option("--by", help="Apart by 'epoch' or a segment. May be repeated.", metavar="NAME"),
]


def who(new: bool, same: bool) -> People:
    """Return who reports in several epochs, by two flags that exclude each other."""
    if new and same:
        raise InvalidParameter("Use either --new-people or --same-people.")
    return "new" if new else "same" if same else "unknown"


@dataclass(frozen=True)
class Which:
    """Which reports a command line asks about."""

    epoch: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: Sequence[str] | None = None

    def selection(self, asked: Question, survey: Survey) -> Selection:
        """Return the reports as engines select them.

        Raises:
            InvalidParameter: if the wishes exclude each other, or a segment is unknown.
        """
        first, last = self._epochs(asked.epoch)
        found = Selection(first, last, self._segments(), survey.floor or DEFAULT_FLOOR)
        found.check(asked)
        return found

    def _epochs(self, days: int) -> tuple[int | None, int | None]:
        if self.epoch is not None:
            if self.since or self.until:
                raise InvalidParameter("Use either --epoch, or --since and --until.")
            return self.epoch, self.epoch
        first, last = (
            None if when is None else epoch_of(day_of(when.date()), days)
            for when in (self.since, self.until)
        )
        if first is not None and last is not None and first > last:
            raise InvalidParameter("--since must not be after --until.")
        return first, last

    def _segments(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for text in self.where or ():
            name, equals, value = text.partition("=")
            if not equals or name in found:
                raise InvalidParameter(
                    f"--where takes a segment and one value, each segment once. Got {text!r:.80}.",
                    "Write for example: --where platform=linux",
                )
            found[name] = value
        return found


def options_of(selection: Selection) -> Options:
    """Return the options of an ask about some reports."""
    return Options(
        first_epoch=selection.first_epoch,
        last_epoch=selection.last_epoch,
        where=selection.where,
        floor=selection.floor,
    )


@contextmanager
def asking(
    path: Path,
    asked: Question,
    data: str,
    which: Which,
    counts: Path | None,
    *,
    quiet: bool,
    at: At = HERE,
) -> Iterator[tuple[Source, Options]]:
    """Yield where the reports are, and the options that say which of them.

    Args:
        path: the published survey.
        asked: the question.
        data: the place of the store.
        which: the reports that are asked about.
        counts: a file of counts, which takes the store's place.
        quiet: draw no progress.
        at: where the reports are counted.
    """
    options = options_of(which.selection(asked, load_survey(path)))
    if counts is not None and at != HERE:
        raise InvalidParameter("A file of counts needs no engine: leave out --engine.")
    with at.engine() as engine, stages(quiet) as told:
        options = replace(options, progress=told, engine=engine)
        if counts is not None:
            yield read_counts(counts, asked), options
            return
        with open_store(data, create=False) as store:
            say_where_reports_are(store, path, asked)
            yield store, options
