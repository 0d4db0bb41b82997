"""Reports of the shipped encoder, made batch by batch, and their counts.

A `Task` is a number of devices and one of two answers. `perform` lets them report, in this process
or in another, and its results are added up in one `Sampled` per field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import numpy as np

from deniable.audit.reading import Report, reports_of
from deniable.audit.sample.answer_pairs import Asked, scores, worst_pair
from deniable.audit.sample.permanent import LettingThrough
from deniable.audit.sample.probability_scores import Tally
from deniable.client.encode import encode_answers, encode_field
from deniable.client.randomness import SystemDraws
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Question
from deniable.protocol.prf import SECRET_BYTES

KEPT = 25_000
"""The number of reports of each answer that are kept whole, and compared cell by cell."""
SCORED = 1_000_000
"""The number of reports of each answer that are scored for the lower bound on epsilon, about."""


@dataclass(frozen=True)
class Task:
    """The work of one batch.

    Attributes:
        question: whose encoder runs.
        side: 0 or 1, for the first or the second of the two answers.
        devices: their number; each has a secret of its own.
        keep: the number of reports that are kept whole.
        score: True if reports are scored.
        permanent: the place of the field whose permanent response is looked at; None for reports.
    """

    question: Question
    side: int
    devices: int
    keep: int = 0
    score: bool = False
    permanent: int | None = None


@dataclass
class Sampled:
    """The reports of one field so far: some of them whole, and the counts of all.

    Attributes:
        field: of the question.
        pair: two answers.
        kept: the first reports of each answer.
        scored: scores of reports of each answer, in batches.
        tally: outcomes of all reports.
    """

    field: Field
    pair: tuple[Asked, Asked]
    kept: tuple[list[Report], list[Report]] = dataclass_field(default_factory=lambda: ([], []))
    scored: tuple[list[Floats], list[Floats]] = dataclass_field(default_factory=lambda: ([], []))
    tally: Tally = dataclass_field(init=False)

    def __post_init__(self) -> None:
        self.tally = Tally(self.field.parameters)

    def add(self, side: int, sent: Sequence[bytes], keep: int = KEPT, score: bool = True) -> None:
        """Count reports of one of the two answers."""
        reports = reports_of(self.field.parameters, sent)
        self.kept[side].extend(reports[: max(0, keep - len(self.kept[side]))])
        if score:
            self.scored[side].append(scores(self.field, self.pair, reports))
        reported = self.pair[side].reported
        if reported is not None:
            self.tally.add(reported, reports)

    def add_permanent(self, side: int, sent: Sequence[bytes]) -> None:
        """Count permanent responses to one of the two answers."""
        reported = self.pair[side].reported
        if reported is not None:
            reports = reports_of(self.field.parameters, sent)
            self.tally.add_permanent(side, reported, reports)

    def merge(self, other: Sampled) -> None:
        """Add other reports of the same field."""
        for side in (0, 1):
            self.kept[side].extend(other.kept[side])
            self.scored[side].extend(other.scored[side])
        self.tally.merge(other.tally)

    def scores_of(self, side: int) -> Floats:
        """Return the scores of one answer's reports."""
        return np.concatenate(self.scored[side])


def perform(task: Task, draws: SystemDraws | None = None) -> list[tuple[int, Sampled]]:
    """Let the devices of a task report; return the reports of each field, by its place.

    Args:
        task: the work of this batch.
        draws: the source of fresh coins and secrets; by default the operating system.
    """
    draws, fields = draws or SystemDraws(), task.question.fields
    secrets = (draws.token(SECRET_BYTES) for _ in range(task.devices))
    if task.permanent is not None:
        field = fields[task.permanent]
        seen, through = Sampled(field, worst_pair(field)), LettingThrough(field.parameters)
        answer = seen.pair[task.side].answer
        shown = [encode_field(task.question, field, answer, s, through) for s in secrets]
        seen.add_permanent(task.side, shown)
        return [(task.permanent, seen)]
    sampled = [Sampled(field, worst_pair(field)) for field in fields]
    answers = [one.pair[task.side].answer for one in sampled]
    sent = [
        task.question.split_record(encode_answers(task.question, answers, secret, draws))
        for secret in secrets
    ]
    for place, one in enumerate(sampled):
        one.add(task.side, [record[place] for record in sent], task.keep, task.score)
    return list(enumerate(sampled))
