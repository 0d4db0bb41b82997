"""Segments: declared labels of a device that travel in clear beside the record.

Epsilon does not cover them: whoever reads the wire or an open epoch sees them exactly. They are in
no digest, so that a new value redraws no noise. A *combination* is a value of each segment that a
question names; its text is canonical JSON, the same on the wire, in an outbox and in a store, and
its number is its place in `combinations`, one byte in the compact form.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import product

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.frozen import frozen
from deniable.protocol.question import FIELD_NAME, WHOLE

OTHER = "(other)"
"""The value of a device whose own is not declared."""
SMALL = "(small)"
"""Takes the place of the values of a combination that too few people share, when an epoch closes.
No report carries it."""
MAX_SEGMENTS = 3
"""The most segments of a question."""
MAX_COMBINATIONS = 64
"""The most combinations of a question's segments and levels."""
NO_COMBINATION = 255
"""The number that stands for a question without segments."""
SEGMENT_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}")
_NUMBERING_PREFIX = b"deniable/v1/segments\n"


@frozen
class Segment:
    """A declared segment.

    Attributes:
        name: its name.
        values: the declared values; `(other)` is implied.
        shares: the expected share of people with each value, in millionths; the rest is other.
            Empty where all, the others included, are taken to be equally many.
    """

    name: str
    values: tuple[str, ...]
    shares: tuple[int, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Every value that a report may carry, `(other)` last."""
        return (*self.values, OTHER)

    @property
    def expected(self) -> tuple[float, ...]:
        """The expected share of people with each of the labels."""
        if not self.shares:
            return (1 / len(self.labels),) * len(self.labels)
        return tuple(share / WHOLE for share in (*self.shares, WHOLE - sum(self.shares)))

    def published(self) -> dict[str, Json]:
        """Return the segment as it stands in survey.json."""
        told: dict[str, Json] = {"name": self.name, "values": list(self.values)}
        return {**told, "shares": list(self.shares)} if self.shares else told


def combination_text(values: Mapping[str, str]) -> str:
    """Return the text of a combination: canonical JSON. Nothing in it needs an escape."""
    return canonical(dict(values)).decode("ascii")


def combinations(segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return the texts of all combinations in the order of their numbers.

    The values of the last segment change fastest, each in the order of the survey, `(other)` last.
    """
    names = [segment.name for segment in segments]
    return tuple(
        combination_text(dict(zip(names, values, strict=True)))
        for values in product(*(segment.labels for segment in segments))
    )


def own_combination(segments: Sequence[Segment], told: Mapping[str, str]) -> str:
    """Return the text of a device's combination; what is not declared becomes `(other)`."""
    values = {}
    for segment in segments:
        value = told.get(segment.name, OTHER)
        values[segment.name] = value if value in segment.values else OTHER
    return combination_text(values)


def small_combination(text: str) -> str:
    """Return the text that takes a combination's place when too few people share it."""
    return combination_text(dict.fromkeys(json.loads(text), SMALL))


def numbering(segments: Sequence[Segment]) -> bytes:
    """Return 4 bytes that tell whether two parties number the combinations alike.

    A new value moves the numbers, and no digest shows it: whoever sends a number sends these too.
    """
    told = [[segment.name, list(segment.values)] for segment in segments]
    return hashlib.sha256(_NUMBERING_PREFIX + canonical(told)).digest()[:4]


def read_combination(data: object) -> str:
    """Read the `segments` of a report and return their text.

    Raises:
        InvalidReport: with reason "schema".
    """
    few = isinstance(data, dict) and 1 <= len(data) <= MAX_SEGMENTS
    told = data if few and isinstance(data, dict) else {"": ""}
    if not all(_is_told(name, value) for name, value in told.items()):
        raise InvalidReport(
            "schema",
            f"'segments' must be an object of 1 to {MAX_SEGMENTS} members whose names match "
            f"{FIELD_NAME.pattern} and whose values match {SEGMENT_VALUE.pattern} or are {OTHER}.",
        )
    return combination_text(told)


def _is_told(name: object, value: object) -> bool:
    named = isinstance(name, str) and FIELD_NAME.fullmatch(name) is not None
    return named and isinstance(value, str) and (value == OTHER or is_segment_value(value))


def is_segment_value(value: str) -> bool:
    """Tell whether a segment may have this value: up to 64 plain ASCII characters."""
    return SEGMENT_VALUE.fullmatch(value) is not None


def read_segments(raw: object) -> tuple[Segment, ...]:
    """Read the `segments` of survey.json.

    Raises:
        InvalidParameter: if they are not as a survey is published.
    """
    if not isinstance(raw, list) or not raw:
        raise InvalidParameter("The segments of a survey must be a list of at least one.")
    read = tuple(_read_segment(entry) for entry in raw)
    names = [segment.name for segment in read]
    if names != sorted(set(names)):
        raise InvalidParameter("The segments of a survey must be sorted by name, each name once.")
    return read


def _read_segment(raw: object) -> Segment:
    members = {"name", "values"}
    if not isinstance(raw, dict) or not members <= set(raw) <= members | {"shares"}:
        raise InvalidParameter("A segment must be an object with name, values and perhaps shares.")
    name, values = raw["name"], raw["values"]
    if not (isinstance(name, str) and FIELD_NAME.fullmatch(name)):
        raise InvalidParameter(f"A segment's 'name' must match {FIELD_NAME.pattern}.")
    return Segment(name, check_values(values), check_shares(raw.get("shares"), len(values)))


def check_values(values: object) -> tuple[str, ...]:
    """Return the declared values of a segment, else raise InvalidParameter."""
    if not isinstance(values, list) or not 1 <= len(values) < MAX_COMBINATIONS:
        raise InvalidParameter(
            f"A segment's 'values' must be a list of 1 to {MAX_COMBINATIONS - 1} strings."
        )
    if not all(isinstance(value, str) and is_segment_value(value) for value in values):
        raise InvalidParameter(f"A segment's 'values' must match {SEGMENT_VALUE.pattern}.")
    if len(set(values)) < len(values):
        raise InvalidParameter("A segment's 'values' must differ.")
    return tuple(values)


def check_shares(shares: object, values: int) -> tuple[int, ...]:
    """Return the shares of a segment's values in millionths, else raise InvalidParameter."""
    if shares is None:
        return ()
    listed = shares if isinstance(shares, list) else []
    if len(listed) != values or not all(type(share) is int and share >= 0 for share in listed):
        raise InvalidParameter(
            "A segment's 'shares' must be integers from 0, one for each of its values."
        )
    if sum(listed) > WHOLE:
        raise InvalidParameter(f"A segment's 'shares' must add up to at most {WHOLE:,}.")
    return tuple(listed)


def chosen_segments(raw: object, declared: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments that a question of survey.json names.

    Raises:
        InvalidParameter: if one is not declared, or they are too many.
    """
    known = {segment.name: segment for segment in declared}
    if not isinstance(raw, list) or not 1 <= len(raw) <= MAX_SEGMENTS:
        raise InvalidParameter(
            f"The segments of a question must be a list of 1 to {MAX_SEGMENTS} names."
        )
    if not all(isinstance(name, str) and name in known for name in raw):
        raise InvalidParameter("The segments of a question must be declared by the survey.")
    if len(set(raw)) < len(raw):
        raise InvalidParameter("The segments of a question must be different ones.")
    return tuple(known[name] for name in raw)


def check_combinations(segments: Sequence[Segment], levels: int) -> int:
    """Return the number of combinations of segments and levels, else raise InvalidParameter."""
    number = math.prod(len(segment.labels) for segment in segments) * max(1, levels)
    return _validate.integer(
        "segments", "a question (values times levels)", number, 1, MAX_COMBINATIONS
    )
