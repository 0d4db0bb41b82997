"""How long reports stay: what a question says, or else its survey.

Retention is a promise to the people who answer. It is in no digest, because no bit of a report
depends on it; but to keep reports for longer is to ask for more than people were told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.protocol.epochs import ACCEPT_PAST_DAYS
from deniable.protocol.frozen import frozen

if TYPE_CHECKING:
    from deniable.protocol.question import Question
    from deniable.protocol.survey import Survey


@frozen
class Keeping:
    """For how long the reports to a question stay.

    Attributes:
        days: days after the end of an epoch after which its reports go; None if they stay.
        counts: True if counts of them stay when they go; False where they do not go.

    Example:
        >>> Keeping(30).exceeds(Keeping(None)), Keeping(31).exceeds(Keeping(30))
        (False, True)
    """

    days: int | None = None
    counts: bool = False

    def accepted_days(self, past_days: int) -> int:
        """Return for how many days after the end of an epoch its reports are taken.

        Reports that should be gone are taken no more: they would come back, or stay for longer.

        Args:
            past_days: for how many days late reports are taken where nothing is deleted before.

        Example:
            >>> Keeping(7).accepted_days(30), Keeping(90).accepted_days(30)
            (7, 30)
        """
        return past_days if self.days is None else min(self.days, past_days)

    def exceeds(self, other: Keeping) -> bool:
        """Tell whether reports, or counts of them, stay for longer than the other one says."""
        if other.days is None:
            return False  # all of them may stay for ever already
        return self.days is None or self.days > other.days or (self.counts and not other.counts)

    def as_json(self) -> dict[str, int | bool | None]:
        """Return both members, by the names that they have in a survey."""
        return {"retention_days": self.days, "keep_counts": self.counts}

    def words(self) -> str:
        """Return a sentence for analysts and operators."""
        if self.days is None:
            return "No day is set on which reports are deleted."
        days = "1 day" if self.days == 1 else f"{self.days:,} days"
        counts = "stay, as files" if self.counts else "go with them"
        late = ", and refused from then on" if self.days < ACCEPT_PAST_DAYS else ""
        return (
            f"Reports are deleted {days} after the end of their epoch{late}; their counts {counts}."
        )


def keeping_of(survey: Survey, question: Question) -> Keeping:
    """Return how long reports to a question stay: each member is its own, or else the survey's."""
    own, counts = question.retention_days, question.keep_counts
    days = survey.retention_days if own is None else own
    kept = survey.keep_counts if counts is None else counts
    return Keeping(days, days is not None and bool(kept))
