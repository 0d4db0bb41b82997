"""The shipped encoder as a black box: many reports of two answers, tested against its promises.

    answers -> encode, each trial another device -> records -> a lower bound on epsilon
                                                            -> a test against the exact channel
                                                            -> the error of each probability

Three looks: a lower bound on epsilon (`epsilon_bound.py`), cells against their exact chances
(`channel_checks.py`), and each
probability by itself (`probability_scores.py`). The number of devices is planned first (`size.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deniable.audit.findings import ALPHA, Audit, Finding
from deniable.audit.sample.answer_pairs import worst_pair
from deniable.audit.sample.batches import KEPT, SCORED, Sampled, Task
from deniable.audit.sample.findings import REPEATS, bound, fit, permanence, probabilities, repeated
from deniable.audit.sample.size import REPORTS, Devices, Kind, Plan, enough, kinds, time_of, within
from deniable.audit.sample.workers import Workers, workers
from deniable.client.randomness import SystemDraws
from deniable.protocol import Question, Survey

LIMIT = 300.0
"""Seconds that a question may take, about, where the number of devices is not given."""
PILOT = 500
"""The number of devices of every kind in a pilot run, which measures information and time."""
BATCH = 5_000
WORTH_IT = 10.0
"""The seconds of work above which other processes are started."""

Progress = Callable[[str, int, int], None]
"""Called with a question's id, the number of encoder runs done for it, and the number planned."""
Announce = Callable[[Sequence[Plan]], None]
"""Called with the plans of all questions, before most of the work."""


def audit_sample(
    survey: Survey,
    *,
    trials: int | None = None,
    alpha: float = ALPHA,
    draws: SystemDraws | None = None,
    least: int = KEPT,
    limit: float = LIMIT,
    processes: int = 1,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Audit:
    """Run the client's encoder on two answers to every question, and test its reports.

    Guarantees: a correct encoder fails a finding with probability at most `alpha`.

    Accuracy: enough devices report to find an error of 5% in any threshold 99 times in 100; a
    threshold that decides an outcome of probability p needs about 25,000 (1 - p)/p such outcomes.
    The time limit may allow fewer. The finding names the smallest error that would be found.

    Cost: an encoding per device; where something is permanent, some more.

    Args:
        survey: whose questions are asked.
        trials: reports per answer, and permanent responses per answer, each from another device; by
            default planned, as above.
        alpha: the false-alarm probability of each finding.
        draws: the source of this process's fresh coins and secrets; by default the operating
            system.
        least: the fewest devices per answer where `trials` is None.
        limit: the seconds that a question may take, about, where `trials` is None.
        processes: the number that work at the same time; others draw from the operating system.
        progress: called after every batch of devices.
        announce: called once with the plans of all questions.
    """
    source = draws or SystemDraws()
    here = Workers(None, 1, source)
    parts = [Part.of(question, alpha, least) for question in survey.questions]
    for part in parts:
        part.prepare(here, trials, limit * processes)
    if announce is not None:
        announce([part.plan(processes) for part in parts])
    busy = sum(part.plan(1).seconds for part in parts) > WORTH_IT
    with workers(processes if busy else 1, source) as those:
        for part in parts:
            part.work(those, progress)
    findings = [finding for part in parts for finding in part.findings(source)]
    devices = [part.done[REPORTS, 0] for part in parts]
    shown = max((max(part.shown, default=0) for part in parts), default=0)
    return Audit("sample", tuple(findings), (_note(devices, shown, alpha),))


@dataclass
class Part:
    """The audit of one question.

    Attributes:
        question: under audit.
        sampled: the reports of each field.
        alpha: the false-alarm probability of each finding.
        least: the fewest devices per answer.
        done: the number of devices so far, by kind of work.
        wanted: the number of devices needed.
        most: the number of devices that the time allows.
        seconds: the time of one device.
    """

    question: Question
    sampled: list[Sampled]
    alpha: float
    least: int
    done: dict[Kind, int]
    wanted: dict[Kind, int]
    most: dict[Kind, int]
    seconds: dict[Kind, float]

    @classmethod
    def of(cls, question: Question, alpha: float, least: int) -> Part:
        """Return a part with no work done yet."""
        sampled = [Sampled(field, worst_pair(field)) for field in question.fields]
        none = dict.fromkeys(kinds(question, sampled), 0)
        return cls(question, sampled, alpha, least, none, dict(none), dict(none), {})

    @property
    def shown(self) -> list[int]:
        """The numbers of permanent responses seen, by field and answer."""
        return [count for (place, _), count in self.done.items() if place != REPORTS]

    @property
    def limited(self) -> bool:
        """True if the time allows fewer devices than are needed."""
        return any(self.most[kind] < count for kind, count in self.wanted.items())

    def prepare(self, here: Workers, trials: int | None, limit: float) -> None:
        """Run a pilot of a few devices, and plan the number of devices from its result."""
        first = min(PILOT, trials or self.least)
        for kind in self.done:
            start = time.perf_counter()
            self._perform(here, {kind: first}, None)
            self.seconds[kind] = (time.perf_counter() - start) / first
        if trials is not None:
            self.wanted = self.most = dict.fromkeys(self.done, trials)
            return
        self.wanted = enough(self.sampled, self.done, self.alpha, self.least)
        self.most = within(self.wanted, self.seconds, limit)

    def plan(self, processes: int) -> Plan:
        """Return the plan: devices, time, and if the time limits them."""
        again = repeated(self.question, self.most[REPORTS, 0]) * REPEATS
        seconds = time_of(self.most, self.seconds) / processes + again * self.seconds[REPORTS, 0]
        return Plan(self.question.title, self.most, seconds, self.limited)

    def work(self, those: Workers, progress: Progress | None) -> None:
        """Let all devices report that are needed and that the time allows.

        The plan from the pilot can be a little low: then some more report.
        """
        limited = self.limited
        while missing := {k: n - self.done[k] for k, n in self.most.items() if n > self.done[k]}:
            self._perform(those, missing, progress)
            if limited or self.most is self.wanted:
                return
            self.most = enough(self.sampled, self.done, self.alpha, self.least)

    def _perform(self, those: Workers, missing: Devices, progress: Progress | None) -> None:
        tasks = [task for kind, count in missing.items() for task in self._tasks(kind, count)]
        for task, seen in those.each(tasks):
            for place, one in seen:
                self.sampled[place].merge(one)
            self.done[REPORTS if task.permanent is None else task.permanent, task.side] += (
                task.devices
            )
            if progress is not None:
                done = sum(self.done.values())
                progress(self.question.title, done, max(done, sum(self.most.values())))

    def _tasks(self, kind: Kind, count: int) -> list[Task]:
        place, side = kind
        start, tasks = self.done[kind], []
        for first in range(start, start + count, BATCH):
            size = min(BATCH, start + count - first)
            if place == REPORTS:
                keep, score = min(size, max(0, KEPT - first)), first < SCORED
                tasks.append(Task(self.question, side, size, keep, score))
            else:
                tasks.append(Task(self.question, side, size, permanent=place))
        return tasks

    def findings(self, draws: SystemDraws) -> list[Finding]:
        """Return the findings about all reports."""
        found: list[Finding] = []
        for field, one in zip(self.question.fields, self.sampled, strict=True):
            name = self.question.title
            about = name if self.question.plain else f"{name}.{field.name}"
            found += [
                bound(about, field, one.scores_of(0), one.scores_of(1), self.alpha),
                fit(about, field, one.pair, one.kept, self.alpha),
                probabilities(about, one.tally, self.alpha),
            ]
        pairs = [one.pair for one in self.sampled]
        return found + permanence(self.question, pairs, self.done[REPORTS, 0], draws, self.alpha)


def _note(devices: Sequence[int], shown: int, alpha: float) -> str:
    fewest, most = min(devices, default=0), max(devices, default=0)
    how = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    also = f" (and up to {shown:,} permanent responses to an answer)" if shown else ""
    return (
        f"{how} devices per answer{also}, each with a secret of its own; a correct encoder fails a "
        f"finding with probability {alpha:.0e} at most, and an error that is said to be found is "
        "found 99 times in 100."
    )
