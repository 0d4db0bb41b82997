"""A place with reports, and the survey that gives them their meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deniable.ask.options import Source
from deniable.engines.counts_file import digest_of, read_counts, read_file
from deniable.errors import InvalidParameter, StoreError
from deniable.notebook.asked import Asked
from deniable.protocol import Question, Survey
from deniable.protocol.naming import questions_of
from deniable.results.table import About, Column, Table
from deniable.store import STORE_FILE, Store, open_store
from deniable.store.place import is_archive, is_database

SURVEY = "survey.json"
COLUMNS = (
    Column("question", "label", "question"),
    Column("about", "label", "about"),
    Column("reports", "count", "reports"),
    Column("epsilon_once", "number", "epsilon once"),
    Column("epsilon_forever", "number", "for ever", otherwise="no bound"),
)


@dataclass(frozen=True)
class Data:
    """Collected reports, ready to be asked; `deniable.open` makes one.

    Nothing stays open: every ask opens its place, reads, and closes it.

    Attributes:
        place: the data directory, archive, counts file or address.
        survey: the published survey.
        folder: the survey's folder, where its candidate files are; None where nobody said.
        truth: the true shares by question and field, where people's true values were given.
        notes: sentences about those values.
        kept: holds a temporary place for as long as there are data of it.
    """

    place: str
    survey: Survey
    folder: Path | None = None
    truth: Mapping[str, Mapping[str, Mapping[str, float | None]]] = field(
        default_factory=dict, compare=False
    )
    notes: tuple[str, ...] = field(default=(), compare=False)
    kept: object = field(default=None, compare=False)

    def question(
        self, name: str, *, version: int | str | None = None, level: str | None = None
    ) -> Asked:
        """Return a question, ready to be asked.

        Args:
            name: its id.
            version: by default the newest; "all" pools all of them.
            level: of a question with levels, one of them; by default all, pooled.

        Raises:
            InvalidParameter: if the survey has no such question, version or level.
        """
        chosen = None if version is None else str(version)
        return Asked(self, questions_of(self.survey, name, chosen, level))

    @property
    def questions(self) -> dict[str, Asked]:
        """All questions that are asked, by id; of a counts file, the one that was counted."""
        wanted = {q.id: None for q in self.survey.asked}
        if self.is_counts:
            digest = digest_of(read_file(Path(self.place)))
            known = next((q for q in self.survey.known if q.digest == digest), None)
            if known is None:
                raise InvalidParameter(
                    "The counts are of a question that the survey does not have.",
                    "Name the survey.json that it was asked with: dn.open(FILE, survey=...)",
                )
            return {known.id: Asked(self, (known,))}
        return {name: self.question(name) for name in wanted}

    def __getitem__(self, name: str) -> Asked:
        return self.question(name)

    def __iter__(self) -> Iterator[Asked]:
        return iter(self.questions.values())

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def is_counts(self) -> bool:
        """Whether the place is a file of counts."""
        return not is_database(self.place) and Path(self.place).is_file()

    @contextmanager
    def source(self, question: Question) -> Iterator[Source]:
        """Yield the reports to a question, or their counts.

        Raises:
            StoreError: if the place cannot be read.
        """
        if self.is_counts:
            yield read_counts(Path(self.place), question)
            return
        with self.opened() as store:
            yield store

    def opened(self) -> Store:
        """Return the store, open; the caller closes it."""
        return open_store(self.place, create=False)

    def overview(self) -> Table:
        """Return the questions with their numbers of reports, as a table.

        Raises:
            StoreError: if the place cannot be read.
        """
        rows = []
        for asked in self:
            newest = asked.questions[-1]
            forever = newest.epsilon_forever
            rows.append(
                (
                    newest.id,
                    newest.description,
                    asked.reports,
                    newest.epsilon_once / 1e6,
                    None if forever is None else forever / 1e6,
                )
            )
        about = About("questions", what=(f"{self.survey.name}: {self.place}",))
        return Table.of(about, COLUMNS, rows, notes=self.notes)

    def __repr__(self) -> str:
        named = ", ".join(dict.fromkeys(q.id for q in self.survey.asked))
        return f"Data({self.place!r}: {named:.200})"

    def _repr_html_(self) -> str:
        return self.overview()._repr_html_()


def open_data(place: str | Path, survey: Survey | str | Path | None = None) -> Data:
    """Open reports that were collected; `deniable.open` is the same.

    Args:
        place: a data directory, an archive, a counts file, or postgresql://USER@HOST/DATABASE.
        survey: the published survey, or its file; by default survey.json in the place, in the
            folder that holds it, or in the working directory.

    Raises:
        StoreError: if there is nothing to read at the place.
        InvalidParameter: if no survey is found, or an address has a password in it.
        InvalidSurvey: if the survey cannot be read.
    """
    where = Path(place)
    if where.name == STORE_FILE:
        where, place = where.parent, where.parent
    data = Data(str(place), *_survey_of(place, survey))
    if data.is_counts:
        digest_of(read_file(where))
        return data
    if not is_database(str(place)) and not is_archive(place) and not where.is_dir():
        raise StoreError(
            f"There is nothing at {str(place)!r:.200}: neither a data directory, nor an archive, "
            "nor a counts file."
        )
    with data.opened():
        return data


def _survey_of(place: str | Path, survey: Survey | str | Path | None) -> tuple[Survey, Path | None]:
    """Return a survey and its folder, by its file where there is one."""
    if isinstance(survey, Survey):
        return survey, None
    if survey is not None:
        return Survey.load(survey), Path(survey).parent
    local = not (isinstance(place, str) and "://" in place)
    near = [Path(place), Path(place).parent] if local else []
    tried = list(dict.fromkeys(folder / SURVEY for folder in (*near, Path())))
    for path in tried:
        if path.is_file():
            return Survey.load(path), path.parent
    raise InvalidParameter(
        f"No published survey was found: there is no {', no '.join(map(str, tried))}.",
        'Name it: deniable.open(place, survey="survey.json")',
    )
