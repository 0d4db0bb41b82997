"""The published survey: what clients bundle or fetch, what collectors and analysts read.

survey.json is canonical (integers and strings only), so that its questions have one digest in
every language. People do not write it: they write TOML, and `deniable publish` resolves that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol.canonical import canonical
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
from deniable.protocol.survey_reading import FORMAT, MAX_QUESTIONS, MAX_SURVEY_BYTES, read_published

__all__ = [
    "DIGEST_PREFIX",
    "FIELD_NAME",
    "FORMAT",
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
    """A published survey: its name, its owner and its questions."""

    name: str
    owner: str
    questions: tuple[Question, ...]

    def question(self, question_id: str, version: int | None = None) -> Question | None:
        """Return a question by id, the newest version unless one is named; None if unknown."""
        found = [
            q
            for q in self.questions
            if q.id == question_id and (version is None or q.version == version)
        ]
        return max(found, key=lambda q: q.version, default=None)

    def published(self) -> bytes:
        """Return the bytes of survey.json."""
        return canonical(
            {
                "deniable": FORMAT,
                "name": self.name,
                "owner": self.owner,
                "questions": [question.published() for question in self.questions],
            }
        )

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
