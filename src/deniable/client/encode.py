"""The pure step from a value to the record that leaves; clients, audits and vectors share it."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.client import memo
from deniable.client.encoders import Draws, encoder_for
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Question
from deniable.protocol.prf import SECRET_BYTES


def encode(question: Question, value: object, secret: bytes, fresh: Draws) -> bytes:
    """Return the randomised record of `value`: its fields' records, one after the other.

    Guarantees: for one secret and value, everything but `fresh` is the same for ever.

    Raises:
        InvalidAnswer: if the value is outside the question's domain; without the value.
        InvalidParameter: if the secret does not have 32 bytes.
    """
    return encode_answers(question, question.answers(value), secret, fresh)


def encode_answers(
    question: Question, answers: Sequence[Answer], secret: bytes, fresh: Draws
) -> bytes:
    """Return the randomised record of answers, one per field."""
    if len(secret) != SECRET_BYTES:
        raise InvalidParameter(f"A device's secret must have {SECRET_BYTES} bytes.")
    return b"".join(
        encoder_for(field.parameters).encode(
            answer,
            memo.cohort_draws(secret, question, field),
            memo.permanent_draws(secret, question, field, answer),
            fresh,
        )
        for field, answer in zip(question.fields, answers, strict=True)
    )
