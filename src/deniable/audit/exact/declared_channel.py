"""The channel that a mechanism declares, compared with what its encoder does.

Attackers, costs, plans and the words for the people asked are computed from the channel
(protocol/channel.py), so that a channel that is not the encoder's would make all of them wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Answer, Field
from deniable.protocol.channel import Bits, Product, Public, Value, reported, several, whole


def check_declared(field: Field, laws: Mapping[Answer, Mapping[bytes, Fraction]]) -> None:
    """Compare the law of every answer's records with the channel's, probability by probability.

    Args:
        field: whose mechanism is looked at.
        laws: from each answer to the probability of every record that the encoder can send.

    Raises:
        InvalidParameter: if the channel states another probability of some record, or does not say
            what is an answer's own; or if the collector would refuse a record.
    """
    parameters, channel = field.parameters, field.parameters.channel
    for answer, law in laws.items():
        check_records(field, list(law))
        stated: dict[bytes, Fraction] = {}
        for member, drawn in reported(field.domain, parameters, answer):
            for public, _ in channel.publics():
                check_own(field, member, public)
            for record, chance in channel.law(member).items():
                stated[record] = stated.get(record, Fraction(0)) + drawn * chance
        if stated != law:
            raise _differs(field, "a record")


def check_chance(
    field: Field, answer: Answer, public: Public, value: Value, chance: Fraction
) -> None:
    """Compare one probability, given the public part, as `check_declared` does."""
    check_own(field, answer, public)
    if field.parameters.channel.chance(answer, public, value) != chance:
        raise _differs(field, "a record")


def check_bits(
    field: Field, answer: Answer, public: Public, chances: Sequence[Sequence[Fraction]]
) -> None:
    """Compare the probability of every bit of every row of a report, as `check_declared` does."""
    channel = field.parameters.channel
    check_own(field, answer, public)
    rest, own = channel.rest(public), channel.own(answer, public)
    rows, owns = (rest.parts, several(own)) if isinstance(rest, Product) else ((rest,), (own,))
    for row, mine, found in zip(rows, owns, chances, strict=True):
        if isinstance(row, Bits) and list(found) != [
            row.one if whole(mine) >> place & 1 else row.zero for place in range(row.width)
        ]:
            raise _differs(field, "a bit")


def _differs(field: Field, what: str) -> InvalidParameter:
    return InvalidParameter(
        f"The channel of {field.parameters.mechanism} states another probability of {what} than "
        "its encoder has."
    )


def check_own(field: Field, answer: Answer, public: Public) -> None:
    """Raise InvalidParameter unless what is an answer's own is possible in a report's rest."""
    channel = field.parameters.channel
    rest, own = channel.rest(public), channel.own(answer, public)
    if not rest.holds(own):
        raise InvalidParameter(
            f"The channel of {field.parameters.mechanism} gives an answer no own place: what it "
            f"calls its own cannot be one of a report of the kind '{type(rest).__name__}'."
        )


def check_records(field: Field, records: Sequence[bytes]) -> None:
    """Raise InvalidParameter unless the collector admits every record."""
    try:
        for record in records:
            field.parameters.check_record(record)
    except InvalidReport as error:
        raise InvalidParameter(
            f"The encoder of {field.parameters.mechanism} makes a record that the collector "
            f"refuses: {error}"
        ) from None
