"""A field that reports a bit per answer, for so many answers that its records hardly repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.associate.fields import FieldRows
from deniable.associate.variable import Variable
from deniable.decode.mixture_bits import BitProduct
from deniable.mechanisms.base import Floats
from deniable.mechanisms.bitmaps import AnswerBits

_FLOATS = 2**22
"""Up to so many likelihoods are simply held as floats."""
_PER_PATTERN = 256
"""Reports that each pattern of the other fields must have on average: tables are made for it."""
_MOST_PATTERNS = 2**16


def wide_field(variables: Sequence[Variable]) -> int | None:
    """Return the place of the widest field that is better kept as bits; None if there is none.

    A field of k answers has up to 2^k different records: with fewer of them than reports it is
    better grouped.
    """
    found = [
        (len(variable.answers), -place)
        for place, variable in enumerate(variables)
        if _unary(variable) and len(variable.answers) * variable.n >= _FLOATS
    ]
    answers, place = max(found, default=(0, 0))
    return -place if answers > np.log2(variables[0].n) else None


def _unary(variable: Variable) -> bool:
    """Tell whether a field's categories are exactly the answers that its reports have bits of."""
    mechanism = variable.mechanism
    if variable.other or mechanism.hashed or mechanism.answer_bits(variable.reports[:0]) is None:
        return False
    return variable.asked() == tuple(range(len(variable.answers)))


def some_lines(bits: AnswerBits, step: int) -> Floats:
    """Return the likelihoods of every `step`-th report, a line per answer."""
    ones = np.unpackbits(bits.packed[::step], axis=1, count=bits.answers, bitorder="little")
    return np.where(ones.T, 1.0, bits.least)


def joined_bits(bits: AnswerBits, place: int, others: Sequence[FieldRows]) -> BitProduct | None:
    """Return a wide field's bits with the patterns of the other fields; None if those are many.

    Args:
        bits: of the wide field.
        place: of the wide field among all.
        others: the other fields' likelihoods, in their order.
    """
    sizes = [field.lines.shape[1] for field in others]
    codes = [field.codes for field in others if field.codes is not None]
    patterns = float(np.prod([float(size) for size in sizes]))
    most = min(_MOST_PATTERNS, len(bits.packed) // _PER_PATTERN)
    if len(codes) < len(others) or patterns > most:
        return None
    columns = np.unravel_index(np.arange(int(patterns)), sizes)
    lines = tuple(field.lines[:, column] for field, column in zip(others, columns, strict=True))
    keys = np.ravel_multi_index(tuple(codes), sizes)
    return BitProduct.of(
        bits.packed, keys, lines, answers=bits.answers, place=place, least=bits.least
    )
