"""A question's record: its fields' records, one after the other, as one NumPy dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Reports
from deniable.protocol import Question


def record_dtype(question: Question) -> np.dtype[Any]:
    """Return the structured dtype of a question's record: one nested record per field."""
    return np.dtype([(f.name, np.dtype(f.parameters.layout.descr)) for f in question.fields])


def view_records(question: Question, records: bytes | NDArray[np.uint8]) -> Reports:
    """View packed records as a structured array, without copying."""
    return np.frombuffer(records, dtype=record_dtype(question))


def join_records(question: Question, parts: Mapping[str, Reports]) -> bytes:
    """Pack reports of each field, in the same order of people, into a question's records."""
    first = parts[question.fields[0].name]
    joined = np.zeros(len(first), dtype=record_dtype(question))
    for field in question.fields:
        joined[field.name] = parts[field.name]
    return joined.tobytes()
