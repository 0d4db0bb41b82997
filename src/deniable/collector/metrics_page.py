"""The page of metrics, in Prometheus' text format, written by hand: it is numbers only."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from deniable._version import __version__
from deniable.collector.held import Held
from deniable.collector.metrics import FAMILIES, Sample, counted
from deniable.collector.refusals import Refusals

if TYPE_CHECKING:
    from deniable.collector.endpoints import Collector

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsPage:
    """The page of all surveys' metrics, in Prometheus' text format.

    Args:
        collectors: by the name of their survey; more may come.
        refusals: those of the address itself, which no store keeps; None if there are none.
    """

    def __init__(
        self, collectors: Mapping[str, Collector], refusals: Refusals | None = None
    ) -> None:
        self._collectors = collectors
        self._refusals = refusals
        self._held = Held()
        self._turn = asyncio.Lock()

    async def text(self) -> bytes:
        """Return the page; whether the stores work is found out as for `/readyz`."""
        collectors = list(self._collectors.values())
        await asyncio.gather(*(each.commits.outcome() for each in collectors))
        async with self._turn:
            for each in collectors:
                await each.metrics.release()
            if self._refusals is not None:
                for (question, reason), count in self._refusals.take().items():
                    self._held.add(("refused", question, reason), count, count)
                self._held.release()
        return _text(self._samples(collectors))

    def _samples(self, collectors: Iterable[Collector]) -> Iterator[Sample]:
        yield Sample("deniable_info", "deniable_info", {"version": __version__}, 1)
        for each in collectors:
            name = each.settings.name or each.survey.name
            ready = each.commits.failure is None
            yield Sample("deniable_ready", "deniable_ready", {"survey": name}, ready)
            told = {"survey": name, "sha256": each.survey_sha256}
            yield Sample("deniable_survey_info", "deniable_survey_info", told, 1)
            yield from each.metrics.samples(name)
        yield from counted(self._held.shown(), {"survey": ""})


def _text(samples: Iterable[Sample]) -> bytes:
    by_family: dict[str, list[Sample]] = {family: [] for family in FAMILIES}
    for sample in samples:
        by_family[sample.family].append(sample)
    lines: list[str] = []
    for family, (kind, words) in FAMILIES.items():
        if by_family[family]:
            lines += [f"# HELP {family} {words}", f"# TYPE {family} {kind}"]
            lines += map(_line, by_family[family])
    return "\n".join([*lines, ""]).encode()


def _line(sample: Sample) -> str:
    labels = ",".join(f'{name}="{_escaped(text)}"' for name, text in sample.labels.items())
    value = int(sample.value) if float(sample.value).is_integer() else repr(sample.value)
    return f"{sample.name}{{{labels}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
