"""The sample size of an audit: devices that find an error of 5%, and the time they take.

Model: the information J of `probability_scores.py` grows in proportion to the devices. A pilot of a
few devices gives J per device for each probability. An error x is found 99 times in 100 from
J x^2 = (sqrt(2 ln(2/alpha)) + 2.33)^2 on, with alpha shared among the probabilities of a field
(Bonferroni). Where a probability belongs to a permanent stage, devices show their permanent
responses instead (`permanent.py`): to the answer with more information about it, or to both.

J depends on the number of outcomes, not on their results, so that looking at it first does not
change the level of a test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable.audit.sample.batches import Sampled
from deniable.audit.sample.permanent import has_permanent
from deniable.audit.sample.probability_scores import Error, deviations
from deniable.protocol import Question

ERROR = 0.05
"""The error of a probability, as a share of it, that the sample size is planned for."""
MARGIN = 1.02
"""The factor by which the sample exceeds the expected need."""
SIDED = 0.5
"""The least ratio of the two answers' information at which both are used."""
REPORTS = -1

Kind = tuple[int, int]
"""A kind of work: the place of the field whose permanent response devices show, or REPORTS; and the
answer that they hold, 0 or 1."""
Devices = Mapping[Kind, int]
"""The number of devices, by kind of work."""


@dataclass(frozen=True)
class Plan:
    """The sample size and time of the audit of one question.

    Attributes:
        question: its id.
        devices: their number, by kind of work.
        seconds: the time of all, about.
        limited: True if an error of 5% in some probability needs more devices than time allows.
    """

    question: str
    devices: Devices
    seconds: float
    limited: bool

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        shown = sum(count for (place, _), count in self.devices.items() if place != REPORTS)
        what = f"{self.devices[REPORTS, 0]:,} devices per answer"
        if shown:
            what += f" and {shown:,} permanent responses"
        enough = "as many as there is time for" if self.limited else "enough for errors of 5%"
        return f"{self.question}: {what}, {enough}; about {max(1, round(self.seconds)):,} s"


def kinds(question: Question, sampled: Sequence[Sampled]) -> list[Kind]:
    """Return all kinds of work for a question."""
    found = [(REPORTS, 0), (REPORTS, 1)]
    for place, (field, one) in enumerate(zip(question.fields, sampled, strict=True)):
        if has_permanent(field.parameters):
            found += [(place, s) for s in (0, 1) if one.pair[s].reported is not None]
    return found


def enough(sampled: Sequence[Sampled], done: Devices, alpha: float, least: int) -> dict[Kind, int]:
    """Return the number of devices that find an error of 5% in every probability of every field.

    Args:
        sampled: the reports so far.
        done: the number of devices so far, at least one of every kind.
        alpha: the false-alarm probability of a field.
        least: the fewest reports of each answer.
    """
    wanted = dict.fromkeys(done, 0)
    needs = [
        (place, error, MARGIN * (deviations(alpha / len(errors)) / ERROR) ** 2)
        for place, one in enumerate(sampled)
        for errors in (one.tally.errors(),)
        for error in errors.values()
    ]
    reports = least
    for _, error, need in needs:
        if not error.shown(0) + error.shown(1):
            reports = max(reports, math.ceil(done[REPORTS, 0] * need / error.information))
    wanted[REPORTS, 0] = wanted[REPORTS, 1] = reports
    for place, error, need in needs:
        for kind, count in _responses(place, error, need, done, reports).items():
            wanted[kind] = max(wanted[kind], count)
    return wanted


def _responses(
    place: int, error: Error, need: float, done: Devices, reports: int
) -> dict[Kind, int]:
    """Return the number of permanent responses needed beside `reports` reports of each answer."""
    each = {side: error.shown(side) / done.get((place, side), 1) for side in (0, 1)}
    most = max(each.values())
    if not most:
        return {}
    in_reports = (error.information - error.shown(0) - error.shown(1)) / done[REPORTS, 0]
    missing = max(0.0, need - in_reports * reports)
    asked = [side for side, rate in each.items() if rate >= SIDED * most]
    count = math.ceil(missing / sum(each[side] for side in asked))
    return {(place, side): count for side in asked}


def within(devices: Devices, seconds: Mapping[Kind, float], limit: float) -> dict[Kind, int]:
    """Return the largest share of the devices that the time allows.

    Args:
        devices: the number needed.
        seconds: the time of one device, by kind of work.
        limit: the time of all together, in seconds.
    """
    total = time_of(devices, seconds)
    share = min(1.0, limit / total) if total else 1.0
    return {kind: math.ceil(count * share) for kind, count in devices.items()}


def time_of(devices: Devices, seconds: Mapping[Kind, float]) -> float:
    """Return the seconds that all devices take together."""
    return math.fsum(count * seconds[kind] for kind, count in devices.items())
