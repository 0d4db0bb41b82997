"""Records as columns that a database can count: numbers as they are, bits as words of 64.

A column is named for its field and item: `value_cohort`, `value_symbol`, and for bits
`value_bits_0`, `value_bits_1`, ...: signed integers of 8 bytes, bit i of a word at weight 2^i, the
last one its sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.protocol import Question

WORD = 64


@dataclass(frozen=True)
class Column:
    """One column: some bytes of a record, at most eight, as an integer.

    Attributes:
        name: of the column.
        field: the field that it belongs to.
        first: its first byte in a question's record.
        size: the number of its bytes.
        bits: the number of its bits, of a word; 0 of a number.
    """

    name: str
    field: str
    first: int
    size: int
    bits: int = 0

    def of(self, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the column of records, a row of bytes each."""
        padded = np.zeros((len(rows), 8), np.uint8)
        padded[:, : self.size] = rows[:, self.first : self.first + self.size]
        return padded.view("<i8").reshape(-1).astype(np.int64)

    def put(self, rows: NDArray[np.uint8], numbers: NDArray[np.int64]) -> None:
        """Write a column back into records."""
        data = numbers.astype("<i8").view(np.uint8).reshape(len(rows), 8)
        rows[:, self.first : self.first + self.size] = data[:, : self.size]


def columns_of(question: Question) -> Iterator[Column]:
    """Yield the columns of a question's records, in the order of their bytes."""
    first = 0
    for field in question.fields:
        for item in field.parameters.layout.items:
            name = f"{field.name}_{item.name}"
            if not item.count:
                yield Column(name, field.name, first, item.width)
            for word, start in enumerate(range(0, item.count, WORD // 8)):
                size = min(WORD // 8, item.count - start)
                yield Column(f"{name}_{word}", field.name, first + start, size, 8 * size)
            first += item.count or item.width
