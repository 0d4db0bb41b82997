"""The kinds of noise in a report, a closed set: what it says about an answer's own, exactly.

    kind      own                               value                 P(value | own)
    Bits      the set of bits that are true     a set of bits         one or zero for every bit
    Symbol    one of `size` symbols             a symbol              keep, or (1 - keep)/(size - 1)
    Sign      a number from -1 to 1             0 for +1, 1 for -1    (1 +- gap own)/2
    Subset    one of `of` places                `take` of the places  by whether it has the own one
    Points    a point of a geometry             a point               by whether it is on its plane
    Product   one of each part                  one of each part      the parts' chances multiplied

Sets of bits and of places are integers, bit i at weight 2^i.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product

from deniable.errors import InvalidParameter
from deniable.protocol.frozen import frozen
from deniable.protocol.projective import points_below, vector_of

Own = int | Fraction | tuple[int, ...]
"""The answer's own symbol, set of bits, place, point or sign; of a product, one of each part."""
Value = int | tuple[int, ...]
"""The rest of a report, beside its public part; of a product, one of each part."""

_WHOLE = Fraction(1)


class Rest(ABC):
    """One kind of noise. The set of kinds is closed: `unknown_kind` says so of any other."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of values."""

    @abstractmethod
    def values(self) -> Iterator[Value]:
        """Yield every value, rising."""

    @abstractmethod
    def chance(self, own: Own, value: Value) -> Fraction:
        """Return P(value | own)."""

    @abstractmethod
    def holds(self, own: object) -> bool:
        """Tell whether something can be an answer's own here."""

    @abstractmethod
    def flat(self, value: Value) -> Fraction:
        """Return P(value) where the own is unknown: uniform over places, symbols, signs, points."""

    @property
    @abstractmethod
    def worst(self) -> Fraction | None:
        """The largest ratio of a value's chances under two owns; None if it is infinite."""

    @property
    def stages(self) -> tuple[Rest, Rest] | None:
        """The permanent stage, and the fresh one given its outcome; None where all is fresh."""
        return None


@frozen
class Bits(Rest):
    """A row of bits, each with coins of its own.

    Attributes:
        one, zero: P(a bit is reported as 1), if it is the answer's own and if it is not.
        width: the number of bits.
        most: the most bits that an answer sets.
        drawn: the number of uniform draws that choose an answer's bits: 1 where every answer has
            one bit, h where h hash functions choose them; 0 where it may be any set of `most`.
        two: the permanent stage and the fresh one, where there are two; their chain is the above.
    """

    one: Fraction
    zero: Fraction
    width: int
    most: int
    drawn: int
    two: tuple[Bits, Bits] | None = None

    @property
    def stages(self) -> tuple[Bits, Bits] | None:
        """The permanent stage, and the fresh one."""
        return self.two

    @property
    def count(self) -> int:
        """2 for every bit."""
        return 1 << self.width

    def values(self) -> Iterator[int]:
        """Yield every set of bits."""
        return iter(range(self.count))

    def chance(self, own: Own, value: Value) -> Fraction:
        """The bits' chances multiplied: counted by kind of bit."""
        held, shown, every = whole(own), whole(value), (1 << self.width) - 1
        hits, extra = (shown & held).bit_count(), (shown & ~held).bit_count()
        kept, free = (held & every).bit_count(), (every & ~held).bit_count()
        ours = self.one**hits * (1 - self.one) ** (kept - hits)
        return ours * self.zero**extra * (1 - self.zero) ** (free - extra)

    def holds(self, own: object) -> bool:
        """A set of at most as many bits as an answer sets."""
        return isinstance(own, int) and 0 <= own < self.count and own.bit_count() <= self.most

    def flat(self, value: Value) -> Fraction:
        """The mean over all bits that the uniform draws may choose.

        The draws give d distinct bits, any d of them as likely: of w reported ones j are own with
        probability C(w, j) C(k - w, d - j) / C(k, d).

        Raises:
            InvalidParameter: where answers set any number of bits, so that nothing is known.
        """
        if self.drawn == 0:
            raise InvalidParameter(
                "Bits have no flat law where an answer may set any number of them."
            )
        ones, total, chances = whole(value).bit_count(), Fraction(0), {0: _WHOLE}
        for _ in range(self.drawn):  # one more draw hits a chosen bit, or another one
            chances = {
                d: chances.get(d, Fraction(0)) * Fraction(d, self.width)
                + chances.get(d - 1, Fraction(0)) * Fraction(self.width - d + 1, self.width)
                for d in range(min(self.drawn, self.width) + 1)
            }
        for d, chance in chances.items():
            for j in range(max(0, d - self.width + ones), min(d, ones) + 1):
                ways = math.comb(ones, j) * math.comb(self.width - ones, d - j)
                own = self.one**j * (1 - self.one) ** (d - j)
                free = self.zero ** (ones - j) * (1 - self.zero) ** (self.width - ones - d + j)
                total += chance * Fraction(ways, math.comb(self.width, d)) * own * free
        return total

    @cached_property
    def worst(self) -> Fraction | None:
        """Two answers differ in up to a bits one way and b the other, each at most `most`."""
        low, high = sorted((self.zero, self.one))
        if low == 0 or high == 1:
            return None if low != high else _WHOLE
        # A bit that only one answer sets has the ratio `up` at 1; one of the other's has `down` at
        # 0 (docs/mathematics.md, section 1). Both are above 1, so that as many as can differ do.
        up, down = high / low, (1 - low) / (1 - high)
        more, fewer = self.differ
        return max(up**more * down**fewer, up**fewer * down**more)

    @property
    def differ(self) -> tuple[int, int]:
        """The most bits that only one of two answers sets, and that only the other sets beside."""
        more = min(self.most, self.width)
        return more, min(self.most, self.width - more)


@frozen
class Symbol(Rest):
    """k-RR: the own symbol with probability `keep`, else one of the others, uniformly.

    Attributes:
        keep: P(the own symbol is sent).
        size: the number of symbols.
        two: the permanent stage and the fresh one, where there are two; their chain is the above.
    """

    keep: Fraction
    size: int
    two: tuple[Symbol, Symbol] | None = None

    @property
    def stages(self) -> tuple[Symbol, Symbol] | None:
        """The permanent stage, and the fresh one."""
        return self.two

    @property
    def move(self) -> Fraction:
        """P(a given other symbol is sent)."""
        return (1 - self.keep) / (self.size - 1)

    @property
    def count(self) -> int:
        """The number of symbols."""
        return self.size

    def values(self) -> Iterator[int]:
        """Yield every symbol."""
        return iter(range(self.size))

    def chance(self, own: Own, value: Value) -> Fraction:
        """Keep, or move to one of the others."""
        return self.keep if value == own else self.move

    def holds(self, own: object) -> bool:
        """One of the symbols."""
        return own in range(self.size)

    def flat(self, value: Value) -> Fraction:
        """Every symbol is as likely."""
        return Fraction(1, self.size)

    @property
    def worst(self) -> Fraction | None:
        """The ratio keep / move, or its inverse."""
        if self.keep in (0, 1):
            return None
        ratio = self.keep / self.move
        return max(ratio, 1 / ratio)


@frozen
class Sign(Rest):
    """One sign whose mean is `gap` times the answer's own number from -1 to 1.

    Attributes:
        gap: P(the sign) - P(the opposite), of an answer whose own number is a sign.
    """

    gap: Fraction

    @property
    def keep(self) -> Fraction:
        """P(the true sign), of an answer whose own number is a sign."""
        return (1 + self.gap) / 2

    @property
    def count(self) -> int:
        """Two signs."""
        return 2

    def values(self) -> Iterator[int]:
        """Yield 0 for +1, then 1 for -1."""
        return iter((0, 1))

    def chance(self, own: Own, value: Value) -> Fraction:
        """A coin that leans by the own number."""
        if isinstance(own, tuple):
            raise _not_a("number from -1 to 1", own)
        return (1 + (self.gap if value == 0 else -self.gap) * own) / 2

    def holds(self, own: object) -> bool:
        """A number from -1 to 1."""
        return isinstance(own, int | Fraction) and -1 <= own <= 1

    def flat(self, value: Value) -> Fraction:
        """Either sign."""
        return Fraction(1, 2)

    @property
    def worst(self) -> Fraction | None:
        """The odds of the coin."""
        return (1 + self.gap) / (1 - self.gap) if self.gap < 1 else None


@frozen
class Subset(Rest):
    """`take` of `of` places, the own one among them with probability `include`; others uniform.

    Attributes:
        include: P(the own place is among them).
        take: the number of places in every report.
        of: the number of places.
    """

    include: Fraction
    take: int
    of: int

    @property
    def count(self) -> int:
        """The number of sets."""
        return math.comb(self.of, self.take)

    def values(self) -> Iterator[int]:
        """Yield every set, those of low places first."""
        for chosen in combinations(range(self.of), self.take):
            yield sum(1 << place for place in chosen)

    def chance(self, own: Own, value: Value) -> Fraction:
        """All sets with the own place are as likely, and so are all without it."""
        if whole(value) >> whole(own) & 1:
            return self.include / math.comb(self.of - 1, self.take - 1)
        return (1 - self.include) / math.comb(self.of - 1, self.take)

    def holds(self, own: object) -> bool:
        """One of the places."""
        return own in range(self.of)

    def flat(self, value: Value) -> Fraction:
        """Every set is as likely."""
        return Fraction(1, self.count)

    @property
    def worst(self) -> Fraction | None:
        """A set with the own place against one without it."""
        if self.include in (0, 1):
            return None
        ratio = self.include / (1 - self.include) * Fraction(self.of - self.take, self.take)
        return max(ratio, 1 / ratio)


@frozen
class Points(Rest):
    """A point of the own point's hyperplane with probability `inside`, else one off it.

    Attributes:
        inside: P(the point is on the own point's hyperplane).
        prime: q, of the geometry over F_q.
        dimension: t, of its vectors (protocol/projective.py).
    """

    inside: Fraction
    prime: int
    dimension: int

    @cached_property
    def count(self) -> int:
        """The number of points."""
        return points_below(self.prime, self.dimension)

    @cached_property
    def inner(self) -> int:
        """The number of points of a hyperplane."""
        return points_below(self.prime, self.dimension - 1)

    @cached_property
    def outer(self) -> int:
        """The number of points off a hyperplane."""
        return self.count - self.inner

    @cached_property
    def shared(self) -> int:
        """The number of points that two hyperplanes have in common."""
        return points_below(self.prime, self.dimension - 2)

    def on_plane(self, own: int, point: int) -> bool:
        """Tell whether a point lies on the hyperplane of the own one: <own, point> = 0."""
        one, other = (vector_of(p, self.prime, self.dimension) for p in (own, point))
        return sum(a * b for a, b in zip(one, other, strict=True)) % self.prime == 0

    def values(self) -> Iterator[int]:
        """Yield every point."""
        return iter(range(self.count))

    def chance(self, own: Own, value: Value) -> Fraction:
        """All points of the hyperplane are as likely, and so are all others."""
        if self.on_plane(whole(own), whole(value)):
            return self.inside / self.inner
        return (1 - self.inside) / self.outer

    def holds(self, own: object) -> bool:
        """One of the points."""
        return own in range(self.count)

    def flat(self, value: Value) -> Fraction:
        """Every point is as likely."""
        return Fraction(1, self.count)

    @property
    def worst(self) -> Fraction | None:
        """A point of the hyperplane against one off it."""
        if self.inside in (0, 1):
            return None
        ratio = self.inside / self.inner / ((1 - self.inside) / self.outer)
        return max(ratio, 1 / ratio)


@frozen
class Product(Rest):
    """Several rests of one report, independent of each other given the public part."""

    parts: tuple[Rest, ...]

    @property
    def count(self) -> int:
        """The parts' numbers of values multiplied."""
        return math.prod(part.count for part in self.parts)

    def values(self) -> Iterator[tuple[int, ...]]:
        """Yield every combination of the parts' values."""
        for values in product(*(part.values() for part in self.parts)):
            yield tuple(whole(value) for value in values)

    def chance(self, own: Own, value: Value) -> Fraction:
        """The parts' chances multiplied."""
        each = zip(self.parts, several(own), several(value), strict=True)
        return math.prod((part.chance(o, v) for part, o, v in each), start=_WHOLE)

    def holds(self, own: object) -> bool:
        """One of each part."""
        if not isinstance(own, tuple) or len(own) != len(self.parts):
            return False
        return all(part.holds(each) for part, each in zip(self.parts, own, strict=True))

    def flat(self, value: Value) -> Fraction:
        """The parts' flat chances multiplied."""
        each = zip(self.parts, several(value), strict=True)
        return math.prod((part.flat(v) for part, v in each), start=_WHOLE)

    @property
    def worst(self) -> Fraction | None:
        """The parts' ratios multiplied: two answers may differ in every part."""
        found = [part.worst for part in self.parts]
        known = [ratio for ratio in found if ratio is not None]
        return math.prod(known, start=_WHOLE) if len(known) == len(found) else None


def unknown_kind(concern: str, rest: Rest) -> InvalidParameter:
    """Return the error of a concern that does not know a kind of rest."""
    return InvalidParameter(
        f"There is no {concern} for reports of the kind '{type(rest).__name__}'.",
        "Use Bits, Symbol, Sign, Subset, Points or a Product of them.",
    )


def whole(value: object) -> int:
    """Return a value or an own that is one whole number, else raise InvalidParameter."""
    if not isinstance(value, int):
        raise _not_a("whole number", value)
    return value


def several(value: object) -> tuple[int, ...]:
    """Return a value or an own that has a part for each part of a product, else raise."""
    if not isinstance(value, tuple):
        raise _not_a("tuple of whole numbers", value)
    return value


def as_mask(places: Sequence[int] | frozenset[int]) -> int:
    """Return a set of places as an integer, place i at weight 2^i; they may repeat."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def _not_a(what: str, got: object) -> InvalidParameter:
    return InvalidParameter(
        f"What is an answer's own, or a report's value, must be a {what} here. "
        f"Got a {type(got).__name__}."
    )
