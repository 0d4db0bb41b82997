"""Sums over pairs of answers of two fields whose reports are bytes.

Model: with A_ia and B_ib the likelihoods of report i's two records (`byte_lines.py`), two sums that
are each other's transpose:

    mixed_bytes    sum over a, b of x_ab A_ia B_ib       a number per report
    pulled_bytes   sum over i of r_i A_ia B_ib           a number per pair

All that a byte of the first field says about the answers b is made once for each of its values, so
that a report takes a look-up per byte and an addition per answer b, whatever the number of pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Cohorts = NDArray[np.uint16]
Numbers = NDArray[np.floating[Any]]
Side = tuple[Bytes, Cohorts, Numbers, Numbers, Numbers]
"""A field: bytes, cohorts, values, scale, and the numbers of one more answer; none if empty."""


def mixed_bytes(one: Side, two: Side, x: Numbers) -> Numbers:
    """Return the sum over all pairs for each report.

    Args:
        one: the first field.
        two: the second field.
        x: answers of the first x answers of the second.
    """
    packed, cohorts, values, scale, rest = one
    answers, wide = scale.shape[1], _padded(x, two)
    padded = np.zeros((len(scale), packed.shape[1] * values.shape[1], wide.shape[1]))
    padded[:, :answers] = scale[:, :, None] * wide[None, :answers]
    cut = padded.reshape(len(scale), packed.shape[1], values.shape[1], wide.shape[1])
    table = np.ascontiguousarray(values @ cut)
    last = np.ascontiguousarray(wide[answers:]).reshape(-1)
    found = np.empty(len(packed))
    _mixed(packed, cohorts, table, rest, last, *_whole(two), found)
    return found


def pulled_bytes(one: Side, two: Side, r: Numbers) -> Numbers:
    """Return the weighted sum over reports for each pair: answers of the first x of the second.

    Args:
        one: the first field.
        two: the second field.
        r: the weights of reports.
    """
    packed, cohorts, values, scale, rest = one
    answers, places = scale.shape[1], _places(two)
    width = two[0].shape[1] * two[2].shape[1] + (two[4].size > 0)
    table = np.zeros((len(scale), packed.shape[1], len(values), width))
    last = np.zeros(width)
    _pulled(packed, cohorts, table, rest, last, *_whole(two), np.ascontiguousarray(r))
    cut = values.T @ table
    sums = cut.reshape(len(scale), -1, width)[:, :answers] * scale[:, :, None]
    listed = sums.sum(axis=0)
    return np.asarray((np.vstack([listed, last]) if rest.size else listed)[:, places])


def _places(side: Side) -> NDArray[np.intp]:
    """Return the places of a field's answers where its last byte is full: one more answer last."""
    packed, _, values, scale, rest = side
    listed = np.arange(scale.shape[1])
    return np.append(listed, packed.shape[1] * values.shape[1]) if rest.size else listed


def _padded(x: Numbers, side: Side) -> Numbers:
    """Return a table with a column for every answer that full bytes could hold, 0 where none is."""
    packed, _, values, _, rest = side
    found = np.zeros((len(x), packed.shape[1] * values.shape[1] + (rest.size > 0)))
    found[:, _places(side)] = x
    return found


def _whole(side: Side) -> Side:
    """Return a field whose last byte is full, with answers that count for nothing.

    Then all loops of a kernel are as long as a byte holds answers, and run side by side.
    """
    packed, cohorts, values, scale, rest = side
    full = np.zeros((len(scale), packed.shape[1] * values.shape[1]))
    full[:, : scale.shape[1]] = scale
    return packed, cohorts, values, full, rest


@njit
def _mixed(
    one: Bytes,
    groups: Cohorts,
    table: Numbers,
    rest: Numbers,
    last: Numbers,
    two: Bytes,
    cohorts: Cohorts,
    values: Numbers,
    scale: Numbers,
    rest_two: Numbers,
    found: Numbers,
) -> None:
    each, width = values.shape[1], table.shape[3]
    # A sum for each place in a byte: one sum for all would wait for every addition before it.
    own, sums = np.empty(width), np.empty(each)
    for i in range(found.size):
        lines = table[groups[i]]
        line = lines[0, one[i, 0]]
        for b in range(width):
            own[b] = line[b]
        for j in range(1, one.shape[1]):
            line = lines[j, one[i, j]]
            for b in range(width):
                own[b] += line[b]
        if rest.size:
            for b in range(width):
                own[b] += rest[i] * last[b]
        scales = scale[cohorts[i]]
        sums[:] = 0.0
        for j in range(two.shape[1]):
            line, first = values[two[i, j]], j * each
            for d in range(each):
                sums[d] += own[first + d] * scales[first + d] * line[d]
        total = 0.0
        for d in range(each):
            total += sums[d]
        if rest_two.size:
            total += own[width - 1] * rest_two[i]
        found[i] = total


@njit
def _pulled(
    one: Bytes,
    groups: Cohorts,
    table: Numbers,
    rest: Numbers,
    last: Numbers,
    two: Bytes,
    cohorts: Cohorts,
    values: Numbers,
    scale: Numbers,
    rest_two: Numbers,
    r: Numbers,
) -> None:
    each, width = values.shape[1], table.shape[3]
    own = np.empty(width)
    for i in range(r.size):
        scales, weight = scale[cohorts[i]], r[i]
        for j in range(two.shape[1]):
            line, first = values[two[i, j]], j * each
            for d in range(each):
                own[first + d] = weight * scales[first + d] * line[d]
        if rest_two.size:
            own[width - 1] = weight * rest_two[i]
        lines = table[groups[i]]
        for j in range(one.shape[1]):
            line = lines[j, one[i, j]]
            for b in range(width):
                line[b] += own[b]
        if rest.size:
            for b in range(width):
                last[b] += rest[i] * own[b]
