"""Fixed-size little-endian records, declared once and read by every party.

The client packs a record with `struct`, a browser with `DataView`, the analyst views a whole
batch as one NumPy structured array without copying: `numpy.dtype(layout.descr)`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cached_property

from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol.frozen import frozen

_CODES = {1: "B", 2: "H", 4: "I"}
MAX_RECORD_BYTES = 2**19
"""A report must fit into a batch of 2^20 bytes, as JSON too: there three bytes take four."""


@frozen
class Item:
    """One item of a record: an unsigned integer of `width` bytes, or `count` raw bytes.

    `below` bounds what a client can send: the integer, or the number of bits in the bytes.
    """

    name: str
    width: int
    count: int = 0
    below: int = 0


def number(name: str, below: int, width: int = 0) -> Item:
    """Return an item that holds 0..below-1, in `width` bytes or else in the fewest of 1, 2 or 4."""
    fewest = (size for size in (1, 2, 4) if below <= 1 << (8 * size))
    return Item(name, width or next(fewest), below=below)


def packed(name: str, bits: int) -> Item:
    """Return an item of `bits` bits, bit i in byte i // 8 at weight 2^(i % 8)."""
    return Item(name, 1, (bits + 7) // 8, bits)


@frozen
class Layout:
    """The items of a record, in order, without padding between them."""

    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        if self.size > MAX_RECORD_BYTES:
            raise InvalidParameter(
                f"A record of {self.size:,} bytes is too long: {MAX_RECORD_BYTES:,} are allowed.",
                "Report fewer bits.",
            )

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is computed again: a compiled struct cannot go to another process."""
        return {"items": self.items}

    @cached_property
    def size(self) -> int:
        """The number of bytes of every record."""
        return self._struct.size

    @cached_property
    def _struct(self) -> struct.Struct:
        return struct.Struct(
            "<" + "".join(f"{i.count}s" if i.count else _CODES[i.width] for i in self.items)
        )

    @property
    def descr(self) -> list[tuple[str, str] | tuple[str, str, tuple[int]]]:
        """The record as NumPy's dtype description."""
        return [
            (i.name, "u1", (i.count,)) if i.count else (i.name, f"<u{i.width}") for i in self.items
        ]

    def pack(self, values: Mapping[str, int | bytes]) -> bytes:
        """Return the record that holds `values`, one per item."""
        return self._struct.pack(*[values[item.name] for item in self.items])

    def unpack(self, record: bytes) -> dict[str, int | bytes]:
        """Return the values in a record.

        Raises:
            InvalidReport: if the record does not have exactly the declared size.
        """
        if len(record) != self.size:
            raise InvalidReport(
                "record", f"The record must be {self.size} bytes long. Got {len(record)}."
            )
        return dict(zip(self._names, self._struct.unpack(record), strict=True))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.items)

    def check(self, record: bytes) -> dict[str, int | bytes]:
        """Return the values in a record, each within the bound of its item.

        Raises:
            InvalidReport: if a client could not have packed the record.
        """
        values = self.unpack(record)
        for item in self.items:
            value = values[item.name]
            if isinstance(value, int):
                if value >= item.below:
                    raise InvalidReport("record", f"The {item.name} must be below {item.below}.")
            elif item.below % 8 and value[-1] >> (item.below % 8):
                raise InvalidReport("record", "The padding bits of the last byte must be zero.")
        return values
