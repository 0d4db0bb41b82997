"""The pure step from a value to the record that leaves; clients, audits and vectors share it.

Permanent draws are derived from the device's secret and never stored. Every key is bound to the
question's digest: a server that changed a question's integers under the same version could
otherwise have the same coins compared with other thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.client.encoders import Draws, encoder_for
from deniable.client.randomness import StreamDraws
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, Question, Sets, StringSets
from deniable.protocol.domain import ABSENT_KEY, code_key
from deniable.protocol.prf import SECRET_BYTES, DerivedStream, Stream, derive_key

TAG_BYTES = 16


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
        [
            encode_field(question, field, answer, secret, fresh)
            for field, answer in zip(question.fields, answers, strict=True)
        ]
    )


def encode_field(
    question: Question, field: Field, answer: Answer, secret: bytes, fresh: Draws
) -> bytes:
    """Return one field's part of the record, with what is permanent derived from the secret."""
    cohort = cohort_draws(secret, question, field)
    permanent = permanent_draws(secret, question, field, answer)
    if question.repeat == "permanent":
        fresh = _report_draws(secret, question, field, answer)
    return encode_drawn(field, answer, cohort, permanent, fresh)


def encode_drawn(
    field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
) -> bytes:
    """Return a field's record from given draws: the step that proofs enumerate."""
    reported = one_member(field, answer, permanent if field.parameters.memoised else fresh)
    return encoder_for(field.parameters).encode(reported, cohort, permanent, fresh)


def one_member(field: Field, answer: Answer, draws: Draws) -> Answer:
    """Return the member of a set that is reported, drawn uniformly from its `most` places.

    Places without a member hold "none", or the absent answer where it is a set of strings. Any
    other answer is returned as it is, and so are a set whose members have a bit each, and the
    absent answer.

    Guarantees: with a permanent response the draw must be permanent too, or the reports of one
    set would show several of its members.
    """
    domain, parameters = field.domain, field.parameters
    if isinstance(domain, StringSets) and answer.key[:1] == b"t":
        # A larger set takes as many places as it has members: `most` of them at random, and one of
        # these at random, is one of all at random.
        place = draws.below(max(domain.most, len(answer.texts)))
        return Answer(answer.texts[place] if place < len(answer.texts) else ABSENT_KEY)
    if not isinstance(domain, Sets) or parameters.per_member or answer.code >= 0:
        return answer
    place = draws.below(domain.most)
    code = answer.members[place] if place < len(answer.members) else len(domain.values)
    return Answer(code_key(code), code)


def _key(secret: bytes, purpose: bytes, question: Question, field: Field, *more: bytes) -> bytes:
    return derive_key(
        secret,
        purpose,
        question.id.encode(),
        question.version.to_bytes(4, "little"),
        question.digest,
        field.name.encode(),
        *more,
    )


def is_asked(secret: bytes, question: Question) -> bool:
    """Tell whether the device is among those that are asked: a coin of its secret.

    The coin's word depends on the id alone, so that a larger share keeps who was asked.
    """
    if question.asked is None:
        return True
    key = derive_key(secret, b"asked", question.id.encode())
    return StreamDraws(Stream(key)).coin(question.asked)


def cohort_draws(secret: bytes, question: Question, field: Field) -> StreamDraws:
    """Return the draws that are permanent for this device and field."""
    return StreamDraws(DerivedStream(lambda: _key(secret, b"cohort", question, field)))


def permanent_draws(secret: bytes, question: Question, field: Field, answer: Answer) -> StreamDraws:
    """Return the draws that are permanent for this device, field and answer."""
    return StreamDraws(
        DerivedStream(lambda: _key(secret, b"permanent", question, field, answer.key))
    )


def _report_draws(secret: bytes, question: Question, field: Field, answer: Answer) -> StreamDraws:
    """Return the draws that take the place of fresh ones where every report is permanent."""
    return StreamDraws(Stream(_key(secret, b"report", question, field, answer.key)))


def tag(secret: bytes, question: Question, field: Field, answer: Answer) -> bytes:
    """Return the 16 bytes by which the ledger knows an answer again.

    Edge cases: whoever holds both the secret and the tags can test guesses; see SECURITY.md.
    """
    return _key(secret, b"tag", question, field, answer.key)[:TAG_BYTES]
