"""One field's likelihoods, ready to be multiplied: a line per category, a column per record.

Records that occur often are computed once: those of k-RR or basic RAPPOR are few different ones.
Those of Bloom filters are nearly all different, but what they say about a few strings is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.associate.other import (
    DEFAULT_PROFILE,
    listed_likelihood,
    other_likelihood,
)
from deniable.associate.profile_columns import LogLikelihood
from deniable.associate.variable import Variable
from deniable.decode.simplex import project
from deniable.mechanisms import OLH
from deniable.mechanisms.base import Floats, Reports

CHUNK = 2**20
"""Likelihoods that are computed at once."""

_DIRECT = 2**22
"""Keys below this are counted in a table, larger ones sorted."""
_SAMPLE = 4_096
_OFTEN = 16
"""Records that occur so often are better counted than kept as bytes."""
_MOST_BYTES = 6
"""The most bytes of a packed record by which records are compared."""
_SMALLEST = 1e-300


@dataclass(frozen=True)
class FieldRows:
    """The likelihoods of a field's records, each scaled to a maximum of 1.

    Attributes:
        lines: categories x distinct records (x reports where they were not grouped).
        codes: of each report, the column of its record; None where they were not grouped.
    """

    lines: Floats
    codes: NDArray[np.intp] | None


def field_rows(
    variable: Variable,
    *,
    profile: str = DEFAULT_PROFILE,
    chunk: int = CHUNK,
    records: Reports | None = None,
) -> FieldRows:
    """Return a field's likelihoods, of the categories in the order of `variable.categories`.

    Guarantees: rows are scaled in log space, so that records of many bits do not underflow; no
        likelihood is exactly 0. The result does not depend on the chunk.

    Cost: the mechanism's likelihood, once per distinct record; 8 bytes per category and column.

    Args:
        variable: the field, whose reports also tell how "(other)" looks.
        profile: of "(other)".
        chunk: likelihoods that are computed at once.
        records: whose likelihoods are wanted; by default the variable's own reports.
    """
    records = variable.mechanism.records(variable.reports if records is None else records)
    grouped = None
    if not variable.other or profile != "halves":
        grouped = _saying_the_same(variable, records)
        grouped = _grouped(records) if grouped is None else grouped
    kept = records if grouped is None else records[grouped[0]]
    read = _reader(variable, profile)
    lines = np.empty((len(variable.categories), kept.size))
    step = max(1, chunk // len(lines))
    for start in range(0, kept.size, step):
        part = kept[start : start + step]
        lines[:, start : start + step] = _scaled(read(part, start))
    return FieldRows(lines, None if grouped is None else grouped[1])


def _scaled(logs: Floats) -> Floats:
    # A factor per record changes no estimate; with a maximum of 1 nothing overflows.
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    return np.maximum(logs, _SMALLEST, out=logs).T


def _reader(variable: Variable, profile: str) -> LogLikelihood:
    """Return the log-likelihoods of records, a column per category."""
    mechanism = variable.mechanism
    if mechanism.hashed:
        listed = variable.candidates
        if not variable.other:
            return lambda records, _: mechanism.likelihood(records, listed, log=True)
        own, other = listed_likelihood(variable), other_likelihood(variable, profile)
        return lambda records, start: np.column_stack([own(records, start), other(records, start)])
    asked, labels = np.array(variable.asked()), variable.labels
    if variable.other:
        return _pooled(variable, asked)
    if np.array_equal(asked, np.arange(len(variable.answers))):  # saves a copy of all of them
        return lambda records, _: mechanism.likelihood(records, labels, log=True)
    return lambda records, _: mechanism.likelihood(records, labels, log=True)[:, asked]


def _pooled(variable: Variable, asked: NDArray[np.intp]) -> LogLikelihood:
    """Return the reader of some answers of a closed domain, with the rest pooled.

    The rest reports what its answers report, weighed by their estimated frequencies: appendix D
    of [FPE16], where the other answers are known.
    """
    mechanism, labels = variable.mechanism, variable.labels
    rest, share = rest_shares(variable)
    weights = np.log(share)

    def read(records: Reports, _: int) -> Floats:
        logs = mechanism.likelihood(records, labels, log=True)
        # ln of sum_a share_a P(record | a) over the other answers a.
        pooled = np.logaddexp.reduce(logs[:, rest] + weights, axis=1)
        return np.column_stack([logs[:, asked], pooled])

    return read


def rest_shares(variable: Variable) -> tuple[NDArray[np.intp], Floats]:
    """Return the answers of a closed domain that are no candidates, and their shares among them."""
    mechanism = variable.mechanism
    rest = np.setdiff1d(np.arange(len(variable.answers)), np.array(variable.asked()))
    found = mechanism.estimate(mechanism.accumulate(variable.reports), variable.labels)
    # A little is added, so that the shares are defined and positive whatever was found.
    share = project(np.nan_to_num(found.frequency))[rest] + 1e-6
    return rest, np.asarray(share / share.sum())


def records_repeat(records: Reports) -> bool:
    """Tell whether a record occurs dozens of times, as far as some of them show."""
    keys = _profile_keys(records)
    return keys is not None and _repeat(keys, _OFTEN)


def _grouped(records: Reports) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the places of distinct records and each report's number among them; None if many."""
    keys = _profile_keys(records)
    return None if keys is None else _by_keys(keys)


def _profile_keys(records: Reports) -> NDArray[np.uint64] | None:
    """Return a number for each record, the same for equal ones; None for long records."""
    if records.dtype.itemsize > 8 or records.size == 0:
        return None
    keys = _keys(np.ascontiguousarray(records).view(np.uint8).reshape(records.size, -1))
    used = int(np.bitwise_or.reduce(keys))
    return keys >> np.uint64((used & -used).bit_length() - 1 if used else 0)


def _saying_the_same(
    variable: Variable, records: Reports
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the same of records that have one likelihood under each answer, but for a factor.

    Those that "(other)" tells apart are not: only that of local hashing is the same for all.
    """
    # With a hash function for each report, "(other)" is the same for all: local hashing alone.
    if records.size == 0 or (variable.other and not isinstance(variable.mechanism, OLH)):
        return None
    empty = variable.packed(records[:0])
    if empty is None or empty.packed.shape[1] > _MOST_BYTES:
        return None
    packed = variable.packed(records)
    if packed is None:
        return None
    keys = _keys(packed.packed)
    if packed.cohorts is not None:
        kinds, alike = np.unique(packed.scale, axis=0, return_inverse=True)
        keys *= np.uint64(len(kinds))
        keys += alike.reshape(-1).astype(np.uint64)[packed.cohorts]
    return _by_keys(keys)


def _keys(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows of at most 8 bytes as numbers."""
    raw = np.zeros((len(packed), 8), dtype=np.uint8)
    raw[:, : packed.shape[1]] = packed
    return raw.view("<u8").reshape(-1)


def _by_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the places of distinct keys and each one's number among them; None if many."""
    if int(keys.max()) < _DIRECT:
        return _numbered(keys.astype(np.intp))
    if not _repeat(keys, 2):
        return None
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    return first, codes


def _repeat(keys: NDArray[np.uint64], times: int) -> bool:
    """Tell from a sample whether keys occur often enough, on average.

    Among d equally frequent keys s of them have about s^2 / 2d repetitions.
    """
    sample = keys[:_SAMPLE]
    repeated = sample.size - np.unique(sample).size
    return bool(2 * repeated * keys.size >= times * sample.size**2)


def _numbered(keys: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the place of some report of each key, and each report's number, without sorting."""
    place = np.full(int(keys.max()) + 1, -1, dtype=np.intp)
    place[keys] = np.arange(keys.size)
    present = np.flatnonzero(place >= 0)
    number = np.empty_like(place)
    number[present] = np.arange(present.size)
    return place[present], number[keys]
