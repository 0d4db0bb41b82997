"""One variable of an association: a field's reports, and the answers to tell apart in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.errors import InvalidParameter
from deniable.mechanisms import Members
from deniable.mechanisms.base import Candidate, Code, Mechanism, Reports
from deniable.mechanisms.candidates import check_is_list, label_of
from deniable.mechanisms.packed import PackedAnswers

OTHER_LABEL = "(other)"


@dataclass(frozen=True)
class Variable:
    """A field of a question, with one report per person.

    Attributes:
        name: of the field, for tables and messages.
        mechanism: that made the reports.
        reports: a structured array of the field's records; the same people in the same order in
            every variable that is analysed together.
        candidates: answers to tell apart. Open alphabets need them. Closed domains: None for all
            answers, or some of the labels, and then the rest is "(other)".
        labels: how answers are written: one per candidate; of a closed domain one per answer.
        other: whether answers outside the candidates have a category of their own. Unless said:
            where there are such answers.

    Raises:
        InvalidParameter: if the field cannot be analysed this way; the message says why.
    """

    name: str
    mechanism: Mechanism
    reports: Reports
    candidates: tuple[Candidate, ...] | None = None
    labels: tuple[str, ...] | None = None
    other: bool | None = None

    def __post_init__(self) -> None:
        # A report of a set follows from all of its members.
        if isinstance(self.mechanism, Members):
            raise InvalidParameter(
                f"The answers of '{self.name}' are sets, and a report follows from a whole set.",
                "Associate fields whose answers are single values.",
            )
        check_is_list(self.candidates)
        check_is_list(self.labels, "Labels")
        self.mechanism.records(self.reports)
        if self.mechanism.hashed:
            self._check_open()
        elif self.candidates is not None:
            self.asked()
        if self.other is None:
            object.__setattr__(self, "other", self._incomplete())
        if len(self.categories) < 2:
            raise InvalidParameter(
                f"'{self.name}' has {len(self.categories)} category: nothing can go together with "
                "it.",
                "Give it at least two candidates, or one and 'other'.",
            )

    def _check_open(self) -> None:
        if not self.candidates:
            raise InvalidParameter(
                f"The strings of '{self.name}' cannot be listed from reports.",
                "Pass candidates, for instance the significant ones of the field's own estimate.",
            )
        if self.labels is not None and len(self.labels) != len(self.candidates):
            raise InvalidParameter(
                f"'{self.name}' needs one label per candidate. Got {len(self.labels)} for "
                f"{len(self.candidates)}."
            )

    def _incomplete(self) -> bool:
        """Tell whether there are answers outside the candidates."""
        if self.mechanism.hashed:
            return not any(isinstance(candidate, Code) for candidate in self.candidates or ())
        return self.candidates is not None and len(self.candidates) < len(self.answers)

    @cached_property
    def learned(self) -> dict[str, Any]:
        """Fits to these reports that are made once: how "(other)" looks, by its profile."""
        return {}

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.reports.size)

    @property
    def answers(self) -> tuple[str, ...]:
        """The labels of a closed domain; those of the candidates where the domain is open."""
        if self.mechanism.hashed:
            named = tuple(label_of(candidate) for candidate in self.candidates or ())
            return self.labels or named
        return self.mechanism.estimate(self.mechanism.zero(), self.labels).candidates

    def packed(self, reports: Reports) -> PackedAnswers | None:
        """Return reports as bytes that say all about a few answers each; None if they are not so.

        Answers are the candidates of an open alphabet, and all of a closed domain.
        """
        names = self.candidates if self.mechanism.hashed else self.labels
        return self.mechanism.packed_answers(reports, names)

    def asked(self) -> tuple[int, ...]:
        """Return the places of the candidates among the answers.

        Raises:
            InvalidParameter: if a candidate of a closed domain is none of its answers.
        """
        answers = self.answers
        if self.mechanism.hashed or self.candidates is None:
            return tuple(range(len(answers)))
        place = {label: code for code, label in enumerate(answers)}
        named = [label_of(candidate) for candidate in self.candidates]
        unknown = [label for label in named if label not in place]
        if unknown or len(set(named)) < len(named):
            raise InvalidParameter(
                f"Candidates of '{self.name}' must be different answers of its domain. "
                + (f"Got {unknown[0]!r:.60}." if unknown else "One is listed twice.")
            )
        return tuple(place[label] for label in named)

    @property
    def categories(self) -> tuple[str, ...]:
        """The labels of the table's rows for this variable, "(other)" last where there is one."""
        answers = self.answers
        named = tuple(answers[place] for place in self.asked())
        return (*named, OTHER_LABEL) if self.other else named
