"""Periods: an epoch or a range of them, as "10" or "10-20"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.ask.several import AnyCounts, joined
from deniable.errors import InvalidParameter
from deniable.results.table import Epochs

PERIOD = "period"
TWO_PERIODS = (
    "Periods are compared as if nobody was in both: that is the least certain case, as long as a "
    "person's answers at two times are not negatively related. Within a period, people are taken "
    "to come back in every epoch of it."
)
_FORM = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


@dataclass(frozen=True)
class Period:
    """Epochs from `first` to `last`, both included."""

    first: int
    last: int

    @classmethod
    def of(cls, text: str) -> Period:
        """Return the period of a text: the number of an epoch, or two with "-" between them.

        Raises:
            InvalidParameter: if it is neither, or ends before it begins.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise InvalidParameter(
                f"A period is the number of an epoch, or a range such as 10-20. Got {text!r:.40}."
            )
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise InvalidParameter(
                f"A period must not end before it begins. Got {text}.", f"Ask for {last}-{first}."
            )
        return cls(first, last)

    def __str__(self) -> str:
        return str(self.first) if self.single else f"{self.first}-{self.last}"

    def __contains__(self, epoch: int) -> bool:
        return self.first <= epoch <= self.last

    @property
    def single(self) -> bool:
        """True if it is one epoch."""
        return self.first == self.last

    def part(self, counted: AnyCounts) -> AnyCounts:
        """Return the counts of the period, from counts that were kept apart.

        Raises:
            InvalidParameter: if there are no reports of it.
        """
        found = [one for epoch, one in counted.by_epoch().items() if epoch in self]
        if not found:
            raise InvalidParameter(f"There are no reports of the period {self}.")
        return joined(found)


def two_periods(texts: Sequence[str]) -> tuple[Period, Period]:
    """Return two periods that have no epoch in common.

    Raises:
        InvalidParameter: if one is no period, or they overlap: a report would be in both.
    """
    one, other = (Period.of(text) for text in texts)
    if one.first <= other.last and other.first <= one.last:
        raise InvalidParameter(
            f"The periods {one} and {other} overlap.", "Choose two that have no epoch in common."
        )
    return one, other


def days_covered(counted: AnyCounts) -> str:
    """Return the days of the epochs from which there are counts, none in the future."""
    epochs = Epochs(min(counted.epochs), max(counted.epochs), counted.question.epoch)
    first, last = epochs.first_day, epochs.last_day
    return f"{first}" if first == last else f"{first} to {last}"
