"""Candidates as people write them (strings, labels, codes, ABSENT) to keys, labels and codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.mechanisms.base import (
    Candidate,
    Candidates,
    Code,
    Values,
)
from deniable.mechanisms.hashing import Words, fingerprints
from deniable.protocol.domain import ABSENT, ABSENT_KEY, Absent, code_key, string_key

ABSENT_LABEL = "(absent)"
_NAMED = 5
NO_WORDS: Words = np.empty((0, 2), dtype=np.uint64)
"""The fingerprints of a closed domain, whose answers are known by their codes."""


def label_of(candidate: Candidate) -> str:
    """Return how a candidate is written in an estimate."""
    return ABSENT_LABEL if isinstance(candidate, Absent) else str(candidate)


def named(labels: Sequence[str], places: NDArray[np.intp]) -> str:
    """Return the labels at some places as a message names them: the first ones, and the number."""
    first = ", ".join(repr(labels[place])[:40] for place in places[:_NAMED])
    return first + (f" and {places.size - _NAMED:,} more" if places.size > _NAMED else "")


def every_code(size: int, absent: bool) -> list[Candidate]:
    """Return all answers of a closed domain, as candidates of a hashed mechanism."""
    codes: list[Candidate] = [Code(number) for number in range(size)]
    return [*codes, ABSENT] if absent else codes


def closed_labels(candidates: Candidates, default: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a closed domain: the given ones, or else the default.

    Raises:
        InvalidParameter: unless there is one label per answer.
    """
    check_is_list(candidates)
    if candidates is None:
        return tuple(default)
    labels = tuple(label_of(candidate) for candidate in candidates)
    if len(labels) != len(default):
        raise InvalidParameter(
            f"A closed domain of {len(default)} answers needs that many labels. Got {len(labels)}: "
            "list every answer in order, or leave 'candidates' out."
        )
    return labels


def check_is_list(candidates: object, name: str = "Candidates") -> None:
    """Refuse one string where a list of strings is wanted: it would be read letter by letter.

    Args:
        candidates: what was given.
        name: of that in the message.

    Raises:
        InvalidParameter: if it is a string or bytes.
    """
    if isinstance(candidates, str | bytes):
        raise InvalidParameter(
            f"{name} must be a list of strings. Got one string: put it into a list."
        )


def open_keys(candidates: Candidates) -> list[bytes]:
    """Return the canonical bytes of candidate strings.

    Raises:
        InvalidParameter: if there are none, if one cannot be an answer, or if two are the same
            string after normalisation (NFC).
    """
    check_is_list(candidates)
    if candidates is None or len(candidates) == 0:
        raise InvalidParameter(
            "Strings cannot be listed from reports: pass at least one candidate to test for."
        )
    keys = [_key(candidate, place) for place, candidate in enumerate(candidates)]
    _refuse_repeats(keys)
    return keys


def _key(candidate: object, place: int) -> bytes:
    if isinstance(candidate, Absent):
        return ABSENT_KEY
    if isinstance(candidate, Code):
        return code_key(candidate.number)
    if not isinstance(candidate, str):
        raise InvalidParameter(
            f"Candidate {place} must be a string or ABSENT. Got {type(candidate).__name__}."
        )
    try:
        return string_key(candidate)
    except InvalidAnswer as error:
        raise InvalidParameter(f"Candidate {place} cannot be an answer: {error}") from None


def _refuse_repeats(items: Sequence[str | bytes]) -> None:
    first: dict[str | bytes, int] = {}
    for place, item in enumerate(items):
        if item in first:
            raise InvalidParameter(
                f"Candidates {first[item]} and {place} are the same (strings are compared in NFC): "
                "list each once."
            )
        first[item] = place


def codes_of(values: Values, size: int, candidates: Candidates) -> NDArray[np.int64]:
    """Return values as codes below `size`; strings are looked up among the candidates' labels.

    Raises:
        InvalidParameter: if a value is no code of the domain; the value itself is not shown.
    """
    codes = np.asarray(values)
    if codes.dtype.kind in "UOT" and codes.size:
        if candidates is None:
            raise InvalidParameter("Values that are strings need their list in 'candidates'.")
        labels = [label_of(candidate) for candidate in candidates]
        _refuse_repeats(labels)
        place = {label: code for code, label in enumerate(labels)}
        codes = np.array([place.get(label_of(value), -1) for value in codes.tolist()])
    if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iub"):
        raise InvalidParameter("Values must be a flat sequence of strings or of integer codes.")
    if codes.size and not (int(codes.min()) >= 0 and int(codes.max()) < size):
        raise InvalidParameter(
            f"Every value must be a code from 0 to {size - 1}, or a string of the list."
        )
    return codes.astype(np.int64)


def words_of(values: Values, candidates: Candidates) -> tuple[Words, NDArray[np.int64]]:
    """Return fingerprints of distinct strings, and for each value the row that is its own.

    Cost: one SHA-256 per distinct string, one dictionary look-up per value.
    """
    keys, codes = keys_of(values, candidates)
    return fingerprints(keys), codes


def keys_of(values: Values, candidates: Candidates) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return the canonical bytes of distinct strings, and for each value the place of its own."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return _keys_of_codes(values, candidates)
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    if len(listed) and isinstance(listed[0], int | np.integer):
        return _keys_of_codes(np.asarray(listed), candidates)
    rows: dict[object, int] = {}
    codes = np.fromiter(
        (rows.setdefault(value, len(rows)) for value in listed), np.int64, len(listed)
    )
    return [_key(value, place) for value, place in rows.items()], codes


def _keys_of_codes(codes: Values, candidates: Candidates) -> tuple[list[bytes], NDArray[np.int64]]:
    if candidates is None:
        raise InvalidParameter("Codes of strings need their list in 'candidates'.")
    keys = open_keys(candidates)
    return keys, codes_of(codes, len(keys), None)


def answers_asked(answers: int, candidates: Candidates) -> tuple[tuple[str, ...], Words]:
    """Return labels, and the fingerprints of strings; none for the answers of a closed domain.

    Args:
        answers: the number of answers of a closed domain; 0 for strings.
        candidates: the strings, or the labels of the domain, which may be left out.
    """
    if answers:
        return closed_labels(candidates, [str(code) for code in range(answers)]), NO_WORDS
    words = fingerprints(open_keys(candidates))
    return tuple(label_of(candidate) for candidate in candidates or ()), words
