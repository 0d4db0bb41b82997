"""The pure step from a value to the record that leaves; clients, audits and vectors share it."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.client import memo
from deniable.client.encoders import Draws, encoder_for
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, Question, Sets
from deniable.protocol.domain import code_key
from deniable.protocol.prf import SECRET_BYTES
from deniable.protocol.unary import UnaryParameters


def encode(question: Question, value: object, secret: bytes, fresh: Draws) -> bytes:
    """Return the randomised record of `value`: its fields' records, one after the other.

    Guarantees: for one secret and value, everything but `fresh` is the same for ever. Where the
    question's repeat is "permanent", `fresh` is not drawn from.

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
        encode_field(question, field, answer, secret, fresh)
        for field, answer in zip(question.fields, answers, strict=True)
    )


def encode_field(
    question: Question, field: Field, answer: Answer, secret: bytes, fresh: Draws
) -> bytes:
    """Return one field's part of the record, with what is permanent derived from the secret."""
    cohort = memo.cohort_draws(secret, question, field)
    permanent = memo.permanent_draws(secret, question, field, answer)
    if question.repeat == "permanent":
        fresh = memo.report_draws(secret, question, field, answer)
    return encode_drawn(field, answer, cohort, permanent, fresh)


def encode_drawn(
    field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
) -> bytes:
    """Return a field's record from given draws: the step that proofs enumerate."""
    reported = one_member(field, answer, permanent if field.parameters.memoised else fresh)
    return encoder_for(field.parameters).encode(reported, cohort, permanent, fresh)


def one_member(field: Field, answer: Answer, draws: Draws) -> Answer:
    """Return the member of a set that is reported, drawn uniformly from its `most` places.

    Places without a member hold "none". Any other answer is returned as it is, and so are a set
    whose members have a bit each, and the absent answer.

    Guarantees: with a permanent response the draw must be permanent too, or the reports of one
    set would show several of its members.
    """
    domain, parameters = field.domain, field.parameters
    per_bit = isinstance(parameters, UnaryParameters) and parameters.members > 0
    if not isinstance(domain, Sets) or per_bit or answer.code >= 0:
        return answer
    place = draws.below(domain.most)
    code = answer.members[place] if place < len(answer.members) else len(domain.values)
    return Answer(code_key(code), code)
