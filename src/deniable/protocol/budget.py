"""The budget of a survey: its cost to a device, the ceiling, and the questions left out.

Every device draws an order of the survey's questions from its secret and sets aside, in that order,
what one unchanged value of each costs (`client/reservation.py`, `spec/protocol.md`, section Time).
A question that does not fit into what is left is left out; a cheaper one after it may still fit.

Model: all n! orders are equally likely, and the device has spent nothing yet. Questions of equal
cost are alike, so that a state of the walk is the number of questions seen of each cost and the sum
set aside; the share of orders that reach a state follows from the states before it. With few
different costs that is exact for a thousand questions. Where there are too many states, orders are
drawn instead, and the budget says so.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from deniable._words import epsilon_text
from deniable.protocol.composition import DEFAULT_CEILING, each_epoch_costs, first_cost
from deniable.protocol.epochs import day_of
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen
from deniable.protocol.question import Question
from deniable.protocol.survey import Survey

MOST_STATES = 50_000
_DRAWN_STEPS = 1_000_000
LEAST_ORDERS, MOST_ORDERS = 1_000, 20_000
_SEED = 0


@frozen
class BudgetLine:
    """A question's line of the budget.

    Attributes:
        question: its id. version: the newest.
        micros: the cost of one unchanged value; 0 if the question has expired.
        each_epoch: whether later epochs of the same value cost again.
        expired: whether nobody is asked any more; it takes nothing then.
        sum: micros of this line and those above it.
        left_out: the share of devices that never answer it.
    """

    question: str
    version: int
    micros: int
    each_epoch: bool
    expired: bool
    sum: int
    left_out: float

    def as_json(self) -> dict[str, object]:
        """Return the line as `deniable explain --json` prints it."""
        return {
            "question": self.question,
            "version": self.version,
            "epsilon": self.micros / MICRO,
            "each_epoch": self.each_epoch,
            "expired": self.expired,
            "sum": self.sum / MICRO,
            "left_out": self.left_out,
        }


@frozen
class Budget:
    """The cost of one unchanged value of every question to a device, and the device's ceiling.

    Attributes:
        lines: one per question, in the order of the survey.
        ceiling: in micros. declared: whether the survey names it; else it is the default.
        drawn: the number of drawn orders that the shares come from; 0 where they are exact.
    """

    lines: tuple[BudgetLine, ...]
    ceiling: int
    declared: bool
    drawn: int = 0

    @property
    def micros(self) -> int:
        """The sum over all questions."""
        return sum(line.micros for line in self.lines)

    @property
    def fits(self) -> bool:
        """True if every device can answer every question at least once."""
        return self.micros <= self.ceiling

    @property
    def left_out(self) -> float:
        """The expected number of questions that a device leaves out."""
        return math.fsum(line.left_out for line in self.lines)

    @property
    def open(self) -> int:
        """The number of questions that have not expired."""
        return sum(not line.expired for line in self.lines)

    @property
    def never(self) -> tuple[str, ...]:
        """The questions that cost more than the ceiling: no device answers them."""
        return tuple(line.question for line in self.lines if line.micros > self.ceiling)

    def words(self) -> str:
        """Return a sentence with the sum, the ceiling, and the questions that devices leave out."""
        whose = "the survey's ceiling" if self.declared else "the default ceiling"
        start = (
            "One unchanged value of every question costs a device epsilon "
            f"{epsilon_text(self.micros / MICRO)} "
            f"in all; it discloses at most {epsilon_text(self.ceiling / MICRO)} in its life "
            f"({whose}, unless "
            "the app sets another)"
        )
        if self.fits:
            return f"{start}. Every device can answer every question."
        how = f" (from {self.drawn:,} drawn orders)" if self.drawn else ""
        never = f" Nobody answers {', '.join(self.never)}." if self.never else ""
        return (
            f"{start}: an average device leaves out {self.left_out:.1f} of {self.open} "
            f"questions{how}, other ones on each device.{never}"
        )

    def as_json(self) -> dict[str, object]:
        """Return the budget as `deniable explain --json` prints it."""
        return {
            "epsilon": self.micros / MICRO,
            "ceiling": self.ceiling / MICRO,
            "ceiling_of": "survey" if self.declared else "default",
            "fits": self.fits,
            "left_out": self.left_out,
            "drawn_orders": self.drawn,
            "questions": [line.as_json() for line in self.lines],
        }


def budget_of(survey: Survey, today: int, ceiling: int | None = None) -> Budget:
    """Return the budget of a survey.

    Args:
        survey: its newest versions count; earlier ones set nothing aside.
        today: the number of the UTC day; questions that expired before it cost nothing.
        ceiling: in micros; by default the survey's own, else `DEFAULT_CEILING`.

    Cost: see `left_out_shares`.
    """
    limit = ceiling or survey.ceiling or DEFAULT_CEILING
    # The level that costs the most, and a device that every question asks: nobody spends more.
    asked = survey.costliest().asked
    costs = [0 if _expired(question, today) else first_cost(question) for question in asked]
    paying = [cost for cost in costs if cost]
    shares, drawn = left_out_shares(paying, limit)
    lines, total = [], 0
    for question, cost in zip(asked, costs, strict=True):
        total += cost
        lines.append(
            BudgetLine(
                question=question.id,
                version=question.version,
                micros=cost,
                each_epoch=each_epoch_costs(question),
                expired=_expired(question, today),
                sum=total,
                left_out=float(shares[cost]) if cost else 0.0,
            )
        )
    declared = ceiling is None and survey.ceiling is not None
    return Budget(tuple(lines), limit, declared, drawn)


def left_out_shares(costs: Sequence[int], room: int) -> tuple[dict[int, Fraction], int]:
    """Return the share of orders in which a question of each cost is left out.

    Returns:
        The shares by cost, and the number of drawn orders that they come from; 0 if exact.

    Cost: exact, the number of states times that of different costs, at most `MOST_STATES` states;
        else some `DRAWN_STEPS` steps of walks, always the same ones.
    """
    if sum(costs) <= room:
        return dict.fromkeys(costs, Fraction(0)), 0
    exact = _walked(Counter(costs), room)
    if exact is not None:
        return exact, 0
    orders = max(LEAST_ORDERS, min(MOST_ORDERS, _DRAWN_STEPS // len(costs)))
    return _drawn(costs, room, orders), orders


def _walked(numbers: Counter[int], room: int) -> dict[int, Fraction] | None:
    """Walk all orders at once; None if there are too many states.

    ways[state] is the number of beginnings of orders that end in the state. A state is how many
    questions of each cost were seen, and the sum set aside.
    """
    if math.prod(number + 1 for number in numbers.values()) > MOST_STATES:
        return None  # every combination of numbers seen is at least one state
    kinds, places = sorted(numbers), sum(numbers.values())
    out = dict.fromkeys(kinds, 0)
    ways: dict[tuple[tuple[int, ...], int], int] = {((0,) * len(kinds), 0): 1}
    states = 0
    for left in range(places - 1, -1, -1):
        following: defaultdict[tuple[tuple[int, ...], int], int] = defaultdict(int)
        completions = math.factorial(left)
        for (counts, taken), number in ways.items():
            for i, cost in enumerate(kinds):
                # Any of the questions of this cost that were not seen yet comes next.
                part = number * (numbers[cost] - counts[i])
                if not part:
                    continue
                fits = taken + cost <= room
                if not fits:
                    out[cost] += part * completions
                after = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                following[after, taken + cost if fits else taken] += part
            if states + len(following) > MOST_STATES:
                return None
        states += len(following)
        ways = following
    total = math.factorial(places)
    return {cost: Fraction(out[cost], total * numbers[cost]) for cost in kinds}


def _drawn(costs: Sequence[int], room: int, orders: int) -> dict[int, Fraction]:
    """Return the shares of drawn orders, within about 1 / sqrt(orders) of the true ones."""
    import random  # here: the client needs nothing of it, and it costs every start some time

    rng = random.Random(_SEED)  # noqa: S311 - an imagined crowd, no device's secret
    order, numbers, least = list(costs), Counter(costs), min(costs)
    fitting = Counter[int]()
    for _ in range(orders):
        left = room
        for place in range(len(order)):
            if left < least:
                break  # nothing after it fits: the rest of the order need not be drawn
            other = rng.randrange(place, len(order))
            order[place], order[other] = order[other], order[place]
            if order[place] <= left:
                left -= order[place]
                fitting[order[place]] += 1
    return {cost: 1 - Fraction(fitting[cost], orders * numbers[cost]) for cost in numbers}


def _expired(question: Question, today: int) -> bool:
    return day_of(question.expires) < today
