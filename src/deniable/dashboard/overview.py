"""The list of questions with their numbers of reports, and the health of collection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from deniable.protocol import Question, Survey
from deniable.protocol.epochs import date_of, day_number, day_of, epoch_of
from deniable.results.report_counts import reports_text
from deniable.results.table import Epochs
from deniable.store import Store, Tally
from deniable.store.base import ACCEPTED, DUPLICATE, SIMULATED
from deniable.store.versions import reports_by_version, unreadable_reports

SPARK_EPOCHS = 30
"""The number of epochs that are drawn beside a question, the newest ones."""


@dataclass(frozen=True)
class Health:
    """The fate of the reports that arrived, for one question or for all.

    `refused` holds the number of refusals by reason, the most frequent first; simulated reports
    are not among the accepted ones.
    """

    accepted: int
    duplicates: int
    refused: Mapping[str, int]
    simulated: int = 0

    @property
    def refusals(self) -> int:
        """The number of refused reports."""
        return sum(self.refused.values())


@dataclass(frozen=True)
class Summary:
    """One question in the list: its reports by epoch, and its health.

    `versions` holds the number of reports of every version that the survey asks or asked earlier;
    `withdrawn` says that no version is asked any more. `simulated` holds the number of
    simulated reports by epoch. Together with the number of reports, `stamps`, those of its batches,
    name what the store holds of it: where reports are deleted, a stamp is another. `pooled` holds
    the levels and versions that are shown together, the newest last, where there are several, and
    `levels` the names of all levels.
    """

    question: Question
    reports: Mapping[int, int]
    health: Health
    today: date
    versions: Mapping[int, int] = field(default_factory=dict)
    withdrawn: bool = False
    simulated: Mapping[int, int] = field(default_factory=dict)
    stamps: frozenset[int] = frozenset()
    pooled: tuple[Question, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[Question, ...]:
        """The levels and versions that are shown."""
        return self.pooled or (self.question,)

    @property
    def all_versions(self) -> bool:
        """True if several versions are shown together."""
        return len({question.version for question in self.asked}) > 1

    @property
    def all_levels(self) -> bool:
        """True if several levels are shown together."""
        return len({question.level for question in self.asked}) > 1

    @property
    def title(self) -> str:
        """The id, with the level where one alone is shown."""
        return f"{self.question.id} (all levels)" if self.all_levels else self.question.title

    @property
    def stamp(self) -> int:
        """A number that changes when reports were deleted, even if as many came back."""
        return sum(self.stamps)

    @property
    def address(self) -> str:
        """The query that leads to the level, empty where there is none."""
        return f"?level={self.question.level}" if self.question.level else ""

    @property
    def others(self) -> tuple[int, ...]:
        """The other versions of the question."""
        return tuple(version for version in self.versions if version != self.question.version)

    @property
    def elsewhere(self) -> tuple[tuple[int, int], ...]:
        """The other versions that have reports, with their number, the newest first."""
        return tuple((v, self.versions[v]) for v in reversed(self.others) if self.versions[v])

    @property
    def versions_reports(self) -> int:
        """The number of reports of all versions."""
        return sum(self.versions.values())

    @property
    def newest(self) -> bool:
        """True if no newer version is known."""
        return self.question.version == max(self.versions, default=self.question.version)

    @property
    def n(self) -> int:
        """The number of reports with the question's digest."""
        return sum(self.reports.values())

    def mark(self, epoch: int | None = None) -> str:
        """Return the number of simulated reports of all epochs or of one, in words.

        Edge cases: empty if none is simulated.
        """
        if epoch is None:
            return _mark(self.n, sum(self.simulated.values()))
        return _mark(self.reports.get(epoch, 0), self.simulated.get(epoch, 0))

    @property
    def epochs(self) -> Epochs | None:
        """The epochs from which there are reports."""
        if not self.reports:
            return None
        return Epochs(min(self.reports), max(self.reports), self.question.epoch)

    def epoch(self, number: int) -> Epochs:
        """Return one epoch of the question, with its days."""
        return Epochs(number, number, self.question.epoch)

    @property
    def last_day(self) -> date | None:
        """The last day that reports are about, never one in the future; None without reports."""
        epochs = self.epochs
        return None if epochs is None else min(epochs.last_day, self.today)

    @property
    def state(self) -> str:
        """Whether the question is asked: open, ended or withdrawn."""
        return "withdrawn" if self.withdrawn else "ended" if self.expired else "open"

    @property
    def silent(self) -> bool:
        """True if an open question got no report in this epoch or the one before, but earlier."""
        if not self.reports or self.state != "open":
            return False
        now = epoch_of(day_of(self.today), self.question.epoch)
        return max(self.reports) < now - 1

    @property
    def expired(self) -> bool:
        """True if the last day of collection is past."""
        return self.question.expires < self.today

    @property
    def spark(self) -> list[float]:
        """The reports of the newest epochs, the fullest being 1; empty unless there are two."""
        if len(self.reports) < 2:
            return []
        last = max(self.reports)
        first = max(min(self.reports), last - SPARK_EPOCHS + 1)
        most = max(self.reports.values())
        return [self.reports.get(epoch, 0) / most for epoch in range(first, last + 1)]


@dataclass(frozen=True)
class Overview:
    """Everything the list of questions and the health page show.

    `unreadable` holds the number of reports by question and version, of those that the survey does
    not know.
    """

    survey: Survey
    questions: tuple[Summary, ...]
    health: Health
    unknown: Health
    unreadable: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of reports to all questions."""
        return sum(summary.n for summary in self.questions)

    @property
    def mark(self) -> str:
        """The number of simulated reports to all questions, in words; empty if there are none."""
        return _mark(self.n, sum(sum(each.simulated.values()) for each in self.questions))


def overview(store: Store, survey: Survey) -> Overview:
    """Read the numbers of all questions, each in its newest version, withdrawn ones last.

    Cost: one line per batch and counter; no report is read.

    Raises:
        StoreError: if the store cannot be read.
    """
    tallies, counters = store.tallies(), store.counters()
    asked = {question.id for question in survey.asked}
    gone = {q.id: q for q in survey.earlier if q.id not in asked}
    batches: defaultdict[str, list[Tally]] = defaultdict(list)
    reasons: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for tally in tallies:
        batches[tally.batch.question].append(tally)
    for (name, reason), count in counters.items():
        reasons[name][name, reason] = count
    shown = (
        _summary(survey, [q], batches[q.id], reasons[q.id]) for q in (*survey.asked, *gone.values())
    )
    return Overview(
        survey,
        tuple(summary for summary in shown if not summary.withdrawn or summary.versions_reports),
        _health(counters.items()),
        _health(reasons[""].items()),
        unreadable_reports(tallies, survey),
    )


def summary_of(store: Store, survey: Survey, asked: Sequence[Question]) -> Summary:
    """Read the numbers of one question: of one level and version, or of several together."""
    return _summary(survey, asked, store.tallies(), store.counters())


def _summary(
    survey: Survey,
    asked: Sequence[Question],
    tallies: Sequence[Tally],
    counters: Mapping[tuple[str, str], int],
) -> Summary:
    reports: Counter[int] = Counter()
    simulated: Counter[int] = Counter()
    stamps, digests = set(), {one.digest for one in asked}
    question = asked[-1]
    for tally in tallies:
        if tally.batch.digest in digests:
            reports[tally.batch.epoch] += tally.reports
            if tally.batch.simulated:
                simulated[tally.batch.epoch] += tally.reports
            stamps.add(tally.stamp)
    return Summary(
        question=question,
        reports=dict(sorted(reports.items())),
        health=_health(item for item in counters.items() if item[0][0] == question.id),
        today=date_of(day_number()),
        versions=reports_by_version(tallies, survey, question.id),
        withdrawn=all(q.id != question.id for q in survey.questions),
        simulated=simulated,
        stamps=frozenset(stamps),
        pooled=tuple(asked) if len(asked) > 1 else (),
        levels=tuple(one.level for one in survey.levels(question) if one.level),
    )


def _mark(n: int, simulated: int) -> str:
    return reports_text(n, simulated) if simulated else ""


def _health(counters: Iterable[tuple[tuple[str, str], int]]) -> Health:
    totals: Counter[str] = Counter()
    for (_, reason), count in counters:
        totals[reason] += count
    accepted, duplicates = totals.pop(ACCEPTED, 0), totals.pop(DUPLICATE, 0)
    simulated = totals.pop(SIMULATED, 0)
    return Health(accepted, duplicates, dict(totals.most_common()), simulated)
