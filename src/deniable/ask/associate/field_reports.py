"""The reports of several fields of one question side by side, in the same order of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.ask.options import DEFAULTS, Options, Source, store_of
from deniable.engines.accumulated import Accumulated
from deniable.engines.local import Kept
from deniable.engines.selection import selected
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.base import Reports
from deniable.mechanisms.records import record_dtype, view_records
from deniable.protocol import Field, Question


@dataclass(frozen=True)
class FieldReports:
    """The reports of some fields, in the same order of people, and their counts.

    Attributes:
        reports: by field name; row i of each belongs to the same report.
        accumulated: the counts of each of these fields by itself, with the epochs they cover.
    """

    reports: Mapping[str, Reports]
    accumulated: Accumulated

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.accumulated.n


def read_fields(
    store: Source,
    question: Question,
    fields: Sequence[Field],
    options: Options = DEFAULTS,
) -> FieldReports:
    """Read the records of these fields into memory, checked and counted.

    Cost: linear; the bytes of the fields' records, twice while they are joined.

    Raises:
        StoreError: if the store is damaged or cannot be read.
        InvalidReport: if a record could not have come from a client.
    """
    there = store_of(store, "which answers of one report go together, no sum of them tells")
    kept = Kept(question, selected(there, question, options.selection))
    progress = options.stage("counting")
    parts: dict[str, list[Reports]] = {field.name: [] for field in fields}
    for _, group in kept.groups():
        records = view_records(question, group)
        for field in fields:
            parts[field.name].append(np.ascontiguousarray(records[field.name]))
        if progress is not None:
            done = sum(kept.epochs.values())
            progress(done, done)
    dtype = record_dtype(question)
    reports = {name: np.concatenate([np.empty(0, dtype[name]), *parts[name]]) for name in parts}
    counts = {
        field.name: mechanism_for(field.parameters).accumulate(reports[field.name])
        for field in fields
    }
    return FieldReports(reports, kept.accumulated({None: counts}))
