"""Bounds on the records of a whole batch, looked at in one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.errors import InvalidReport
from deniable.protocol import Question
from deniable.protocol.layout import Item
from deniable.protocol.parameters import Parameters

_FEW = 16
"""Records up to this number are looked at one by one: an array costs more than that."""


class RecordBounds:
    """Whether every record of a batch is one that a client could send.

    The bounds of a layout are looked at as arrays, one item of all records at once. A mechanism
    that wants more of its records is asked about each of them.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        layouts = [field.parameters.layout for field in question.fields]
        kinds = [type(field.parameters) for field in question.fields]
        self._plain = all(kind.check_record is Parameters.check_record for kind in kinds)
        fields: list[Any] = [(f"{i}", layout.descr) for i, layout in enumerate(layouts)]
        self._dtype = np.dtype(fields)
        self._items = [
            (f"{i}", item)
            for i, layout in enumerate(layouts)
            for item in layout.items
            if _is_bounded(item)
        ]

    def hold(self, records: bytes) -> bool:
        """Tell whether all of these records keep the bounds; there may be none cut."""
        size = self._question.record_size
        if not self._plain or len(records) <= _FEW * size:
            return all(self._holds(records[i : i + size]) for i in range(0, len(records), size))
        table = np.frombuffer(records, self._dtype)
        return all(_within(table[field][item.name], item) for field, item in self._items)

    def _holds(self, record: bytes) -> bool:
        try:
            self._question.check_record(record)
        except InvalidReport:
            return False
        return True


def _is_bounded(item: Item) -> bool:
    """Tell whether the bytes of an item can hold more than what is allowed."""
    return bool(item.below % 8) if item.count else item.below < 1 << (8 * item.width)


def _within(column: np.ndarray[Any, Any], item: Item) -> bool:
    if item.count:
        return not (column[:, -1] >> (item.below % 8)).any()
    return bool((column < item.below).all())
