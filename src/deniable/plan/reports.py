"""Reports of a changing value within one budget for ever: the error of each report of a schedule.

Model (`privacy/over_time/schedules.py`, [EPK14, section 6.1]): report number i spends a share of
the remaining budget, so that q comes closer to p with every report. A report is useful while its
detection limit is at most a half; or, where an error is wanted, while a rare share has that error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable import _validate
from deniable.decode.reading import critical
from deniable.errors import InvalidParameter
from deniable.plan.collection import Setting
from deniable.plan.plan import NOTHING
from deniable.plan.prediction import Z
from deniable.privacy.over_time.schedules import Schedule
from deniable.protocol import Profile
from deniable.protocol.epsilon import as_float, wanted
from deniable.protocol.thresholds import as_fraction

MOST = 1_000


@dataclass(frozen=True)
class Row:
    """One report of the schedule.

    Attributes:
        number: 1, 2, ...
        epsilon: of this report, at most.
        q: the probability of a 1 where a bit is set.
        error: standard deviation of a rare answer's share; infinite where the report says nothing.
        useful: True if the report is worth sending.
    """

    number: int
    epsilon: float
    q: float
    error: float
    useful: bool


@dataclass(frozen=True)
class ReportsPlan:
    """The first reports of a schedule.

    Attributes:
        setting: people, answers, and as its epsilon the budget of all reports for ever.
        schedule: with its share r that every report leaves to the next ones.
        error: the wanted one, half the width of a 95% interval; None if none was asked for.
        rows: one per report.
        useful: the number of useful reports, also beyond the rows.
        spent: the epsilon that the reports of the rows spend, from their thresholds.
    """

    setting: Setting
    schedule: Schedule
    error: float | None
    rows: tuple[Row, ...]
    useful: int
    spent: float


def plan_reports(
    setting: Setting, reports: int, keep: float = 0.5, error: float | None = None
) -> ReportsPlan:
    """Predict the error of each of the first reports of a schedule.

    Args:
        setting: its epsilon is the budget of all reports for ever; a closed domain, no permanent
            response.
        reports: the number of rows, 1 to 1,000.
        keep: r, above 0 and below 1.
        error: a report is useful while a rare share is known to within plus or minus this, 95
            times in 100; without it, while anything can be seen.

    Raises:
        InvalidParameter: if a number is out of range, or the answers have no bit each.
    """
    if setting.forever is not None:
        raise InvalidParameter(
            "A schedule is for reports without a permanent response.", "Leave --forever out."
        )
    if not setting.answers or isinstance(setting.domain, Profile):
        raise InvalidParameter(
            "A schedule has a bit per answer, and needs answers that can be listed.",
            "Use --yes-no, --categories or --numbers.",
        )
    reports = _validate.integer("reports", "plan", reports, 1, MOST)
    share = Fraction(repr(_validate.between("keep", "plan", keep, "0.001", "0.999")))
    schedule = Schedule(wanted("epsilon", "plan", setting.epsilon), share)
    if error is None:
        limit = NOTHING / critical(setting.tests)
    else:
        limit = _validate.positive("error", "plan", error) / Z
    useful = schedule.useful(setting.people, limit)
    rows = tuple(_row(schedule, number, setting, useful) for number in range(1, reports + 1))
    return ReportsPlan(setting, schedule, error, rows, useful, as_float(schedule.spent(reports)))


def _row(schedule: Schedule, number: int, setting: Setting, useful: int) -> Row:
    return Row(
        number,
        as_float(schedule.epsilon(number)),
        float(as_fraction(schedule.one(number))),
        math.sqrt(schedule.variance(number, setting.people)),
        number <= useful,
    )
