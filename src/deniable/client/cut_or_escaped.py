"""Strings that were cut or escaped on their way to an answer: only the device knows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deniable.protocol import Answer, Question, Strings
from deniable.protocol.domain import string_key

FITTED = "fitted"
"""Counted on the device, per question: a string was reported, but cut off or with other characters
replaced, as its domain declares. No report tells."""


def was_fitted(question: Question, value: object, answers: Sequence[Answer]) -> bool:
    """Tell whether an answer is another string than the value was."""
    for field, answer in zip(question.fields, answers, strict=True):
        text = value.get(field.name) if isinstance(value, Mapping) else value
        declared = isinstance(field.domain, Strings) and bool(field.domain.alphabet)
        if declared and isinstance(text, str) and string_key(text) != answer.key:
            return True
    return False
