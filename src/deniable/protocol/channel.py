"""The channel of a mechanism: what its reports are, said once, in exact fractions.

Model: a report is a public part and a rest. The *public* part is numbers in clear (a cohort, a
seed, a row, a coefficient, a table, ...), drawn without regard to the answer, each by a law that is
stated here. Given them, the *rest* is noise of one of the kinds of `protocol/rest.py` about what is
the answer's *own* there. Proofs, audits, plans and words are functions of these kinds. The encoders
in `client/encoders` are not: enumeration compares both (`tests/contracts`). No client loads this
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from deniable.errors import InvalidParameter
from deniable.protocol.domain import ABSENT_KEY, Answer, Domain, Sets, StringSets, code_key
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import Parameters
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

__all__ = [
    "Bits",
    "Blocks",
    "Channel",
    "Number",
    "Own",
    "Points",
    "Product",
    "Public",
    "Rest",
    "Sign",
    "Subset",
    "Symbol",
    "Value",
    "as_mask",
    "reported",
    "several",
    "uniform",
    "unknown_kind",
    "whole",
]

Public = tuple[int, ...]
"""The numbers that a report shows in clear."""
Blocks = tuple[tuple[int, Fraction], ...]
"""Consecutive numbers of equal probability: their count, and their probability together."""

_WHOLE = Fraction(1)


@frozen
class Number:
    """A number in clear, and the law by which it is drawn without regard to the answer.

    Attributes:
        name: as people read it: "cohort", "seed", "table", ...
        law: blocks of equal probability; or a function of the earlier numbers to them.
        permanent: True if a device draws it once for ever, else afresh for every report.
        means: what it says, for the people asked: "which half of all answers it is about". The
            numbers of our mechanisms have their words in `results/disclosure`.
    """

    name: str
    law: Blocks | Callable[[Public], Blocks]
    permanent: bool
    means: str = ""

    def __post_init__(self) -> None:
        if not callable(self.law) and not self.law:
            raise InvalidParameter(
                f"The number '{self.name}' of a report has no law.",
                "Say how it is drawn: uniform(name, count), or blocks of equal probability.",
            )

    def given(self, before: Public) -> Blocks:
        """Return the law, given the report's earlier numbers."""
        return self.law(before) if callable(self.law) else self.law

    @property
    def blocks(self) -> Blocks | None:
        """The law; None where it depends on the earlier numbers."""
        return None if callable(self.law) else self.law


@frozen
class Channel:
    """The reports of a mechanism with its parameters.

    Attributes:
        numbers: the public part, in the order in which it is drawn.
        kind: the rest with its probabilities; a function of the public part where it depends on it.
        own: from an answer and the public part to what is the answer's own there.
        layout: of the record. An item of a number's name holds it; the others hold the rest.
        digits: where the record is one symbol, its mixed radix: the sizes of all digits but the
            first, for the public numbers and then the rest; None where each has an item.
        examples: a public part for every different rest that occurs.
        direct: True if every answer has a symbol, bit, place or point of its own, the same whatever
            the public part; False where a hash function, a permutation or a table gives it one.
    """

    numbers: tuple[Number, ...]
    kind: Rest | Callable[[Public], Rest]
    own: Callable[[Answer, Public], Own]
    layout: Layout
    digits: tuple[int, ...] | None = None
    examples: tuple[Public, ...] = ()
    direct: bool = False

    def __post_init__(self) -> None:
        for number in self.numbers:
            total = sum(chance for _, chance in number.blocks or ((1, _WHOLE),))
            if total != 1:
                raise InvalidParameter(
                    f"The law of the '{number.name}' of a report must sum to 1. Got {total}."
                )
        if not callable(self.own):
            raise InvalidParameter(
                "A channel must say what is an answer's own in a report.",
                "Give it 'own', a function of an answer and the public part.",
            )
        self._check_layout()

    def _check_layout(self) -> None:
        """Raise InvalidParameter unless each item of the record is a number or a part of a rest."""
        items = [item.name for item in self.layout.items]
        missing = [name for name in self.names if name not in items and self.digits is None]
        parts = self.typical.parts if isinstance(self.typical, Product) else (self.typical,)
        if missing:
            raise InvalidParameter(f"The record has no item for the public number '{missing[0]}'.")
        if self.digits is None and len(self._rest_items) != len(parts):
            raise InvalidParameter(
                f"The record holds {_listed(items)}, of which the channel describes "
                f"{_listed(self.names)} and a rest of {len(parts)}: an item has no law.",
                "Add a number of its name, with the law by which it is drawn, or leave it out.",
            )

    def rest(self, public: Public) -> Rest:
        """Return the rest, given the public part."""
        return self.kind(public) if callable(self.kind) else self.kind

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the public numbers."""
        return tuple(number.name for number in self.numbers)

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """Every different rest that occurs."""
        return tuple(self.rest(public) for public in self.examples or ((0,) * len(self.numbers),))

    @cached_property
    def typical(self) -> Rest:
        """The first of them: the only one, where the rest does not depend on the public part."""
        return self.rests[0]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of outcomes of every public number; where it depends, after zeros."""
        none = (0,) * len(self.numbers)
        return tuple(sum(count for count, _ in number.given(none)) for number in self.numbers)

    @property
    def worst(self) -> Fraction | None:
        """The largest ratio of a report's chances under two answers; None if it is infinite."""
        return _largest(self.rests)

    @property
    def worst_forever(self) -> Fraction | None:
        """The same of all reports of one value: of the permanent stage; None if it is infinite."""
        stages = [rest.stages for rest in self.rests]
        return _largest([two[0] for two in stages if two]) if all(stages) else None

    def publics(self) -> Iterator[tuple[Public, Fraction]]:
        """Yield every public part with its probability; there may be millions."""
        return self._publics((), _WHOLE)

    def _publics(self, before: Public, chance: Fraction) -> Iterator[tuple[Public, Fraction]]:
        if len(before) == len(self.numbers):
            yield before, chance
            return
        first = 0
        for count, share in self.numbers[len(before)].given(before):
            for number in range(first, first + count) if share else ():
                yield from self._publics((*before, number), chance * share / count)
            first += count

    def read(self, items: Mapping[str, int | bytes]) -> tuple[Public, Value]:
        """Return the public part and the rest of an unpacked record."""
        if self.digits is None:
            public = tuple(whole(items[name]) for name in self.names)
            values = [_number(items[name]) for name in self._rest_items]
            return public, values[0] if len(values) == 1 else tuple(values)
        left, found = whole(items["symbol"]), []
        for size in reversed(self.digits):
            left, digit = divmod(left, size)
            found.append(digit)
        *public_part, value = (left, *reversed(found))
        return tuple(public_part), value

    def record(self, public: Public, value: Value) -> bytes:
        """Return the record of a public part and a rest."""
        if self.digits is None:
            packed: dict[str, int | bytes] = dict(zip(self.names, public, strict=True))
            values = value if isinstance(value, tuple) else (value,)
            for name, each in zip(self._rest_items, values, strict=True):
                count = self._widths[name]
                packed[name] = each.to_bytes(count, "little") if count else each
            return self.layout.pack(packed)
        symbol, *rest = (*public, whole(value))
        for size, digit in zip(self.digits, rest, strict=True):
            symbol = symbol * size + digit
        return self.layout.pack({"symbol": symbol})

    def chance(self, answer: Answer, public: Public, value: Value) -> Fraction:
        """Return P(the rest of a report | the answer and the public part)."""
        return self.rest(public).chance(self.own(answer, public), value)

    def law(self, answer: Answer) -> dict[bytes, Fraction]:
        """Return the probability of every record that an answer can send; for small channels."""
        found: dict[bytes, Fraction] = {}
        for public, drawn in self.publics():
            rest, own = self.rest(public), self.own(answer, public)
            for value in rest.values():
                chance = drawn * rest.chance(own, value)
                if chance:
                    found[self.record(public, value)] = chance
        return found

    @cached_property
    def _widths(self) -> dict[str, int]:
        return {item.name: item.count for item in self.layout.items}

    @cached_property
    def _rest_items(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.layout.items if item.name not in self.names)


def reported(
    domain: Domain, parameters: Parameters, answer: Answer
) -> list[tuple[Answer, Fraction]]:
    """Return the answers that stand for an answer in a report, each with its chance.

    A set is reported by one of its `most` places, drawn uniformly, where "none of them" (of strings
    the absent answer) holds the places without a member; of a larger set of strings, one of its
    members. Any other answer stands for itself; so does a set with a bit for each of its members,
    and the absent answer.
    """
    if isinstance(domain, StringSets) and answer.key[:1] == b"t":
        places = max(domain.most, len(answer.texts))
        keys = (*answer.texts, *(ABSENT_KEY,) * (places - len(answer.texts)))
        return [(Answer(key), Fraction(1, places)) for key in keys]
    if not isinstance(domain, Sets) or parameters.per_member or answer.code >= 0:
        return [(answer, _WHOLE)]
    empty = (len(domain.values),) * (domain.most - len(answer.members))
    each = Fraction(1, domain.most)
    return [(Answer(code_key(code), code), each) for code in (*answer.members, *empty)]


def uniform(name: str, count: int, *, permanent: bool = False, means: str = "") -> Number:
    """Return a number that is uniform below `count`; drawn afresh for every report by default."""
    return Number(name, ((count, _WHOLE),), permanent, means)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"


def _number(item: int | bytes) -> int:
    return int.from_bytes(item, "little") if isinstance(item, bytes) else item


def _largest(rests: Sequence[Rest]) -> Fraction | None:
    found = [rest.worst for rest in rests]
    known = [ratio for ratio in found if ratio is not None]
    return max(known) if len(known) == len(found) else None
