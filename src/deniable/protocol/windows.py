"""A budget of epsilon per window of time, for values that change all the time.

Model: w-event privacy [Kellaris, Papadopoulos, Xiao, Papadias, "Differentially private event
sequences over infinite streams", VLDB 2014], for one device: whatever happened to its values within
any w consecutive epochs is protected by the budget, because the epsilons of all reports of any such
window add up to at most the budget. Over a life the sum has no bound: that is the price of values
that never stop changing. A permanent response is better wherever values stay.

Two ways to spend it, for n people and n Var(epsilon) the variance of one report:

    every epoch, budget/w each:        Var = (n Var)(budget / w) / n
    one epoch in w, the whole budget:  Var = (n Var)(budget) w / n

Of small epsilons n Var grows like 1/epsilon^2, so that the first costs w^2 and the second w.

The device's ledger counts in UTC days, the epochs of all questions being whole numbers of them: a
report belongs to every day of its epoch, and so to every window that touches one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen

_LONGEST = 10**6


class Span(NamedTuple):
    """Micros spent on the epochs (or days) from `first` to `last`, both included."""

    first: int
    last: int
    micros: int


@frozen
class Window:
    """A budget that the spending of no w consecutive epochs may exceed.

    Attributes:
        budget: epsilon in micros.
        epochs: w, the length of the window; of a device's ledger, in UTC days.

    Raises:
        InvalidParameter: unless the budget is at least a micro and w is from 1 to a million.
    """

    budget: int
    epochs: int

    def __post_init__(self) -> None:
        _validate.integer("budget", "Window", self.budget, 1, 10**12)
        _validate.integer("epochs", "Window", self.epochs, 1, _LONGEST)

    @classmethod
    def of(cls, epsilon: object, epochs: object) -> Window:
        """Return the window of an epsilon as people write it, rounded down to micros.

        Raises:
            InvalidParameter: unless epsilon is a number from 0.000001 to a million, and `epochs` as
                above.
        """
        number = _validate.between("epsilon", "Window", epsilon, "0.000001", "1000000")
        length = _validate.integer("epochs", "Window", epochs, 1, _LONGEST)
        return cls(int(Decimal(repr(number)) * MICRO), length)

    @property
    def even(self) -> int:
        """The equal share of each epoch in micros, rounded down."""
        return self.budget // self.epochs

    def room(self, spent: Iterable[Span], first: int, last: int) -> int:
        """Return the micros that a report that belongs to first..last may still spend.

        Guarantees: if no more is spent, no window that touches one of these places exceeds the
        budget, also where later ones were used already (a clock that was wrong).

        Edge cases: 0 where some window is over its budget already.

        Cost: n log n in what was spent; what lies w or more away from first..last may be left out.
        """
        return max(0, self.budget - self._peak(spent, first - self.epochs + 1, last))

    def allowed(self, spent: Mapping[int, int], epoch: int) -> int:
        """Return the micros that an epoch may still spend, given what each epoch spent."""
        return self.room((Span(e, e, micros) for e, micros in spent.items()), epoch, epoch)

    def fullest(self, spent: Iterable[Span]) -> int:
        """Return the micros of the window that spent the most; 0 if nothing was spent."""
        spans = list(spent)
        if not spans:
            return 0
        first = min(span.first for span in spans) - self.epochs + 1
        return self._peak(spans, first, max(span.last for span in spans))

    def holds(self, spent: Mapping[int, int]) -> bool:
        """Tell whether every window of w epochs is within its budget."""
        return self.fullest(Span(e, e, micros) for e, micros in spent.items()) <= self.budget

    def _peak(self, spent: Iterable[Span], low: int, high: int) -> int:
        """Return the largest sum of a window that begins from `low` to `high`."""
        changes = defaultdict[int, int](int)
        for first, last, micros in spent:
            # Windows of w that touch first..last begin from first - w + 1 to last.
            enters, leaves = first - self.epochs + 1, last + 1
            if enters <= high and leaves > low:
                changes[max(enters, low)] += micros
                changes[leaves] -= micros
        total = most = 0
        for start in sorted(changes):
            if start > high:
                break
            total += changes[start]
            most = max(most, total)
        return most

    def variances(self, noise: Callable[[int], float], people: int) -> dict[str, float]:
        """Return the variance of a frequency in one epoch under both ways to spend.

        Args:
            noise: n Var of one report as a function of the micros that it may spend.
            people: who could report.

        Raises:
            InvalidParameter: if the window is longer than the budget has micros.
        """
        if self.even < 1:
            raise InvalidParameter(
                f"A budget of {self.budget} micros cannot be shared by {self.epochs} epochs.",
                "Raise the budget, or shorten the window.",
            )
        return {
            "every epoch": noise(self.even) / people,
            "one epoch in w": noise(self.budget) * self.epochs / people,
        }
