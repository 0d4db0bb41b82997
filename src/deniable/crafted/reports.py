"""Crafted reports: records that support one answer as much, or as little, as a record can.

Model: whoever runs fake clients may send any record that the collector admits. What is in clear
(cohort, seed, coefficient) is drawn as honest clients draw it, but for a group: the last one
decides a whole answer. The rest that supports the target most follows from its kind:

    kind       most                            least
    Bits       exactly its bits                all bits but its own
    Symbol     its own symbol                  any other
    Sign       its sign                        the other sign
    Subset     a subset with it                one without it
    Points     a point of its hyperplane       one off it
    Product    that of each part
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import Channel, Public
from deniable.protocol.projective import inside_point, outside_point, vector_of
from deniable.protocol.rest import (
    Bits,
    Own,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    Value,
    as_mask,
    several,
    unknown_kind,
    whole,
)


def crafted_reports(
    parameters: Parameters,
    target: Answer,
    count: int,
    rng: np.random.Generator,
    *,
    hidden: bool = False,
    down: bool = False,
) -> bytes:
    """Return `count` crafted records, one after the other, each supporting the target most.

    Guarantees: the collector admits each of them.

    Args:
        parameters: of the mechanism.
        target: the answer to be pushed.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        hidden: with bits, draw the other bits as honest clients do, so that the number of ones
            gives nobody away; it gains less where strings are fitted together.
        down: support the target least instead.

    Raises:
        InvalidParameter: if the rest is of an unknown kind.
        InvalidReport: if the collector would refuse a record.
    """
    channel = parameters.channel

    def one() -> tuple[Public, Value]:
        public = drawn(channel, rng)
        own = channel.own(target, public)
        return public, said(channel.rest(public), own, rng, hidden=hidden, down=down)

    return joined(parameters, one, count)


def joined(parameters: Parameters, choose: Callable[[], tuple[Public, Value]], count: int) -> bytes:
    """Return records of what is chosen for each, one after the other.

    Raises:
        InvalidReport: if the collector would refuse a record.
    """
    records = [parameters.channel.record(*choose()) for _ in range(count)]
    for record in records:
        parameters.check_record(record)
    return b"".join(records)


def drawn(channel: Channel, rng: np.random.Generator) -> Public:
    """Return what a report says in clear, as honest clients draw it; the last of groups.

    Raises:
        InvalidParameter: if a number other than a group has no uniform law.
    """
    public: Public = ()
    for number in channel.numbers:
        counts = [count for count, _ in number.given(public)]
        if len(counts) > 1 and number.name != "group":
            raise InvalidParameter(f"There is no crafted report about a '{number.name}' yet.")
        chosen = sum(counts) - 1 if len(counts) > 1 else int(rng.integers(0, counts[0]))
        public = (*public, chosen)
    return public


def said(
    rest: Rest, own: Own, rng: np.random.Generator, *, hidden: bool = False, down: bool = False
) -> Value:
    """Return the value that supports an answer most, or least, given what is its own.

    Raises:
        InvalidParameter: if the rest is of an unknown kind.
    """
    if isinstance(rest, Product):
        each = zip(rest.parts, several(own), strict=True)
        return tuple(whole(said(one, o, rng, hidden=hidden, down=down)) for one, o in each)
    if isinstance(rest, Sign):
        if isinstance(own, tuple):
            raise unknown_kind("crafted sign", rest)
        return int((own < 0) ^ down)
    held = whole(own)
    if isinstance(rest, Symbol):
        return (held + int(rng.integers(1, rest.size))) % rest.size if down else held
    if isinstance(rest, Bits):
        others = (1 << rest.width) - 1 if down else 0
        if hidden:
            others = as_mask(np.flatnonzero(rng.random(rest.width) < float(rest.zero)).tolist())
        return others & ~held if down else others | held
    if isinstance(rest, Subset):
        free = rng.choice(rest.of - 1, size=rest.take - (not down), replace=False)
        others = as_mask([int(i) + (int(i) >= held) for i in free])
        return others if down else others | 1 << held
    if isinstance(rest, Points):
        vector = vector_of(held, rest.prime, rest.dimension)
        if down:
            return outside_point(vector, int(rng.integers(0, rest.outer)), rest.prime)
        return inside_point(vector, int(rng.integers(0, rest.inner)), rest.prime)
    raise unknown_kind("crafted report", rest)
