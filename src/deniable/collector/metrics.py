"""The collector's metrics: numbers for a monitor, none of which is an arrival time.

Everything about arrivals goes through `Held`. Readiness and the last closing do not depend on
them, and are shown as they are.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from deniable.collector.held import RELEASE_REPORTS, Held
from deniable.protocol import Report
from deniable.store.base import ACCEPTED, DUPLICATE, SIMULATED, Counters, Store

FAMILIES = {
    "deniable_info": ("gauge", "The version that runs."),
    "deniable_ready": ("gauge", "1 if the last write of the store succeeded, else 0."),
    "deniable_survey_info": ("gauge", "The published survey, by its SHA-256."),
    "deniable_reports_total": ("counter", "Reports since the start, by question and outcome."),
    "deniable_refusals_total": ("counter", "Refusals since the start, by question and reason."),
    "deniable_commit_seconds": ("histogram", "Time of durable group commits."),
    "deniable_group_reports": ("histogram", "Reports of durable group commits."),
    "deniable_queue_peak_reports": ("gauge", "Most reports that waited, rounded down to 100s."),
    "deniable_store_bytes": ("gauge", "Bytes of the store."),
    "deniable_open_epochs": ("gauge", "Open epochs with at least 100 reports."),
    "deniable_last_closing_timestamp_seconds": (
        "gauge",
        "When this process last closed an epoch; 0 if it did not yet.",
    ),
    "deniable_last_upkeep_timestamp_seconds": (
        "gauge",
        "When this process last looked for epochs to close; 0 if it did not yet.",
    ),
}
"""Every family of series with its type and help, in the order of the page."""

_BOUNDS: Mapping[str, tuple[float, ...]] = {
    "deniable_commit_seconds": (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
    "deniable_group_reports": (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000),
}

Labels = Mapping[str, str]


class Sample(NamedTuple):
    """One series: its family, its name, its labels and its value."""

    family: str
    name: str
    labels: Labels
    value: float


class Metrics:
    """The numbers of one survey. The event loop is its only thread.

    Args:
        store: whose size and open epochs are measured when numbers are released.
        held: keeps back what is about arrivals.
    """

    def __init__(self, store: Store, held: Held | None = None) -> None:
        self._store = store
        self.held = held or Held()
        self._kept = SIMULATED if store.simulating else ACCEPTED
        self._waiting = 0
        self._gauges: dict[str, float] = {}
        self._closing = self._upkeep = 0

    def committed(
        self,
        reports: Sequence[Report],
        new: Sequence[bool],
        refusals: Counters,
        seconds: float,
        waiting: int,
    ) -> None:
        """Note a group that has become durable, and how many reports wait behind it."""
        accepted = Counter(compress([report.question for report in reports], new))
        for question, count in accepted.items():
            self.held.add((self._kept, question), count, count)
        if accepted.total() < len(reports):
            again = Counter(report.question for report in reports)
            again.subtract(accepted)
            for question, count in (+again).items():
                self.held.add((DUPLICATE, question), count, count)
        for (question, reason), count in refusals.items():
            self.held.add(("refused", question, reason), count, count)
        if reports:
            self._observe("deniable_commit_seconds", seconds, len(reports))
            self._observe("deniable_group_reports", len(reports), len(reports))
            self.held.add("store", accepted.total(), accepted.total())
            self.held.add("queue", len(reports), len(reports))
            self._waiting = max(self._waiting, waiting)

    def closed(self, batches: int) -> None:
        """Note that the housekeeping has looked for epochs, and closed some batches."""
        self._upkeep = int(time.time())
        if batches:
            self._closing = self._upkeep

    async def release(self) -> None:
        """Let numbers move, if it is time."""
        moved = self.held.release()
        if moved is None:
            return
        self._gauges["deniable_open_epochs"] = await asyncio.to_thread(_open_epochs, self._store)
        if "store" in moved:
            self._gauges["deniable_store_bytes"] = await asyncio.to_thread(self._store.size)
        if "queue" in moved:
            lumps = self._waiting // RELEASE_REPORTS
            self._gauges["deniable_queue_peak_reports"] = lumps * RELEASE_REPORTS
            self._waiting = 0

    def samples(self, survey: str) -> Iterator[Sample]:
        """Yield the series as they may be seen."""
        shown = self.held.shown()
        of = {"survey": survey}
        for name, value in self._gauges.items():
            yield Sample(name, name, of, value)
        yield from counted(shown, of)
        for family, bounds in _BOUNDS.items():
            yield from _histogram(family, bounds, shown, of)
        for what, when in (("closing", self._closing), ("upkeep", self._upkeep)):
            name = f"deniable_last_{what}_timestamp_seconds"
            yield Sample(name, name, of, when)

    def _observe(self, family: str, value: float, reports: int) -> None:
        """Note a group in its bucket; a bucket is a sum of its own, with its own reports."""
        self.held.add((family, bisect_left(_BOUNDS[family], value)), reports, 1, value)


def counted(shown: Mapping[Hashable, tuple[float, ...]], of: Labels) -> Iterator[Sample]:
    """Yield the counters of reports and refusals among sums that may be seen."""
    for name, values in shown.items():
        match name:
            case ("refused", str(question), str(reason)):
                family, told = "deniable_refusals_total", {"reason": reason}
            case ("accepted" | "duplicate" | "simulated" as outcome, str(question)):
                family, told = "deniable_reports_total", {"outcome": outcome}
            case _:
                continue
        yield Sample(family, family, {**of, "question": question, **told}, values[0])


def _histogram(
    family: str, bounds: Sequence[float], shown: Mapping[Hashable, tuple[float, ...]], of: Labels
) -> Iterator[Sample]:
    """Yield a histogram of the buckets that were released."""
    groups = total = 0.0
    for number, bound in enumerate((*bounds, float("inf"))):
        more, amount = shown.get((family, number), (0.0, 0.0))
        groups, total = groups + more, total + amount
        edge = "+Inf" if bound == float("inf") else f"{bound:g}"
        yield Sample(family, f"{family}_bucket", {**of, "le": edge}, groups)
    yield Sample(family, f"{family}_sum", of, total)
    yield Sample(family, f"{family}_count", of, groups)


def _open_epochs(store: Store) -> int:
    """Return the number of open epochs with as many reports as may move a number."""
    reports: Counter[tuple[str, int, int]] = Counter()
    for tally in store.tallies():
        if tally.open:
            batch = tally.batch
            reports[batch.question, batch.version, batch.epoch] += tally.reports
    return sum(count >= RELEASE_REPORTS for count in reports.values())
