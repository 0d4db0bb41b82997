"""A budget per window of epochs: what a device may spend where values change all the time.

Model: w-event privacy [Kellaris, Papadopoulos, Xiao, Papadias, "Differentially private event
sequences over infinite streams", VLDB 2014], for one device: whatever happened to its values within
any w consecutive epochs is protected by the budget, because the epsilons of all reports of any such
window add up to at most the budget. Over a life the sum has no bound: that is the price of values
that never stop changing. A permanent response is better wherever values stay.

Two ways to spend it, for n people and n Var(epsilon) the variance of one report:

    every epoch, budget/w each:        Var = (n Var)(budget / w) / n
    one epoch in w, the whole budget:  Var = (n Var)(budget) w / n

Of small epsilons n Var grows like 1/epsilon^2, so that the first costs w^2 and the second w.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deniable import _validate
from deniable.errors import InvalidParameter

LONGEST = 10**6


@dataclass(frozen=True)
class Window:
    """A budget that no window of so many epochs may exceed.

    Attributes:
        budget: epsilon in micros.
        epochs: w, the length of the window.

    Raises:
        InvalidParameter: unless the budget is at least a micro and w is from 1 to a million.
    """

    budget: int
    epochs: int

    def __post_init__(self) -> None:
        _validate.integer("budget", "Window", self.budget, 1, 10**12)
        _validate.integer("epochs", "Window", self.epochs, 1, LONGEST)

    @property
    def even(self) -> int:
        """What every epoch may spend if all spend the same, in micros, rounded down."""
        return self.budget // self.epochs

    def allowed(self, spent: Mapping[int, int], epoch: int) -> int:
        """Return how many micros may still be spent in an epoch.

        Guarantees: if no more is spent, no window of w epochs that holds the epoch exceeds the
        budget, also where later epochs were used already (a clock that was wrong).

        Edge cases: 0 where some window is over its budget already.

        Cost: linear in w and in the epochs that were used.

        Args:
            spent: micros by epoch, all that were spent so far.
            epoch: the one to report in.
        """
        near = {e: micros for e, micros in spent.items() if abs(e - epoch) < self.epochs}
        first = epoch - self.epochs + 1
        total = sum(micros for e, micros in near.items() if first <= e <= epoch)
        most = total
        for start in range(first + 1, epoch + 1):
            total += near.get(start + self.epochs - 1, 0) - near.get(start - 1, 0)
            most = max(most, total)
        return max(0, self.budget - most)

    def holds(self, spent: Mapping[int, int]) -> bool:
        """Tell whether every window of w epochs is within its budget."""
        return all(self._sum_from(spent, start) <= self.budget for start in spent)

    def _sum_from(self, spent: Mapping[int, int], start: int) -> int:
        return sum(m for epoch, m in spent.items() if start <= epoch < start + self.epochs)

    def variances(self, noise: Callable[[int], float], people: int) -> dict[str, float]:
        """Return the variance of a frequency in one epoch under both ways to spend.

        Args:
            noise: n Var of one report that may spend so many micros.
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
