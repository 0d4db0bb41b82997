"""The reports of several fields of one question side by side, in the same order of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.ask.options import DEFAULTS, Options, Source, store_of
from deniable.engines.accumulated import Accumulated
from deniable.engines.files import archive_of
from deniable.engines.gathering import (
    Gathered,
    Sampled,
    fields_cut,
    parted,
    patterns,
    repeats,
    reports_of,
    sampled_fields,
)
from deniable.engines.local import Kept
from deniable.engines.selection import selected
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.base import Reports
from deniable.mechanisms.records import record_dtype, view_records
from deniable.protocol import Field, Question
from deniable.store.archive import Archive
from deniable.store.base import Store

MOST_WIDE = 10_000_000
"""The most reports of fields whose records hardly repeat; of more, a sample is drawn."""
MOST_PATTERNED = 50_000_000
"""The most reports of fields whose records repeat."""
_SEED = 0


@dataclass(frozen=True)
class FieldReports:
    """The reports of some fields, in the same order of people, and their counts.

    Attributes:
        reports: by field name; row i of each belongs to the same report.
        accumulated: the counts of each of these fields by itself, with the epochs they cover.
        drawn_from: the number of reports that these are a random sample of; None if they are all.
    """

    reports: dict[str, Reports]
    accumulated: Accumulated
    drawn_from: int | None = None

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.accumulated.n

    def spend(self) -> None:
        """Let go of the reports: others have taken over what is needed of them."""
        self.reports.clear()


def read_fields(
    store: Source,
    question: Question,
    fields: Sequence[Field],
    options: Options = DEFAULTS,
) -> FieldReports:
    """Read the records of these fields into memory, checked and counted.

    Of an archive, the engine counts distinct records, or draws a sample where hardly any occurs
    twice: the order of the reports, and all that follows, does not depend on the engine.

    Cost: linear; the bytes of the fields' records.

    Raises:
        StoreError: if the store is damaged or cannot be read.
        InvalidReport: if a record could not have come from a client.
    """
    there = store_of(store, "which answers of one report go together, no sum of them tells")
    if isinstance(there, Archive) or options.engine is not None:
        return _gathered(there, question, fields, options)
    kept = Kept(question, selected(there, question, options.selection))
    progress = options.stage("counting")
    dtype, expected, done = record_dtype(question), reports_of(there, question), 0
    reports: dict[str, Reports] = {f.name: np.empty(expected, dtype[f.name]) for f in fields}
    for _, group in kept.groups():
        records = view_records(question, group)
        for name, own in reports.items():
            if done + len(records) > len(own):  # they became more meanwhile
                own = np.concatenate([own, np.empty(len(own) + len(records), own.dtype)])
                reports[name] = own
            own[done : done + len(records)] = records[name]
        done += len(records)
        if progress is not None:
            told = sum(kept.epochs.values())
            progress(told, told)
    reports = {name: own[:done] for name, own in reports.items()}
    counts = {
        field.name: mechanism_for(field.parameters).accumulate(reports[field.name])
        for field in fields
    }
    return FieldReports(reports, kept.accumulated({None: counts}))


def _gathered(
    store: Store, question: Question, fields: Sequence[Field], options: Options
) -> FieldReports:
    """Return the reports of an archive as an engine gathers them, a sample of very many."""
    names = [field.name for field in fields]
    cut, how = fields_cut(question, names), (options.selection, options.engine)
    archive = archive_of(store, options.engine.name if options.engine else "local")
    rng = np.random.default_rng(_SEED)
    found: Gathered | Sampled
    if repeats(archive, question, cut):
        found = patterns(store, question, cut, *how)
        numbers = found.numbers.astype(np.int64)
        if found.n > MOST_PATTERNED:
            numbers = rng.multivariate_hypergeometric(numbers, MOST_PATTERNED, method="marginals")
        # In no order: whoever looks at the first of them sees some of all.
        rows = found.rows[rng.permutation(np.repeat(np.arange(len(numbers)), numbers))]
        tables = parted(rows, [end - first for first, end in cut])
    else:
        found = sampled_fields(store, question, cut, MOST_WIDE, *how)
        tables, found = list(found.fields), replace(found, keys=found.keys[:0].copy())
    dtype, read = record_dtype(question), len(tables[0])
    reports = {
        name: np.ascontiguousarray(own).view(dtype[name]).reshape(-1)
        for name, own in zip(names, tables, strict=True)
    }
    del tables
    counts = {f.name: mechanism_for(f.parameters).accumulate(reports[f.name]) for f in fields}
    epochs, segments, simulated = Counter[int](), Counter[str](), 0
    for batch, number in sorted(found.tallies.items()):
        epochs[batch.epoch] += number
        segments[batch.segments] += number
        simulated += number if batch.simulated else 0
    counted = Accumulated(
        question,
        counts,
        scaled_epochs(dict(sorted(epochs.items())), read),
        found.ignored,
        round(simulated * read / max(1, found.n)),
        dict(sorted(segments.items())),
    )
    return FieldReports(reports, counted, found.n if read < found.n else None)


def scaled_epochs(epochs: Mapping[int, int], total: int) -> dict[int, int]:
    """Return the reports of each epoch in a part of them, as even as whole numbers can be.

    Coins spread a part over the epochs like all reports, up to chance.
    """
    edges = np.cumsum([0, *epochs.values()])
    marks = np.round(edges * total / max(1, edges[-1])).astype(int)
    return {epoch: int(n) for epoch, n in zip(epochs, np.diff(marks), strict=True) if n}
