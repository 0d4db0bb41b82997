"""One question of some data, and every way to ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack

from deniable import ask
from deniable._validate import nearest
from deniable.ask import profiles as of_profiles
from deniable.ask.candidates import candidates_for, is_open, read_candidates
from deniable.ask.options import Options, People, Source
from deniable.ask.profiles import along_tree, pairs_table, shares_of, tree_table
from deniable.ask.profiles.over_groups import profiles_by
from deniable.ask.several import Asked as Questions
from deniable.discover.ngrams.discovery import Search
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter
from deniable.notebook.progress import bars
from deniable.protocol import Question
from deniable.protocol.epochs import day_of, epoch_of
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.results.table import Table, Tables
from deniable.store.versions import reports_by_version

if TYPE_CHECKING:
    from deniable.notebook.data import Data

Answer = TypeVar("Answer")
Given = str | Path | Sequence[str] | Mapping[str, Sequence[str]]
"""Candidates: a file, strings, or strings by field."""


class Which(TypedDict, total=False):
    """Which reports an ask is about, and how far it goes; every method of `Asked` takes these.

    where: only reports of these segments' values: {"platform": "linux"}.
    epoch: only this epoch. since, until: from and up to the epoch of a day, as "2026-11-30".
    fields: only these fields of the question.
    candidates: the strings to test for: a file, a list, or lists by field.
    of: what intervals are of: "population", or "reporters" for those who reported alone.
    confidence: the level of intervals.
    crafted: the share of reports that may be crafted: adds a second interval.
    people: who reports in several epochs: "unknown", "new" (nobody twice) or "same".
    truth: the true shares by field, where they are known.
    threads: the number of threads that count; by default one for each processor.
    progress: False draws no bars.
    """

    where: Mapping[str, str]
    epoch: int
    since: str | date
    until: str | date
    fields: Sequence[str]
    candidates: Given
    of: Literal["population", "reporters"]
    confidence: float
    crafted: float
    people: People
    truth: Mapping[str, Mapping[str, float | None]]
    threads: int
    progress: bool


_AS_THEY_ARE = ("fields", "of", "confidence", "crafted", "people", "threads")


@dataclass(frozen=True)
class Asked:
    """A question of some data; every method reads the reports and returns a table.

    Attributes:
        data: where the reports are.
        questions: the versions and levels that are asked about together, the newest last.

    Example:
        `dn.open("data")["homepage"].estimate(where={"platform": "linux"}).to_pandas()`
    """

    data: Data
    questions: tuple[Question, ...]

    def estimate(self, *, by: str | Sequence[str] = (), **which: Unpack[Which]) -> Table | Tables:
        """Return the share of each answer, with standard error, interval and test.

        Args:
            by: "epoch", the name of a segment, or both: a share for each.
            which: see `Which`.

        Returns:
            A table; of a question with several fields, a table of each.

        Raises:
            InvalidParameter: if something asked for does not exist, or strings lack candidates.
            StoreError: if the reports cannot be read.
        """
        groups = _names(by)
        if groups:
            return _one(
                self._ask(
                    lambda source, question, options: ask.over_time(
                        source, question, groups, options
                    ),
                    which,
                )
            )
        return _one(self._ask(ask.estimate, which))

    def numbers(
        self,
        *,
        by: str | Sequence[str] = (),
        quantiles: Sequence[float] = (),
        above: Sequence[float] = (),
        **which: Unpack[Which],
    ) -> Table | Tables:
        """Return mean, median and quantiles of numbers, and the shares above some values."""
        more: dict[str, Any] = {"quantiles": quantiles, "above": above}
        return _one(
            self._ask(
                lambda source, question, options: ask.numbers(
                    source, question, replace(options, **more), _names(by)
                ),
                which,
            )
        )

    def compare(
        self, by: str, *, against: str | None = None, **which: Unpack[Which]
    ) -> Table | Tables:
        """Return the differences between the values of a segment: an A/B test, if it is an arm."""
        return _one(
            self._ask(
                lambda source, question, options: ask.compare(
                    source, question, by, options, against=against
                ),
                which,
            )
        )

    def associate(
        self,
        *names: str,
        given: str | Sequence[str] = (),
        top: int | None = None,
        other: bool | None = None,
        discovered: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Table:
        """Return which answers of several fields go together: joint table and test.

        Args:
            names: two or more fields; by default all of the question.
            given: also shares given the answers to this field, or these.
            top: the most answers of a field that are told apart.
            other: False leaves out the category of all other answers.
            discovered: the field, or fields, of strings whose candidates are found on half of the
                people.
            which: see `Which`.
        """
        more: dict[str, Any] = {
            "given": _names(given),
            "top": top,
            "other": other,
            "discovered": _names(discovered),
        }
        if names:
            which["fields"] = names
        return self._ask(
            lambda source, question, options: ask.associate(
                source, question, replace(options, **more)
            ),
            which,
            listed=False,
        )

    def table(
        self,
        *attributes: str,
        given: str | Sequence[str] | Mapping[str, str | None] = (),
        by: str | Sequence[str] = (),
        order: int | None = None,
        tree: bool = False,
        **which: Unpack[Which],
    ) -> Table:
        """Return the table of some attributes of a profile, raw with intervals and smoothed.

        Args:
            attributes: their names; without any, all tables of `order` attributes (1 by default).
            given: attributes that are given: names, or names with an answer each.
            by: "epoch", the name of a segment, or both.
            order: without attributes: the number of attributes of each table.
            tree: answer along the dependency tree, for more attributes than were collected
                together.
            which: see `Which`.
        """
        if (order is not None and (attributes or tree)) or (tree and (by or not attributes)):
            raise InvalidParameter(
                "A table has attributes, or an order; tree=True needs attributes, and no by."
            )
        known = dict(given) if isinstance(given, Mapping) else dict.fromkeys(_names(given))

        def made(source: Source, question: Questions, options: Options) -> Table:
            if by:
                return profiles_by(
                    source,
                    question,
                    _names(by),
                    options,
                    attributes=attributes,
                    given=known,
                    order=order or 1,
                )
            reports = of_profiles(source, question, options)
            if tree:
                return along_tree(reports, attributes, known, options)
            wanted = [*attributes, *known]
            tables = [reports.table(wanted)] if attributes else reports.tables(order or 1)
            return shares_of(reports, tables, "both", known, options)

        return self._ask(made, which)

    def pairs(self, **which: Unpack[Which]) -> Table:
        """Return all pairs of a profile's attributes: correlations and tests of independence."""
        return self._ask(lambda *one: pairs_table(of_profiles(*one), options=one[2]), which)

    def tree(self, **which: Unpack[Which]) -> Table:
        """Return the dependency tree of a profile's attributes."""
        return self._ask(lambda *one: tree_table(of_profiles(*one), one[2]), which)

    def discover(self, *, matching: str | None = None, **which: Unpack[Which]) -> Table | Tables:
        """Return the strings that reports tell of, though nobody listed them.

        Args:
            matching: only strings that match this regular expression as a whole.
            which: see `Which`.
        """
        return _one(
            self._ask(
                lambda source, question, options: ask.discover(
                    source, question, replace(options, search=Search(matching=matching))
                ),
                which,
                listed=False,
            )
        )

    @property
    def newest(self) -> Question:
        """The question itself, in the newest version that is asked about."""
        return self.questions[-1]

    @property
    def reports(self) -> int:
        """The number of reports to these versions and levels."""
        if self.data.is_counts:
            with self.data.source(self.newest) as counted:
                return int(getattr(counted, "n", 0))
        with self.data.opened() as store:
            found = reports_by_version(store.tallies(), self.data.survey, self.newest.id)
        return sum(found.get(version, 0) for version in {q.version for q in self.questions})

    def __repr__(self) -> str:
        return f"Asked({self.newest.title!r}: {self.newest.description:.80})"

    def _ask(
        self,
        method: Callable[[Source, Questions, Options], Answer],
        which: Which,
        *,
        listed: bool = True,
    ) -> Answer:
        """Read the reports and ask.

        Args:
            method: the ask.
            which: its options.
            listed: take the candidate files that the survey names.
        """
        if unknown := which.keys() - Which.__annotations__.keys():
            name = min(unknown)
            known = sorted(Which.__annotations__)
            raise TypeError(
                f"There is no {name!r:.80} to ask by.{nearest(name, known)} There are: "
                f"{', '.join(known)}."
            )
        question = self.newest
        options = self._options(question, which, listed)
        with bars(which.get("progress", True)) as told, self.data.source(question) as source:
            return method(source, self.questions, replace(options, progress=told))

    def _options(self, question: Question, which: Which, listed: bool) -> Options:
        wanted: dict[str, Any] = {name: way for name, way in which.items() if name in _AS_THEY_ARE}
        first, last = _epochs(which, question.epoch)
        floor = self.data.survey.floor or DEFAULT_FLOOR
        chosen = Selection(first, last, which.get("where", {}), floor)
        chosen.check(question)
        strings = candidates_for(question, self.data.folder) if listed else {}
        return Options(
            first_epoch=first,
            last_epoch=last,
            where=chosen.where,
            floor=floor,
            candidates={**strings, **_candidates(question, which.get("candidates"))},
            folder=self.data.folder,
            truth=which.get("truth", self.data.truth.get(question.id, {})),
            **wanted,
        )


def _one(tables: Tables) -> Table | Tables:
    return tables[0] if len(tables) == 1 else tables


def _names(by: str | Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _epochs(which: Which, days: int) -> tuple[int | None, int | None]:
    if "epoch" in which:
        if "since" in which or "until" in which:
            raise InvalidParameter("Use either epoch, or since and until.")
        return which["epoch"], which["epoch"]
    first, last = (_epoch(which.get(name), days) for name in ("since", "until"))
    if first is not None and last is not None and first > last:
        raise InvalidParameter("since must not be after until.")
    return first, last


def _epoch(day: object, days: int) -> int | None:
    if day is None:
        return None
    try:
        found = day if isinstance(day, date) else date.fromisoformat(str(day))
    except ValueError:
        raise InvalidParameter(f"A day is written as 2026-11-30. Got {day!r:.80}.") from None
    return epoch_of(day_of(found), days)


def _candidates(question: Question, given: Given | None) -> Mapping[str, Sequence[str]]:
    """Return strings by field: those of a list or a file are for every field of strings."""
    if given is None or isinstance(given, Mapping):
        return given or {}
    listed = read_candidates(Path(given)) if isinstance(given, str | Path) else given
    return {field.name: listed for field in question.fields if is_open(field)}
