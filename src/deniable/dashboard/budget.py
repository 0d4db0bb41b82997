"""The budget page: what a survey can cost a device, against its ceiling."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.protocol import Survey
from deniable.protocol.budget import Budget, BudgetLine, budget_of
from deniable.protocol.composition import device_cost, reports_within
from deniable.protocol.epochs import day_number
from deniable.protocol.epsilon import MICRO

WINDOWS = {7: "a week", 30: "30 days", 365: "a year"}
"""Windows of days for which the cost is told, from a device's first report on."""


@dataclass(frozen=True)
class Line:
    """A question's line: its cost for one unchanged value within each window, in epsilon."""

    line: BudgetLine
    windows: tuple[float, ...]

    @property
    def epsilon(self) -> float:
        """The cost of the first report of one value."""
        return self.line.micros / MICRO


@dataclass(frozen=True)
class BudgetPage:
    """The budget of a survey on one day.

    Attributes:
        budget: as `protocol.budget` computes it, from the order that devices draw.
        lines: one per question, the costliest first.
        windows: the sum over all questions within each window.
    """

    budget: Budget
    lines: tuple[Line, ...]
    windows: tuple[float, ...]

    @classmethod
    def of(cls, survey: Survey, today: int | None = None) -> BudgetPage:
        """Return the budget page of a survey.

        Cost: that of `protocol.budget.left_out_shares`; whoever shows it keeps it for a day.
        """
        budget = budget_of(survey, day_number() if today is None else today)
        asked = {question.id: question for question in survey.costliest().asked}
        lines = []
        for line in budget.lines:
            question = asked[line.question]
            costs = (device_cost(question, reports_within(question, days)) for days in WINDOWS)
            windows = tuple(0.0 if line.expired else cost / MICRO for cost in costs)
            lines.append(Line(line, windows))
        lines.sort(key=lambda one: (-one.line.left_out, -one.line.micros))
        sums = (sum(one.windows[i] for one in lines) for i in range(len(WINDOWS)))
        return cls(budget, tuple(lines), tuple(sums))

    @property
    def ceiling(self) -> float:
        """The device's ceiling, in epsilon."""
        return self.budget.ceiling / MICRO

    @property
    def left_out(self) -> tuple[Line, ...]:
        """The questions that some devices leave out, most devices first."""
        return tuple(one for one in self.lines if one.line.left_out > 0)

    def as_json(self) -> dict[str, object]:
        """Return the page as JSON."""
        named = {one.line.question: one.windows for one in self.lines}
        told = self.budget.as_json()
        told["sentence"] = self.budget.words()
        told["windows"] = dict(zip(map(str, WINDOWS), self.windows, strict=True))
        told["question_windows"] = {
            name: dict(zip(map(str, WINDOWS), costs, strict=True)) for name, costs in named.items()
        }
        return told
