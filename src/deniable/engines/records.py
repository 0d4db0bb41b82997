"""The reports of one field as they are, for statistics that counts do not hold (n-gram pairs)."""

from __future__ import annotations

import numpy as np

from deniable.engines.selection import ALL, Selection, selected
from deniable.mechanisms.base import Reports
from deniable.mechanisms.records import record_dtype, view_records
from deniable.protocol import Question
from deniable.store.base import Store


def read_field(store: Store, question: Question, field: str, selection: Selection = ALL) -> Reports:
    """Return all reports of a field whose digest is the question's.

    Cost: the memory of the field's records, and one chunk.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        field: the field's name.
        selection: which of the question's reports.

    Raises:
        StoreError: if the store cannot be read.
    """
    kept = [
        np.ascontiguousarray(view_records(question, chunk.records)[field])
        for chunk in selected(store, question, selection)
        if chunk.batch.digest == question.digest
    ]
    return np.concatenate(kept) if kept else np.empty(0, dtype=record_dtype(question)[field])
