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
    answers, width = scale.shape[1], x.shape[1]
    padded = np.zeros((len(scale), packed.shape[1] * values.shape[1], width))
    padded[:, :answers] = scale[:, :, None] * x[None, :answers]
    cut = padded.reshape(len(scale), packed.shape[1], values.shape[1], width)
    table = np.ascontiguousarray(values @ cut)
    last = np.ascontiguousarray(x[answers:]).reshape(-1)
    found = np.empty(len(packed))
    _mixed(packed, cohorts, table, rest, last, *two, found)
    return found


def pulled_bytes(one: Side, two: Side, r: Numbers) -> Numbers:
    """Return the weighted sum over reports for each pair: answers of the first x of the second.

    Args:
        one: the first field.
        two: the second field.
        r: the weights of reports.
    """
    packed, cohorts, values, scale, rest = one
    answers, width = scale.shape[1], two[3].shape[1] + (two[4].size > 0)
    table = np.zeros((len(scale), packed.shape[1], len(values), width))
    last = np.zeros(width)
    _pulled(packed, cohorts, table, rest, last, *two, np.ascontiguousarray(r))
    cut = values.T @ table
    sums = cut.reshape(len(scale), -1, width)[:, :answers] * scale[:, :, None]
    listed = sums.sum(axis=0)
    return np.vstack([listed, last]) if rest.size else np.asarray(listed)


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
    each, answers, width = values.shape[1], scale.shape[1], table.shape[3]
    own = np.empty(width)
    for i in range(found.size):
        lines = table[groups[i]]
        for b in range(width):
            own[b] = lines[0, one[i, 0], b]
        for j in range(1, one.shape[1]):
            line = lines[j, one[i, j]]
            for b in range(width):
                own[b] += line[b]
        if rest.size:
            for b in range(width):
                own[b] += rest[i] * last[b]
        total, scales = 0.0, scale[cohorts[i]]
        for j in range(two.shape[1]):
            line = values[two[i, j]]
            first = j * each
            for b in range(first, min(first + each, answers)):
                total += own[b] * line[b - first] * scales[b]
        if rest_two.size:
            total += own[answers] * rest_two[i]
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
    each, answers, width = values.shape[1], scale.shape[1], table.shape[3]
    own = np.empty(width)
    for i in range(r.size):
        scales, weight = scale[cohorts[i]], r[i]
        for j in range(two.shape[1]):
            line = values[two[i, j]]
            first = j * each
            for b in range(first, min(first + each, answers)):
                own[b] = weight * line[b - first] * scales[b]
        if rest_two.size:
            own[answers] = weight * rest_two[i]
        lines = table[groups[i]]
        for j in range(one.shape[1]):
            line = lines[j, one[i, j]]
            for b in range(width):
                line[b] += own[b]
        if rest.size:
            for b in range(width):
                last[b] += rest[i] * own[b]
