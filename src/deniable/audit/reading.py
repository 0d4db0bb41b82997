"""Reading records: the support of one answer, its symbol, and the bits that it sets.

Slow and plain, record by record, and apart from `mechanisms/`: an audit should not repeat the
mistakes of the code that it audits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deniable.client.encoders.unary import own_bits
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Answer,
    HadamardParameters,
    HCMSParameters,
    KRRParameters,
    OLHParameters,
    ORRParameters,
    Parameters,
    PGRParameters,
    PrefixesParameters,
    RapporParameters,
    SubsetParameters,
)
from deniable.protocol.hadamard import sign_of
from deniable.protocol.olh import symbol_of
from deniable.protocol.projective import vector_of
from deniable.protocol.unary import UnaryParameters

Bools = NDArray[np.bool_]
Whole = NDArray[np.int64]
Record = dict[str, int | bytes]


PUBLIC = {
    "cohort": ("cohorts",),
    "seed": ("seeds",),
    "row": ("rows",),
    "coefficient": ("size", "width"),
    "places": ("choices",),
}
"""The items of a record that do not depend on the answer, and the parameters that bound them."""


def public_bounds(parameters: Parameters) -> dict[str, int]:
    """Return the bound of each item that is uniform below it, whatever the answer."""
    items = [item.name for item in parameters.layout.items if item.name in PUBLIC]
    return {
        item: next(getattr(parameters, name) for name in PUBLIC[item] if hasattr(parameters, name))
        for item in items
    }


def records_of(parameters: Parameters, records: Sequence[bytes]) -> list[Record]:
    """Return records by the names of their items."""
    return [parameters.layout.unpack(record) for record in records]


def number(record: Record, item: str) -> int:
    """Return an item that is a number; 0 where the record has none of that name."""
    value = record.get(item, 0)
    return value if isinstance(value, int) else 0


def symbols_of(parameters: Parameters, answer: Answer, records: Sequence[Record]) -> Whole:
    """Return the offset of each reported symbol from the answer's own, modulo their number.

    Raises:
        InvalidParameter: if the mechanism reports no symbol.
    """
    count = symbol_count(parameters)

    @cache
    def own(public: int) -> int:
        if isinstance(parameters, KRRParameters):
            return answer.code
        if isinstance(parameters, ORRParameters):
            return parameters.symbol(answer, public)
        return symbol_of(answer.words, public, count)

    item = {"orr": "cohort", "olh": "seed"}.get(parameters.mechanism, "")
    offsets = [(number(record, "symbol") - own(number(record, item))) % count for record in records]
    return np.array(offsets, dtype=np.int64)


def symbol_count(parameters: Parameters) -> int:
    """Return the number of symbols of a mechanism.

    Raises:
        InvalidParameter: if it reports none.
    """
    if isinstance(parameters, KRRParameters):
        return parameters.categories
    if isinstance(parameters, ORRParameters | OLHParameters):
        return parameters.symbols
    raise InvalidParameter(f"{parameters.mechanism} reports no symbol.")


def supports(parameters: Parameters, answer: Answer, records: Sequence[Record]) -> Bools:
    """Tell of each record whether it supports the answer.

    Raises:
        InvalidParameter: if the mechanism reports bits, several of which may be the answer's.
    """
    if isinstance(parameters, KRRParameters | ORRParameters | OLHParameters):
        return np.asarray(symbols_of(parameters, answer, records) == 0)
    if isinstance(parameters, SubsetParameters):
        found = [_bit(record, answer.code) for record in records]
    elif isinstance(parameters, HadamardParameters):
        found = [
            sign_of(number(record, "coefficient"), answer.code) == number(record, "sign")
            for record in records
        ]
    elif isinstance(parameters, HCMSParameters):
        buckets = cache(lambda row: parameters.bucket(answer, row))
        found = [
            sign_of(number(record, "coefficient"), buckets(number(record, "row")))
            == number(record, "sign")
            for record in records
        ]
    elif isinstance(parameters, PGRParameters | PrefixesParameters):
        known = cache(
            lambda group, cohort, point: inside(
                parameters, answer, {"group": group, "cohort": cohort, "point": point}
            )
        )
        items = ("group", "cohort", "point")
        found = [known(*(number(record, item) for item in items)) for record in records]
    else:
        raise InvalidParameter(f"A record of {parameters.mechanism} has no single support.")
    return np.array(found, dtype=bool)


def inside(parameters: PGRParameters | PrefixesParameters, answer: Answer, record: Record) -> bool:
    """Tell whether a record's point lies in the hyperplane of the answer's own point."""
    if isinstance(parameters, PrefixesParameters):
        own = parameters.point(answer, number(record, "group"), number(record, "cohort"))
    else:
        own = parameters.point(answer, number(record, "cohort"))
    one, other = (
        vector_of(point, parameters.prime, parameters.dimension)
        for point in (own, number(record, "point"))
    )
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product % parameters.prime == 0


def held_bits(parameters: UnaryParameters, answer: Answer, cohort: int) -> frozenset[int]:
    """Return the bits that an answer sets in a cohort."""
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        return frozenset(parameters.places(answer, cohort))
    if parameters.bits == 1:
        return frozenset({0} if answer.code == 1 else ())
    return own_bits(answer, parameters)


def bit_table(parameters: UnaryParameters, records: Sequence[Record]) -> Bools:
    """Return the reported bits, a row per record."""
    packed = b"".join(bits for record in records if isinstance(bits := record["bits"], bytes))
    size = (parameters.bits + 7) // 8
    table = np.frombuffer(packed, dtype=np.uint8).reshape(-1, size)
    return np.unpackbits(table, axis=1, count=parameters.bits, bitorder="little").astype(bool)


def held_table(parameters: UnaryParameters, answer: Answer, records: Sequence[Record]) -> Bools:
    """Return the bits that the answer sets, a row per record, by the record's cohort."""
    table = np.zeros((len(records), parameters.bits), dtype=bool)
    places = cache(lambda cohort: sorted(held_bits(parameters, answer, cohort)))
    for row, record in zip(table, records, strict=True):
        row[places(number(record, "cohort"))] = True
    return table


def _bit(record: Record, place: int) -> bool:
    bits = record["bits"]
    return isinstance(bits, bytes) and bool(bits[place // 8] >> (place % 8) & 1)
