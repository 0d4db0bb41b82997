"""q towards p: reports of a value that changes all the time, within one budget for ever.

[EPK14, section 6.1] advises to spend a small part of a budget on each report, so that q comes
closer to p with every one. Model: report number i = 1, 2, ... may spend

    epsilon_i = budget (1 - r) r^(i - 1),        sum over all i = budget,

and reports each of its bits with p where it is not set and with q_i where it is, such that

    h ln[ q_i (1 - p) / (p (1 - q_i)) ] <= epsilon_i.

Nothing is permanent: the values may differ in every report, and any number of reports together
spends less than the budget, by basic composition. The price: report i of n people has
n Var = p (1 - p) / (h (q_i - p)^2), which grows like r^(-2i). When epsilon_i has fallen below the
resolution of 64 bits, q_i is p and a report says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.thresholds import ONE, as_fraction, floor_threshold
from deniable.protocol.unary import worst_ratio

HALF = ONE // 2


@dataclass(frozen=True)
class Schedule:
    """A geometric schedule: the epsilon of each of a device's reports, and its thresholds.

    Attributes:
        budget: epsilon of all reports together, in micros.
        keep: r, the share of the remaining budget that each report leaves to the next; in (0, 1).
        zero: the threshold of p.
        hashes: h, the number of bits that an answer sets.

    Guarantees: `spent(n)` is at most the budget for every n.

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    budget: int
    keep: Fraction = Fraction(1, 2)
    zero: int = HALF
    hashes: int = 1

    def __post_init__(self) -> None:
        _validate.integer("budget", "Schedule", self.budget, 1, epsilon.LARGEST * epsilon.MICRO)
        _validate.integer("zero", "Schedule", self.zero, 1, ONE - 1)
        _validate.integer("hashes", "Schedule", self.hashes, 1, 64)
        if not 0 < self.keep < 1:
            raise InvalidParameter(
                f"The 'keep' parameter of Schedule must be above 0 and below 1. Got {self.keep}."
            )

    def epsilon(self, report: int) -> int:
        """Return the epsilon that report number 1, 2, ... may spend, in micros, rounded down."""
        number = _validate.integer("report", "Schedule", report, 1, 10**6)
        return math.floor(self.budget * (1 - self.keep) * self.keep ** (number - 1))

    def one(self, report: int) -> int:
        """Return the threshold of q for a report: the largest within its epsilon.

        Edge cases: the threshold of p itself, a report that says nothing, where the epsilon is
        too small for a difference.
        """
        # Each of the h bits may spend epsilon_i / h: solve the odds ratio for q_i, rounding down.
        each = self.epsilon(report) // self.hashes
        p = as_fraction(self.zero)
        odds = p / (1 - p) * epsilon.exp_micros(each)
        one = min(ONE - 1, max(self.zero, floor_threshold(odds / (1 + odds))))
        while one > self.zero and not epsilon.within(self._ratio(one), self.epsilon(report)):
            one -= 1
        return one

    def spent(self, reports: int) -> int:
        """Return the epsilon that the first `reports` reports spend, from thresholds, in micros."""
        numbers = range(1, _validate.integer("reports", "Schedule", reports, 0, 10**6) + 1)
        total = 0
        for number in numbers:
            one = self.one(number)
            if one == self.zero:
                break  # all later ones say nothing either
            total += epsilon.epsilon_of(self._ratio(one))
        return total

    def variance(self, report: int, people: int) -> float:
        """Return the variance of a rare answer's frequency, from one report of each of n people.

        `report` is the number of that report in the schedule, from 1.

        Edge cases: infinite where the report says nothing.
        """
        q, p = as_fraction(self.one(report)), as_fraction(self.zero)
        if q == p:
            return math.inf
        return float(p * (1 - p) / (self.hashes * people * (q - p) ** 2))

    def useful(self, people: int, error: float) -> int:
        """Return the number of reports with at most this standard error, sent by n people."""
        wanted = _validate.positive("error", "Schedule", error) ** 2
        number = 0
        while self.variance(number + 1, people) <= wanted:
            number += 1
        return number

    def _ratio(self, one: int) -> Fraction:
        return worst_ratio(as_fraction(one), as_fraction(self.zero), self.hashes, self.hashes)
