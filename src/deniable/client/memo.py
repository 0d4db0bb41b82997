"""Permanent draws: derived from the device's secret, never stored.

Every key is bound to the question's digest: a server that changed a question's integers under the
same version could otherwise have the same coins compared with other thresholds.
"""

from __future__ import annotations

from deniable.client.randomness import StreamDraws
from deniable.protocol import Answer, Field, Question
from deniable.protocol.prf import Stream, derive_key

TAG_BYTES = 16


def _info(purpose: bytes, question: Question, field: Field) -> tuple[bytes, ...]:
    return (
        purpose,
        question.id.encode(),
        question.version.to_bytes(4, "little"),
        question.digest,
        field.name.encode(),
    )


def cohort_draws(secret: bytes, question: Question, field: Field) -> StreamDraws:
    """Return the draws that are permanent for this device and field."""
    return StreamDraws(Stream(derive_key(secret, *_info(b"cohort", question, field))))


def permanent_draws(secret: bytes, question: Question, field: Field, answer: Answer) -> StreamDraws:
    """Return the draws that are permanent for this device, field and answer."""
    key = derive_key(secret, *_info(b"permanent", question, field), answer.key)
    return StreamDraws(Stream(key))


def report_draws(secret: bytes, question: Question, field: Field, answer: Answer) -> StreamDraws:
    """Return the draws that take the place of fresh ones where every report is permanent."""
    key = derive_key(secret, *_info(b"report", question, field), answer.key)
    return StreamDraws(Stream(key))


def tag(secret: bytes, question: Question, field: Field, answer: Answer) -> bytes:
    """Return the 16 bytes by which the ledger knows an answer again.

    Edge cases: whoever holds both the secret and the tags can test guesses; see SECURITY.md.
    """
    return derive_key(secret, *_info(b"tag", question, field), answer.key)[:TAG_BYTES]
