"""Tables for the pages, made once for each number of reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deniable.ask import (
    Answered,
    Options,
    Profiles,
    ask_each,
    associate,
    beside,
    cumulative,
    numbers,
    over_time,
)
from deniable.ask.candidates import candidate_path
from deniable.ask.profiles import pairs_table, shares_of, tree_table
from deniable.dashboard.cache import Cache
from deniable.dashboard.overview import Summary
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.results.table import Table
from deniable.results.table.files import chart_svg, render
from deniable.store import Store

_KEPT_FINDINGS = 64
_KEPT_FILES = 256
CHART_WIDTHS = {"wide": 980, "medium": 640, "narrow": 340}
"""The pictures a page can ask for, in pixels: for a desktop, a tablet and a telephone."""
MOST_TABLES = 6
"""The number of pairs of attributes whose tables stand on a page."""

CUMULATIVE, NUMBERS, NUMBERS_OVER_TIME = "cumulative", "numbers", "numbers-epoch"
"""The views of numbers: as a curve, mean and quantiles, and these over epochs."""

Key = tuple[object, ...]


def digest_of(asked: Sequence[Question]) -> bytes:
    """Return the digests of all levels and versions that are asked about together."""
    return b"".join(question.digest for question in asked)


@dataclass(frozen=True)
class Wanted:
    """The subject of a page: levels and versions of a question, all its epochs or one of them.

    Together with the number of reports and the store's stamp it names a finding for ever: reports
    are only added, and where some were deleted the stamp is another.
    """

    asked: tuple[Question, ...]
    n: int
    epoch: int | None
    candidate_files: tuple[object, ...]
    stamp: int = 0

    @property
    def question(self) -> Question:
        """The newest version; of levels, the last."""
        return self.asked[-1]

    @property
    def key(self) -> Key:
        """The key of the cache: equal for two subjects only if their tables are equal."""
        return digest_of(self.asked), self.n, self.epoch, self.candidate_files, self.stamp


@dataclass(frozen=True)
class Found:
    """A table, or else the problem that stands in its way."""

    table: Table | None
    problem: str = ""


@dataclass(frozen=True)
class Attributes:
    """Many attributes together: all pairs, the dependency tree, tables of its first edges."""

    pairs: Found
    tree: Table | None = None
    tables: tuple[Table, ...] = ()

    @classmethod
    def of(cls, profiles: Profiles) -> Attributes:
        """Return the pairs, the tree and the tables of attributes, from their reports."""
        try:
            profiles.check_order(2)
        except InvalidParameter as error:
            return cls(Found(None, error.message))
        if not profiles.n:
            return cls(Found(None, "There are no reports yet."))
        tree = tree_table(profiles)
        edges = [(row.first, row.second) for row in tree.rows[:MOST_TABLES]]
        tables = tuple(shares_of(profiles, [profiles.pair(*names)]) for names in edges)
        return cls(Found(pairs_table(profiles)), tree, tables)


class Findings:
    """Tables, pictures and files for the pages.

    Guarantees: while no report arrives and no candidate file changes, a second call is instant.

    Cost: the first call accumulates the question's reports, on one thread: the other processors
    are for collecting.
    """

    def __init__(self, store: Store, folder: Path, floor: int = DEFAULT_FLOOR) -> None:
        self._store = store
        self._floor = floor
        self._folder = folder
        self._found: Cache[Key, tuple[Answered, ...]] = Cache(_KEPT_FINDINGS)
        self._together: Cache[Key, Found] = Cache(_KEPT_FINDINGS)
        self._views: Cache[Key, Found] = Cache(_KEPT_FINDINGS)
        self._attributes: Cache[Key, Attributes] = Cache(_KEPT_FINDINGS)
        self._files: Cache[Key, bytes] = Cache(_KEPT_FILES)
        self._stamps: dict[bytes, int] = {}

    def wanted(self, summary: Summary, epoch: int | None, n: int | None = None) -> Wanted:
        """Return the subject as it is now; with `n`, as a page has just shown it, if that is kept.

        So a page's pictures are about the same reports as its table, though more have arrived.
        """
        question, asked = summary.question, summary.asked
        self._forget_deleted(digest_of(asked), summary.stamp)
        files = tuple(self._stamp(field) for field in question.fields)
        if n is not None:
            shown = Wanted(asked, n, epoch, files, summary.stamp)
            if shown.key in self._found:
                return shown
        now = summary.n if epoch is None else summary.reports.get(epoch, 0)
        return Wanted(asked, now, epoch, files, summary.stamp)

    def _forget_deleted(self, digest: bytes, stamp: int) -> None:
        """Forget what is known of reports that are not in the store any more."""
        if self._stamps.get(digest, stamp) != stamp:
            for cache in (self._found, self._together, self._views, self._attributes, self._files):
                cache.drop(lambda key: key[0] == digest and key[4] != stamp)
        self._stamps[digest] = stamp

    def of(self, wanted: Wanted) -> dict[str, Answered]:
        """Return the answer about every field, by name.

        Raises:
            StoreError: if the store cannot be read.
        """
        found = self._found.get(
            wanted.key, lambda: ask_each(self._store, wanted.asked, self._options(wanted))
        )
        return {answered.field.name: answered for answered in found}

    def together(self, wanted: Wanted, fields: tuple[str, ...]) -> Found:
        """Return the table of two or three fields together.

        Cost: the first call reads the reports of both fields into memory and fits their table.

        Raises:
            StoreError: if the store cannot be read.
        """
        return self._together.get((*wanted.key, fields), lambda: self._associated(wanted, fields))

    def view(self, wanted: Wanted, field: str, by: str) -> Found:
        """Return a field's shares by epoch or segment, or its cumulative curve.

        Args:
            wanted: the subject of the page.
            field: the field's name.
            by: "epoch", "cumulative", "numbers", "numbers-epoch", or a segment of the question.

        Raises:
            StoreError: if the store cannot be read.
        """
        return self._views.get((*wanted.key, field, by), lambda: self._viewed(wanted, field, by))

    def _viewed(self, wanted: Wanted, field: str, by: str) -> Found:
        options = replace(self._options(wanted), fields=(field,))
        try:
            if by == CUMULATIVE:
                return Found(cumulative(self._store, wanted.asked, options)[0])
            if by in (NUMBERS, NUMBERS_OVER_TIME):
                over = ("epoch",) if by == NUMBERS_OVER_TIME else ()
                return Found(numbers(self._store, wanted.asked, options, over)[0])
            return Found(over_time(self._store, wanted.asked, [by], options)[0])
        except InvalidParameter as error:
            return Found(None, str(error))

    def beside(self, wanted: Wanted, field: str, by: str, pair: tuple[str, str]) -> Found:
        """Return a field's shares in two epochs, or in two values of a segment.

        Raises:
            StoreError: if the store cannot be read.
        """
        options = replace(self._options(wanted), fields=(field,))

        def made() -> Found:
            try:
                return Found(beside(self._store, wanted.asked, by, pair, options)[0])
            except InvalidParameter as error:
                return Found(None, str(error))

        return self._views.get((*wanted.key, field, by, pair), made)

    def kept(self, wanted: Wanted, fields: tuple[str, ...]) -> bool:
        """Tell whether the table of some fields is there already."""
        return (*wanted.key, fields) in self._together

    def attributes(self, wanted: Wanted) -> Attributes | None:
        """Return many attributes together; None where the question is not about any."""
        asked = (
            [one.profiles for one in self.of(wanted).values() if one.profiles] if wanted.n else []
        )
        if not asked:
            return None
        return self._attributes.get(wanted.key, lambda: Attributes.of(asked[0]))

    def file(self, wanted: Wanted, table: Table, name: str) -> bytes:
        """Return a table as one of results.table.files.FORMATS."""
        return self._bytes(wanted, table, (name,), lambda: render(table, name))

    def chart(self, wanted: Wanted, table: Table, theme: str, size: str) -> bytes:
        """Return the picture of a table for a page."""
        width = CHART_WIDTHS[size]
        return self._bytes(
            wanted,
            table,
            (theme, size),
            lambda: chart_svg(table, theme=theme, width=width, heading=False),
        )

    def _bytes(self, wanted: Wanted, table: Table, form: Key, make: Callable[[], bytes]) -> bytes:
        picture = getattr(table.picture, "__name__", "")
        about = table.about
        by = about.more.get("beside", about.more.get("by", ""))
        named = (about.kind, about.field, str(by), picture)
        return self._files.get((*wanted.key, *named, *form), make)

    def _options(self, wanted: Wanted) -> Options:
        epoch = wanted.epoch
        options = Options(first_epoch=epoch, last_epoch=epoch, threads=1, folder=self._folder)
        return replace(options, floor=self._floor)

    def _associated(self, wanted: Wanted, fields: tuple[str, ...]) -> Found:
        options = replace(self._options(wanted), fields=fields)
        try:
            return Found(associate(self._store, wanted.asked, options))
        except InvalidParameter as error:
            return Found(None, str(error))

    def _stamp(self, field: Field) -> object:
        """Return a stamp of a field's candidate file, which changes with the file."""
        if not field.candidates:
            return None
        try:
            status = candidate_path(self._folder, field).stat()
        except (OSError, InvalidParameter):
            return None
        return status.st_mtime_ns, status.st_size
