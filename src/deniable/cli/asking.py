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
from deniable.ask.several import AnyCounts, Asked, Several, each_of, newest
from deniable.cli.engine import HERE, At
from deniable.cli.output import stages
from deniable.cli.values import load_survey, say_where_reports_are
from deniable.engines.accumulated import Accumulated
from deniable.engines.counts_file import digest_of, from_bytes, read_file
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
    list[Path] | None,
    typer.Option(
        "--counts",
        help="A file of counts, in place of a store; one for each level and version.",
        metavar="FILE",
    ),
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


def who(new: bool, same: bool, *, changes: bool = True) -> People:
    """Return who reports in several epochs, by two flags that exclude each other.

    Args:
        new: of --new-people.
        same: of --same-people.
        changes: whether changes over epochs are looked at, which the second flag is about.

    Raises:
        InvalidParameter: if both are given, or --same-people makes no difference.
    """
    if new and same:
        raise InvalidParameter("Use either --new-people or --same-people.")
    if same and not changes:
        raise InvalidParameter(
            "--same-people makes no difference here: it is about changes over epochs, in which "
            "what the same people keep cancels. The errors of all epochs together hold whoever "
            "came back.",
            "Leave it out, or look at changes: --by epoch, of estimate and marginals.",
        )
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
    asked: Asked,
    data: str,
    which: Which,
    counts: Sequence[Path] | None,
    *,
    quiet: bool,
    at: At = HERE,
) -> Iterator[tuple[Source, Options]]:
    """Yield where the reports are, and the options that say which of them.

    Args:
        path: the published survey.
        asked: the question, or several levels and versions of it.
        data: the place of the store.
        which: the reports that are asked about.
        counts: files of counts, which take the store's place.
        quiet: draw no progress.
        at: where the reports are counted.
    """
    question = newest(asked)
    options = options_of(which.selection(question, load_survey(path)))
    if counts and at != HERE:
        raise InvalidParameter("A file of counts needs no engine: leave out --engine.")
    with at.engine() as engine, stages(quiet) as told:
        options = replace(options, progress=told, engine=engine)
        if counts:
            yield _counts(counts, each_of(asked)), options
            return
        with open_store(data, create=False) as store:
            if len(each_of(asked)) == 1:
                say_where_reports_are(store, path, question)
            yield store, options


def _counts(paths: Sequence[Path], asked: Sequence[Question]) -> AnyCounts:
    """Read files of counts, each of another level or version that is asked about.

    Raises:
        InvalidParameter: if a file is of something else, or two are of the same.
    """
    known = {question.digest: question for question in asked}
    found: dict[bytes, Accumulated] = {}
    for path in paths:
        data = read_file(path)
        # A file of something else is read as the newest, which says what it is.
        question = known.get(digest_of(data), asked[-1])
        if question.digest in found:
            raise InvalidParameter(
                f"Two files of counts are of the same version and level of {question.id!r}.",
                "Add them up first: deniable merge A B -o C",
            )
        found[question.digest] = from_bytes(data, question)
    if len(asked) == 1:
        return next(iter(found.values()))
    parts = (found.get(one.digest, Accumulated.of_cells(one, {})) for one in asked)
    return Several(tuple(parts))
