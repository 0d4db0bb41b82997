"""The options that asking verbs share: which reports, from a store or from files of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask.options import Options, People, Source
from deniable.ask.several import AnyCounts, Asked, Several, each_of, newest
from deniable.cli.engine import EngineName, SparkMaster, started
from deniable.cli.output import DataPlace, LevelName, SurveyJson, stages
from deniable.cli.values import load_survey, say_where_reports_are
from deniable.engines.accumulated import Accumulated
from deniable.engines.counts_file import digest_of, from_bytes, read_file
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter
from deniable.protocol import Question
from deniable.protocol.epochs import day_of, epoch_of
from deniable.protocol.naming import questions_of
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import open_store

_DATE = ["%Y-%m-%d"]

GroupBy = Annotated[
    list[str] | None,
    typer.Option("--by", help="Apart by 'epoch' or a segment. May be repeated.", metavar="NAME"),
]


@dataclass(frozen=True)
class Reports:
    """The options of every verb that reads reports: of which question, which ones, and where."""

    epoch: Annotated[
        int | None, typer.Option("--epoch", min=0, help="Only this epoch.", metavar="N")
    ] = None
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since", formats=_DATE, help="From the epoch of this day on.", metavar="DATE"
        ),
    ] = None
    until: Annotated[
        datetime | None,
        typer.Option("--until", formats=_DATE, help="Up to the epoch of this day.", metavar="DATE"),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="Only reports of a segment's value. May be repeated.",
            metavar="SEGMENT=VALUE",
        ),
    ] = None
    version: Annotated[
        str | None,
        typer.Option(
            "--version", help="Of the question; by default the newest; 'all' pools.", metavar="N"
        ),
    ] = None
    level: LevelName = None
    survey: SurveyJson = Path("survey.json")
    data: DataPlace = "data"

    def questions(self, name: str) -> tuple[Question, ...]:
        """Return the question of this name, in all the versions and levels that are asked about."""
        return questions_of(load_survey(self.survey), name, self.version, self.level)

    def selection(self, asked: Question) -> Selection:
        """Return the reports as engines select them.

        Raises:
            InvalidParameter: if the wishes exclude each other, or a segment is unknown.
        """
        first, last = self._epochs(asked.epoch)
        floor = load_survey(self.survey).floor or DEFAULT_FLOOR
        found = Selection(first, last, self._segments(), floor)
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


@dataclass(frozen=True)
class Asking(Reports):
    """The options of every verb that counts reports: also files of counts, and where to count."""

    counts: Annotated[
        list[Path] | None,
        typer.Option(
            "--counts",
            help="A file of counts, in place of a store; one for each level and version.",
            metavar="FILE",
        ),
    ] = None
    engine: EngineName = "local"
    master: SparkMaster = None

    @contextmanager
    def source(self, asked: Asked, *, quiet: bool) -> Iterator[tuple[Source, Options]]:
        """Yield where the reports are, and the options that say which of them.

        Args:
            asked: the question, or several levels and versions of it.
            quiet: draw no progress.
        """
        question = newest(asked)
        chosen = self.selection(question)
        if self.counts and (self.engine, self.master) != ("local", None):
            raise InvalidParameter("A file of counts needs no engine: leave out --engine.")
        with started(self.engine, self.master) as engine, stages(quiet) as told:
            options = Options(
                first_epoch=chosen.first_epoch,
                last_epoch=chosen.last_epoch,
                where=chosen.where,
                floor=chosen.floor,
                progress=told,
                engine=engine,
            )
            if self.counts:
                yield _counts(self.counts, each_of(asked)), options
                return
            with open_store(self.data, create=False) as store:
                if len(each_of(asked)) == 1:
                    say_where_reports_are(store, self.survey, question)
                yield store, options


@dataclass(frozen=True)
class AskingPeople(Asking):
    """The options of every verb that estimates: also who reports in several epochs."""

    new_people: Annotated[
        bool, typer.Option("--new-people", help="Nobody reported in two epochs: narrower errors.")
    ] = False
    same_people: Annotated[
        bool,
        typer.Option(
            "--same-people", help="The same devices in all epochs: changes are told sooner."
        ),
    ] = False

    def people(self, *, changes: bool = False) -> People:
        """Return who reports in several epochs, by two flags that exclude each other.

        Args:
            changes: whether changes over epochs are looked at, which --same-people is about.

        Raises:
            InvalidParameter: if both are given, or --same-people makes no difference.
        """
        if self.new_people and self.same_people:
            raise InvalidParameter("Use either --new-people or --same-people.")
        if self.same_people and not changes:
            raise InvalidParameter(
                "--same-people makes no difference here: it is about changes over epochs, in which "
                "what the same people keep cancels. The errors of all epochs together hold whoever "
                "came back.",
                "Leave it out, or look at changes: --by epoch, of estimate and marginals.",
            )
        return "new" if self.new_people else "same" if self.same_people else "unknown"


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
