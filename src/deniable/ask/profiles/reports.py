"""The reports to a question about a profile: tables of any few attributes, raw and smoothed.

store -> accumulate -> counts -> raw and smoothed tables
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np

from deniable.ask.intervals import reading_of
from deniable.ask.options import DEFAULTS, Options
from deniable.decode.reading import READING, Reading
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.marginals.conditional import conditional
from deniable.marginals.pairs import Pairs
from deniable.marginals.raw import raw_table
from deniable.marginals.smoothed import pairs_apart, smoothed_tables
from deniable.marginals.table import Table
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_of
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Profile, Question

MOST_TABLES = 50_000
MOST_CELLS = 2_048
"""The largest table, in cells: its covariance has the square of them."""
RAW = (
    "raw: unbiased, with standard error and 95% interval of each share by itself; noise can put a "
    "share below 0 or above 1, and tables need not agree with each other."
)
SMOOTHED = (
    "smoothed: a distribution that agrees with all other smoothed tables; nearer to the truth on "
    "average, but shrunk, so without intervals."
)


Given = Mapping[str, str | None]
"""Attributes that are given: by name an answer, or None for every answer."""


@dataclass(frozen=True)
class Both:
    """One table in both forms."""

    raw: Table
    smoothed: Table

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its attributes."""
        return self.raw.attributes

    def given(self, known: Given) -> Both:
        """Return the shares of the other attributes given these, in both forms.

        Raises:
            InvalidParameter: if an attribute has no such answer, or nothing is left to ask for.
        """
        if not known:
            return self
        for name, answer in known.items():
            labels = self.raw.labels[self.attributes.index(name)]
            if answer is not None and answer not in labels:
                raise InvalidParameter(
                    f"Attribute {name!r} has no answer {answer!r:.80}. It has: {', '.join(labels)}."
                )
        names = list(known)
        return Both(conditional(self.raw, names), conditional(self.smoothed, names))


@dataclass(frozen=True)
class Profiles:
    """The counts of a question about a profile, ready to be asked for tables.

    Attributes:
        question: the question.
        mechanism: the mechanism that the reports come from.
        counts: the counts of all reports.
        reading: what intervals are of, and what people who report in several epochs share.
        simulated: the number of simulated reports.
        said: sentences on levels and versions that are pooled.
    """

    question: Question
    mechanism: ProfileMechanism
    counts: Counts
    reading: Reading = READING
    simulated: int = 0
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, accumulated: Accumulated, options: Options = DEFAULTS) -> Profiles:
        """Return the reports of a question whose counts are there.

        Raises:
            InvalidParameter: if it is not a question about a profile.
        """
        question = accumulated.question
        field = profile_field(question)
        mechanism = mechanism_of(field, question.absent)
        # Tables are estimated from reports about profiles alone.
        if not isinstance(mechanism, ProfileMechanism):
            raise InvalidParameter(f"{field.parameters.mechanism} does not report profiles.")
        reading = reading_of(options, question, field, accumulated.epochs)
        counts = accumulated.counts[field.name]
        return cls(question, mechanism, counts, reading, accumulated.simulated)

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.counts.n

    @property
    def heading(self) -> str:
        """The question's description."""
        return self.question.heading

    @property
    def profile(self) -> Profile:
        """The attributes and their domains."""
        return self.mechanism.profile

    @property
    def order(self) -> int:
        """The most attributes that a table from these reports can have."""
        return self.mechanism.parameters.collected

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the places of attributes.

        Raises:
            InvalidParameter: if one is unknown or named twice; the message lists them all.
        """
        known = self.profile.names
        for name in names:
            if name not in known:
                raise InvalidParameter(
                    f"Question {self.question.id!r} has no attribute {name!r:.80}. "
                    f"It has: {', '.join(known)}."
                )
        if len(set(names)) < len(names):
            raise InvalidParameter("Name each attribute once.")
        return tuple(known.index(name) for name in names)

    def check_order(self, attributes: int) -> None:
        """Raise InvalidParameter unless a table of this number of attributes can be learned."""
        if not 1 <= attributes <= self.order:
            raise InvalidParameter(
                f"The reports to {self.question.id!r} hold tables of 1 to {self.order} of its "
                f"{len(self.profile.names)} attributes. Got {attributes}.",
                "Ask for fewer; --tree answers for any number along the dependency tree, as far "
                "as pairs tell.",
            )

    def check_cells(self, places: Sequence[int]) -> None:
        """Raise InvalidParameter if a table would be too large, before it is made."""
        cells = prod(self.profile.answers[place] for place in places)
        if cells > MOST_CELLS:
            raise InvalidParameter(
                f"A table of these {len(places)} attributes would have {cells:,} cells: at most "
                f"{MOST_CELLS:,}, since its covariance has the square of them.",
                "Ask for fewer attributes, or for attributes with fewer answers.",
            )

    def table(self, names: Sequence[str]) -> Both:
        """Return the table of some attributes, an axis each in the order asked for.

        Raises:
            InvalidParameter: if a name is unknown, there are more than were collected, or the
                table would have more than MOST_CELLS cells.
        """
        places = self.places(names)
        self.check_order(len(places))
        self.check_cells(places)
        return self._read(self._both([places])[0])

    def tables(self, order: int) -> list[Both]:
        """Return all tables of `order` attributes.

        Raises:
            InvalidParameter: if there are more than were collected, more than MOST_TABLES, or
                one has more than MOST_CELLS cells.
        """
        self.check_order(order)
        number = comb(len(self.profile.names), order)
        if number > MOST_TABLES:
            raise InvalidParameter(
                f"There are {number:,} tables of {order} attributes: more than {MOST_TABLES:,}.",
                "Ask for the ones you want with --attributes.",
            )
        every = range(len(self.profile.names))
        self.check_cells(sorted(every, key=lambda place: -self.profile.answers[place])[:order])
        return [self._read(both) for both in self._both(list(combinations(every, order)))]

    @cached_property
    def pairs(self) -> Pairs:
        """The tables of all pairs.

        Raises:
            InvalidParameter: if only single attributes were collected, or a pair is too large.
        """
        self.check_order(2)
        largest = sorted(range(len(self.profile.names)), key=lambda i: -self.profile.answers[i])
        self.check_cells(largest[:2])
        pairs = list(combinations(range(len(self.profile.names)), 2))
        found = self._both(list(pairs))
        return Pairs(
            self.profile.names,
            {pair: both.raw for pair, both in zip(pairs, found, strict=True)},
            {pair: both.smoothed for pair, both in zip(pairs, found, strict=True)},
            self.pairs_by_themselves(),
        )

    @cached_property
    def learned(self) -> bool:
        """Whether some share of an attribute, or of a pair of them, is known at all."""
        order = min(2, self.order)
        every = combinations(range(len(self.profile.names)), order)
        tables = self.pairs.raw.values() if order == 2 else [self._raw(one) for one in every]
        read = [self._read(Both(table, table)).raw for table in tables]
        ends = [(one.low, one.high) for one in read if one.low is not None]
        return any(bool(np.any((low > 0) | (np.asarray(high) < 1))) for low, high in ends)

    def pair(self, first: str, second: str) -> Both:
        """Return the table of two attributes out of those of all pairs."""
        one, two = sorted(self.places([first, second]))
        return self._read(Both(self.pairs.raw[one, two], self.pairs.smoothed[one, two]))

    def _both(self, wanted: list[tuple[int, ...]]) -> list[Both]:
        """Return tables by places; smoothed ones are made together, so that they agree."""
        if self.n == 0:
            raise InvalidParameter(f"There are no reports to {self.question.id!r} yet.")
        ordered = [tuple(sorted(places)) for places in wanted]
        smooth = self.smoothed_of(ordered)
        return [
            Both(self._raw(places), _turned(smooth[rising], places))
            for places, rising in zip(wanted, ordered, strict=True)
        ]

    def _raw(self, places: tuple[int, ...]) -> Table:
        """Return the raw table of its noise, as far as epochs do not average it out.

        Tests of pairs add the sample's covariance once; where the same people report again it
        counts `people` times.
        """
        found = self.noise_table(places)
        if found.covariance is None or self.reading.people == 1:
            return found
        known = np.isfinite(found.probability).all()
        sample = found.sampling_covariance if known else np.zeros_like(found.covariance)
        return _with(
            found, self.reading.noise * found.covariance + (self.reading.people - 1) * sample
        )

    def noise_table(self, places: Sequence[int]) -> Table:
        """Return the raw table with the covariance of its noise."""
        return raw_table(self.mechanism, self.counts, places)

    def smoothed_of(self, subsets: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], Table]:
        """Return smoothed tables, by rising places."""
        return smoothed_tables(self.mechanism, self.counts, subsets=subsets)

    def pairs_by_themselves(self) -> Mapping[tuple[int, int], Floats]:
        """Return the tables of pairs smoothed one by one, where that differs."""
        return pairs_apart(self.mechanism.moments(self.counts))

    def _read(self, both: Both) -> Both:
        """Return a table with intervals of what they are asked to be of."""
        found = both.raw
        if found.covariance is None or not np.isfinite(found.probability).all():
            return both
        sample = found.sampling_covariance
        noise = found.covariance - (self.reading.people - 1) * sample
        read = replace(self.reading, noise=1.0).together(noise, sample)
        # In several epochs the same people tell about other tables: no fewer tell about each.
        told = self.n if found.told is None else found.told
        people = min(told, self.n / self.reading.people)
        sampled = people if self.reading.of == "population" else None
        return Both(_with(found, read, sampled), both.smoothed)


def _with(table: Table, covariance: Floats, people: float | None = None) -> Table:
    """Return a raw table with another covariance, and the intervals that follow from it."""
    named = (table.attributes, table.labels, table.probability)
    return Table.raw(*named, covariance, table.n, table.notes, people, told=table.told)


def _turned(table: Table, places: tuple[int, ...]) -> Table:
    """Return a table of rising places with its axes in another order."""
    axes = [sorted(places).index(place) for place in places]
    return replace(
        table,
        attributes=tuple(table.attributes[axis] for axis in axes),
        labels=tuple(table.labels[axis] for axis in axes),
        probability=table.probability.transpose(axes),
    )


def profile_field(question: Question) -> Field:
    """Return the field of a question about a profile.

    Raises:
        InvalidParameter: if the question is about something else.
    """
    for field in question.fields:
        if isinstance(field.domain, Profile):
            return field
    raise InvalidParameter(
        f"Question {question.id!r} is not about many attributes together.",
        f"Use: deniable estimate {question.id}",
    )
