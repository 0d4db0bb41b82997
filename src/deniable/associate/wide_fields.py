"""Wide fields: records of many answers hardly repeat, and are kept as bytes, not as floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.associate.fields import FieldRows, records_repeat
from deniable.associate.other import other_likelihood
from deniable.associate.variable import Variable
from deniable.decode.mixture.packed import PackedProduct
from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.packed import PackedAnswers

_FLOATS = 2**22
"""The most likelihoods that are held as floats."""
_PER_PATTERN = 256
"""Reports that each pattern of the other fields must have on average: tables are made for it."""
_MOST_PATTERNS = 2**16
_SAMPLE = 2**14
_BLOCK = 2**16
"""Reports whose numbers are worked on at once: a dozen numbers of each fit into a cache."""
_LARGEST_LOG = 600.0
"""Likelihood ratios of "(other)" beyond e^600 are cut, so that no number overflows."""


def wide_field(variables: Sequence[Variable]) -> int | None:
    """Return the place of the widest field that is better kept as bytes; None if there is none.

    A field of k answers with a bit each has up to 2^k different records: with fewer of them than
    reports it is better grouped.
    """
    found = [
        (len(variable.answers), -place)
        for place, variable in enumerate(variables)
        if len(variable.answers) * variable.n >= _FLOATS and _packable(variable)
    ]
    answers, place = max(found, default=(0, 0))
    return -place if answers > np.log2(variables[0].n) else None


def wide_fields(variables: Sequence[Variable]) -> list[int]:
    """Return the places of all fields that must be kept as bytes, where they are several.

    Such a field has more records than there may be patterns beside another wide one (`joined`), and
    together they hardly repeat.
    """
    n = variables[0].n
    found = [
        place
        for place, variable in enumerate(variables)
        if len(variable.answers) * n >= _FLOATS
        and len(variable.answers) > np.log2(n / _PER_PATTERN)
        and _of_bytes(variable)
    ]
    return [] if len(found) < 2 or _repeat_together(variables) else found


def _repeat_together(variables: Sequence[Variable]) -> bool:
    """Tell whether reports are alike in all fields, twice or more on average."""
    n = variables[0].n
    keys = np.empty(n, np.uint64)
    for start in range(0, n, _SAMPLE):
        some = slice(start, start + _SAMPLE)
        # Two different records have one key with a probability of 2^-64: weights are random.
        keys[some] = sum(_hashed(v.reports[some], seed) for seed, v in enumerate(variables))
        if start == 0 and _distinct(keys[some]) == len(keys[some]):
            return False  # most reports are alone: no need to look at all
    return 2 * _distinct(keys) <= n


def _distinct(keys: NDArray[np.uint64]) -> int:
    rising = np.sort(keys)  # faster than a table of them
    return 1 + int(np.count_nonzero(rising[1:] != rising[:-1]))


def _hashed(reports: Reports, seed: int) -> NDArray[np.uint64]:
    rows = np.ascontiguousarray(reports).view(np.uint8).reshape(len(reports), -1)
    weights = np.random.default_rng(seed).integers(0, 2**64, rows.shape[1], np.uint64)
    return np.asarray(rows.astype(np.uint64) @ (weights | np.uint64(1)))


def _packable(variable: Variable) -> bool:
    """Tell whether a field is better kept as bytes than grouped."""
    return _of_bytes(variable) and not records_repeat(variable.reports)


def _of_bytes(variable: Variable) -> bool:
    """Tell whether a field's categories are answers of its bytes, and "(other)" of strings."""
    if variable.packed(variable.reports[:0]) is None:
        return False
    listed = variable.asked() == tuple(range(len(variable.answers)))
    return listed and (variable.mechanism.hashed or not variable.other)


def rest_field(variable: Variable, packed: PackedAnswers, profile: str) -> Floats | None:
    """Return the likelihoods of "(other)", on the scale of a field's bytes; None if it has none.

    That scale is known from the first answer, whose likelihood is known both ways.
    """
    if not variable.other:
        return None
    first, other = (variable.candidates or ())[:1], other_likelihood(variable, profile)
    found = np.empty(variable.n)
    for start in range(0, variable.n, _BLOCK):
        some = slice(start, start + _BLOCK)
        logs = other(variable.reports[some], start)
        logs -= variable.mechanism.likelihood(variable.reports[some], first, log=True)[:, 0]
        np.exp(np.clip(logs, -_LARGEST_LOG, _LARGEST_LOG, out=logs), out=logs)
        cohorts = 0 if packed.cohorts is None else packed.cohorts[some]
        own = packed.values[packed.packed[some, 0], 0] * packed.scale[cohorts, 0]
        found[some] = logs * own
    return found


def joined(
    wide: PackedAnswers, rest: Floats | None, place: int, others: Sequence[FieldRows]
) -> PackedProduct | None:
    """Return a wide field's bytes with the patterns of the other fields; None if those are many.

    Args:
        wide: the wide field.
        rest: the likelihoods of its "(other)".
        place: of the wide field among all.
        others: the other fields' likelihoods, in their order.
    """
    sizes = [field.lines.shape[1] for field in others]
    codes = [field.codes for field in others if field.codes is not None]
    patterns = float(np.prod([float(size) for size in sizes]))
    most = min(_MOST_PATTERNS, len(wide.packed) // _PER_PATTERN)
    if len(codes) < len(others) or patterns * len(wide.scale) > most:
        return None
    columns = np.unravel_index(np.arange(int(patterns)), sizes)
    lines = tuple(field.lines[:, column] for field, column in zip(others, columns, strict=True))
    keys = np.ravel_multi_index(tuple(codes), sizes)
    return PackedProduct.of(wide, keys, lines, place=place, rest=rest)
