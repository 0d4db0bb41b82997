"""Bounds on records: those of one report at little cost, those of a batch in one step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deniable.errors import InvalidReport
from deniable.protocol import Question
from deniable.protocol.parameters import Parameters

_FEW = 16
"""Records up to this number are looked at one by one: an array costs more than that."""


class _Bound(NamedTuple):
    """Bytes `first` to `end` of a record, as one integer, are below `below`."""

    first: int
    end: int
    below: int


class RecordBounds:
    """Whether records are ones that a client could send: `Question.check_record`, without a word.

    The bounds of a layout are looked at as arrays, one item of all records at once. A mechanism
    that wants more of its records is asked about each of them.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._size = question.record_size
        kinds = [type(field.parameters) for field in question.fields]
        self._plain = all(kind.check_record is Parameters.check_record for kind in kinds)
        self._bounds = _bounds(question) if self._plain else []

    def hold(self, records: bytes) -> bool:
        """Tell whether these records, none of them cut, all keep the bounds."""
        size = self._size
        if self._plain and len(records) == size:  # a single report, as most requests have
            for first, end, below in self._bounds:
                if int.from_bytes(records[first:end], "little") >= below:
                    return False
            return True
        if not self._plain:
            return all(self._is_sent(records[i : i + size]) for i in range(0, len(records), size))
        if len(records) <= _FEW * size:
            return all(
                int.from_bytes(records[start + first : start + end], "little") < below
                for first, end, below in self._bounds
                for start in range(0, len(records), size)
            )
        table = np.frombuffer(records, np.uint8).reshape(-1, size)
        return all(_below(table, bound) for bound in self._bounds)

    def _is_sent(self, record: bytes) -> bool:
        try:
            self._question.check_record(record)
        except InvalidReport:
            return False
        return True


def _bounds(question: Question) -> list[_Bound]:
    """Return what the layouts allow less of than their bytes could hold."""
    found, place = [], 0
    for field in question.fields:
        for item in field.parameters.layout.items:
            end = place + (item.count or item.width)
            if item.count:  # bits: those beyond the last are in the last byte
                place, below = end - 1, 1 << (item.below % 8 or 8)
            else:
                below = item.below
            if below < 1 << (8 * (end - place)):
                found.append(_Bound(place, end, below))
            place = end
    return found


def _below(table: np.ndarray[Any, Any], bound: _Bound) -> bool:
    column = np.ascontiguousarray(table[:, bound.first : bound.end])
    numbers = column.view(f"<u{bound.end - bound.first}")
    return bool((numbers < bound.below).all())
