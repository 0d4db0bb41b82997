"""The channel that a mechanism declares, compared with what its encoder does.

Attackers, costs, plans and the words for the people asked are computed from the channel
(protocol/channel.py), so that a channel that is not the encoder's would make all of them wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod

from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Answer, Field, Profile
from deniable.protocol.channel import (
    Bits,
    Channel,
    Points,
    Product,
    Public,
    Sign,
    Subset,
    Symbol,
    Value,
    reported,
    several,
    unknown_kind,
    whole,
)

MOST_PUBLIC = 4_096
"""The largest number of public parts that are looked at, each for two answers."""


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


def check_support(field: Field, answers: Sequence[Answer]) -> None:
    """Compare the two chances of support with the channel's, where the channel gives them.

    Estimates, plans and the leverage of crafted reports follow from the two. The second one is an
    average over hash functions where there are any, and is not compared there.

    Raises:
        InvalidParameter: if one of them is another number.
    """
    parameters, channel = field.parameters, field.parameters.channel
    if isinstance(field.domain, Profile):  # cells of tables are estimated, not single answers
        return
    stated, found = parameters.support, _support(channel, answers)
    for what, one, other in zip(("its sender's", "another"), stated, found, strict=True):
        if other is not None and one != other:
            raise InvalidParameter(
                f"The support of {parameters.mechanism} is not its channel's: a report supports "
                f"{what} answer with probability {float(other):.9f}. Stated is {float(one):.9f}."
            )


def _support(
    channel: Channel, answers: Sequence[Answer]
) -> tuple[Fraction | None, Fraction | None]:
    """Return P(a report supports its sender's answer), and a given other one; None if not known."""
    rest = channel.typical
    match rest:
        case Bits():
            return rest.one, rest.zero
        case Symbol():
            return rest.keep, rest.move if channel.direct else None
        case Subset():
            return rest.include, (rest.take - rest.include) / (rest.of - 1)
        case Points() if channel.direct:
            # A point of the own plane lies on another one if both share it; so of all others.
            both, one = Fraction(rest.shared, rest.inner), rest.inner - rest.shared
            return rest.inside, rest.inside * both + (1 - rest.inside) * one / rest.outer
        case Points():
            return rest.inside, None
        case Sign():
            return rest.keep, _agreeing(channel, rest, answers[:2])
        case Product():
            return None, None
    raise unknown_kind("support", rest)


def _agreeing(channel: Channel, rest: Sign, pair: Sequence[Answer]) -> Fraction | None:
    """Return P(a report has the sign of another answer), for two of them; None if they are hashed.

    With s and v their numbers, that is (1 + gap E[s v])/2, over the public part.
    """
    if len(channel.numbers) > 1 or len(pair) < 2 or prod(channel.sizes) > MOST_PUBLIC:
        return None
    mean = Fraction(0)
    for public, chance in channel.publics():
        one, other = (whole(channel.own(answer, public)) for answer in pair)
        mean += chance * one * other
    return (1 + rest.gap * mean) / 2
