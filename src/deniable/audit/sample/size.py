"""How many devices must report so that an error of 5% is found, and how long that takes.

Model: the information J of `probabilities.py` grows in proportion to the devices. A few of them
report first. From what they say about each probability, J per device, an error x is found 99 times
in 100 from J x^2 = (sqrt(2 ln(2/alpha)) + 2.33)^2 on, alpha shared among the probabilities of a
field (Bonferroni). Where a probability belongs to a permanent stage, devices show their permanent
responses instead (`permanent.py`): to the answer that tells more about it, or to both.

J depends on how often outcomes could happen, not on whether they did, so that looking at it first
does not change the level of a test.
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
"""The error of a probability, as a share of it, for which there are enough devices."""
MARGIN = 1.02
"""So many times more devices than are expected to be enough."""
SIDED = 0.5
"""From this ratio of what two answers tell on, both are asked."""
REPORTS = -1

Kind = tuple[int, int]
"""What devices do: the place of the field whose permanent response they show, or REPORTS; and which
of the two answers they hold."""
Devices = Mapping[Kind, int]
"""How many devices do what."""


@dataclass(frozen=True)
class Plan:
    """What an audit of one question is going to do.

    Attributes:
        question: its id.
        devices: how many do what.
        seconds: about how long that takes.
        limited: whether an error of 5% in some probability needs more than there is time for.
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
    """Return all that devices can do for a question."""
    found = [(REPORTS, 0), (REPORTS, 1)]
    for place, (field, one) in enumerate(zip(question.fields, sampled, strict=True)):
        if has_permanent(field.parameters):
            found += [(place, s) for s in (0, 1) if one.pair[s].reported is not None]
    return found


def enough(sampled: Sequence[Sampled], done: Devices, alpha: float, least: int) -> dict[Kind, int]:
    """Return how many devices an error of 5% needs, in every probability of every field.

    Args:
        sampled: what those have said who have reported.
        done: how many they are, at least one of every kind.
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
    """Return how many permanent responses are needed beside so many reports."""
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
    """Return as large a share of the devices as there is time for.

    Args:
        devices: how many are wanted.
        seconds: that each takes, by what it does.
        limit: of all together, in seconds.
    """
    total = time_of(devices, seconds)
    share = min(1.0, limit / total) if total else 1.0
    return {kind: math.ceil(count * share) for kind, count in devices.items()}


def time_of(devices: Devices, seconds: Mapping[Kind, float]) -> float:
    """Return how long so many devices take."""
    return math.fsum(count * seconds[kind] for kind, count in devices.items())
