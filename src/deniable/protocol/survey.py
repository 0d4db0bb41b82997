"""The published survey: clients bundle or fetch it, collectors and analysts read it.

survey.json is canonical (integers and strings only), so that its questions have one digest in
every language. People do not write it: they write TOML, and `deniable publish` resolves that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.frozen import frozen
from deniable.protocol.question import (
    DIGEST_PREFIX,
    FIELD_NAME,
    MAX_EPOCH_DAYS,
    MAX_FIELDS,
    MAX_VERSION,
    PLAIN_FIELD,
    QUESTION_ID,
    REPEATS,
    SENDS,
    Field,
    Question,
)
from deniable.protocol.survey_reading import (
    FORMAT,
    MAX_CEILING,
    MAX_QUESTIONS,
    MAX_SURVEY_BYTES,
    read_published,
)

__all__ = [
    "DIGEST_PREFIX",
    "FIELD_NAME",
    "FORMAT",
    "MAX_CEILING",
    "MAX_EPOCH_DAYS",
    "MAX_FIELDS",
    "MAX_QUESTIONS",
    "MAX_SURVEY_BYTES",
    "MAX_VERSION",
    "PLAIN_FIELD",
    "QUESTION_ID",
    "REPEATS",
    "SENDS",
    "Field",
    "Question",
    "Survey",
]


@frozen
class Survey:
    """A published survey.

    Attributes:
        name: its name.
        owner: who answers for it.
        questions: the questions that are asked.
        earlier: those that were asked before, by id and version: older versions, and questions
            that were withdrawn. No device records them. Reports that devices still hold are
            admitted until they expire, and collected reports are read with them.
        ceiling: the most epsilon that a device discloses in its life, in micros, where the app
            that bundles the survey says nothing else; None for the default.

    Example:
        >>> from datetime import date
        >>> from deniable.protocol import Boolean, Field, KRRParameters, Question, Survey
        >>> krr = KRRParameters.resolve({"epsilon": 1.0}, Boolean(), False)
        >>> field = Field("value", Boolean(), krr)
        >>> until = date(2099, 1, 1)
        >>> dark = Question("dark", 1, "Dark?", "us", until, 1, "once", "recorded", (field,))
        >>> survey = Survey("Test", "us", (dark,))
        >>> survey.question("dark").epsilon_once
        1000000
        >>> Survey.from_published(survey.published()) == survey
        True
    """

    name: str
    owner: str
    questions: tuple[Question, ...]
    earlier: tuple[Question, ...] = ()
    ceiling: int | None = None

    @property
    def known(self) -> tuple[Question, ...]:
        """Every question and version whose reports have a meaning: asked now, or earlier."""
        return (*self.questions, *self.earlier)

    @property
    def asked(self) -> tuple[Question, ...]:
        """The newest version of each question that is asked, in the order of the survey."""
        newest = {q.id: q.version for q in sorted(self.questions, key=lambda q: q.version)}
        return tuple(q for q in self.questions if newest[q.id] == q.version)

    def question(self, question_id: str, version: int | None = None) -> Question | None:
        """Return a question by id, asked now or earlier; None if unknown.

        Without a version it is the newest one that is asked, or, of a question that was withdrawn,
        the newest that was.
        """
        found = [
            q
            for q in self.known
            if q.id == question_id and (version is None or q.version == version)
        ]
        return max(found, key=lambda q: q.version, default=None)

    def versions(self, question_id: str) -> tuple[Question, ...]:
        """Return every version of a question that is asked or was, rising."""
        found = (q for q in self.known if q.id == question_id)
        return tuple(sorted(found, key=lambda q: q.version))

    def published(self) -> bytes:
        """Return the bytes of survey.json."""
        members: dict[str, Json] = {
            "deniable": FORMAT,
            "name": self.name,
            "owner": self.owner,
            "questions": [question.published() for question in self.questions],
        }
        if self.earlier:
            members["earlier"] = [question.published() for question in self.earlier]
        if self.ceiling is not None:
            members["ceiling"] = self.ceiling
        return canonical(members)

    @classmethod
    def from_published(cls, data: bytes) -> Self:
        """Read survey.json.

        Edge cases: spaces and line ends between its members are no mistake, since editors add
            them; another value, member, type or spelling of a number is.

        Raises:
            InvalidSurvey: if anything in it is not as `published` writes it.
        """
        try:
            return cls(*read_published(data))
        except InvalidParameter as error:
            raise InvalidSurvey([error]) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read survey.json from a file.

        Raises:
            InvalidSurvey: if it is not a published survey.
            OSError: if the file cannot be read.
        """
        return cls.from_published(Path(path).read_bytes())
