"""Epsilons added up: over fields, reports, distinct values, versions and questions.

Basic composition: if two records are drawn independently given the answers, the ratio of their
joint probabilities is at most the product of their ratios, so that epsilons add [DR14, theorem
3.16]; a permanent response is one record, however often it is reported. The client's ledger, the
planner and the page for the public all add up by the functions of this file, and find by it which
questions fit into the ceiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deniable import _validate
from deniable.protocol.epsilon import MICRO
from deniable.protocol.question import Field, Question

_MOST = 10**12

DEFAULT_CEILING = 16 * MICRO
"""The default ceiling: the most micros that a device discloses in its life.

The app or its survey may set another. About four permanent responses of epsilon 4, over all
questions together.
"""


class Cost(NamedTuple):
    """The cost of a field.

    Attributes:
        micros: epsilon in millionths.
        per_value: whether it is paid once for every distinct value, else for every report.
    """

    micros: int
    per_value: bool


def field_cost(question: Question, field: Field) -> Cost:
    """Return the cost of a field of a question, and whether values or reports pay it.

    A question that is answered once pays for its one report. Where every report of a value is the
    same, each distinct value costs the epsilon of one report; with a permanent response, that of
    the permanent response; without one, every report costs its own.
    """
    parameters = field.parameters
    if question.repeat == "permanent":
        return Cost(parameters.epsilon_once, True)
    if question.repeat == "once" or parameters.epsilon_forever is None:
        return Cost(parameters.epsilon_once, False)
    return Cost(parameters.epsilon_forever, True)


def report_cost(question: Question, new: Iterable[bool]) -> int:
    """Return the micros of one report.

    Args:
        question: the question that is answered.
        new: for each field, whether its value was never reported before.
    """
    return cost_of([field_cost(question, field) for field in question.fields], new)


def cost_of(costs: Sequence[Cost], new: Iterable[bool]) -> int:
    """Return the micros of one report, given what each field costs and whether its value is new."""
    return sum(
        [cost.micros for cost, first in zip(costs, new, strict=True) if first or not cost.per_value]
    )


def device_cost(question: Question, reports: int, values: int = 1, versions: int = 1) -> int:
    """Return the most that one device discloses about a question, in micros.

    Args:
        question: the question.
        reports: the number of reports that the device makes under each version.
        values: the number of distinct values of each field among them (the absent answer is one);
            at most `reports` count.
        versions: the number of versions of the question that are asked.

    Edge cases: a question that is answered once has one report per version, whatever is said.

    Raises:
        InvalidParameter: unless all three are integers from 1 to 10^12.
    """
    reports = _validate.integer("reports", "device_cost", reports, 1, _MOST)
    values = _validate.integer("values", "device_cost", values, 1, _MOST)
    versions = _validate.integer("versions", "device_cost", versions, 1, _MOST)
    if question.repeat == "once":
        reports = 1
    distinct = min(values, reports)
    costs = (field_cost(question, field) for field in question.fields)
    return versions * sum(c.micros * (distinct if c.per_value else reports) for c in costs)


def reports_within(question: Question, days: int) -> int:
    """Return the most reports that a device makes within `days` consecutive days.

    d days touch at most 1 + ceil((d - 1) / epoch) epochs.

    Raises:
        InvalidParameter: unless `days` is an integer from 1 to 10^12.
    """
    days = _validate.integer("days", "reports_within", days, 1, _MOST)
    return 1 if question.repeat == "once" else 1 - (1 - days) // question.epoch


def survey_cost(questions: Iterable[Question], days: int, values: int = 1) -> int:
    """Return the most micros that one device discloses within `days` days, over all questions.

    Sums over questions hold also where answers to them go together.

    Raises:
        InvalidParameter: as `device_cost` and `reports_within`.
    """
    return sum(
        device_cost(question, reports_within(question, days), values) for question in questions
    )


def first_cost(question: Question) -> int:
    """Return the cost of one unchanged value in micros; a device sets it aside for a question.

    It is the charge of the first report, every field being new: epsilon for ever where a permanent
    response is paid once, else the epsilon of one report. Where each epoch is charged, later
    epochs are not in it.
    """
    return report_cost(question, [True] * len(question.fields))


def each_epoch_costs(question: Question) -> bool:
    """Tell whether some field of an unchanged value is paid in every epoch again."""
    if question.repeat == "once":
        return False
    return not all(field_cost(question, field).per_value for field in question.fields)


def first_fit(costs: Iterable[int], room: int) -> list[bool]:
    """Tell for each cost, in their order, whether it fits into the room that is left there.

    Guarantees: once a fitting cost is paid (taken off the room and from the list), or a part of
    what is left in the end is spent, the same others fit: what fits does not depend on who pays
    first.
    """
    fits = []
    for cost in costs:
        fits.append(cost <= room)
        room -= cost if fits[-1] else 0
    return fits
