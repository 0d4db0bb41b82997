"""Parameters of every mechanism of profiles: levels, order, and the cells of binary codes.

Model: a profile has d attributes with r_1..r_d levels, and one report covers all of them. The
answer of attribute i is its code 0..r_i - 1. The papers' methods see it as b_i = ceil(log2 r_i)
bits, so that a profile is one of 2^D *cells*, D = sum b_i, the first attribute in the lowest bits;
cells of codes that no level has cannot occur.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written
from deniable.protocol.profile_domain import MAX_ATTRIBUTES, MIN_ATTRIBUTES, Profile

DEFAULT_ORDER = 2
INSTEAD = "Use mechanism = \"coefficients\", or a lower 'order'."
"""The remedy where a method would need too many cells."""
WHOLE = 'Use mechanism = "auto" or "coefficients": they do not grow with all combinations.'
"""The remedy where a method reports whole profiles, which no lower order makes fewer."""
LOWER = "Lower 'order', or the number of levels."
"""The remedy where no other method needs fewer coefficients."""


def check_order(name: str, owner: str, value: object) -> int:
    """Return an order if it can be one at all, else raise InvalidParameter."""
    return _validate.integer(name, owner, value, 1, MAX_ATTRIBUTES)


AUTHORED: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "order": Written(check_order, "2"),
}
"""The keys that people may write for every mechanism of profiles."""


class ProfileParameters(Parameters):
    """Parameters of a mechanism that reports many attributes at once.

    Attributes:
        levels: the number of answers of each attribute.
        order: k, the number of attributes of the largest tables that are asked for.
    """

    levels: tuple[int, ...]
    order: int

    members_published: ClassVar[tuple[str, ...]]
    """The members of the published parameters besides levels and order."""

    @property
    def collected(self) -> int:
        """The most attributes that a table estimated from the reports can have."""
        return self.order

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The number of bits of each attribute's code."""
        return tuple((count - 1).bit_length() for count in self.levels)

    @cached_property
    def profiles(self) -> int:
        """The number of profiles that can occur."""
        return math.prod(self.levels)

    @cached_property
    def unknowns(self) -> int:
        """The number of independent numbers that all tables of up to k attributes are made of.

        Those of l attributes have a product of r - 1 for each of them: elementary symmetric
        polynomials, without listing the sets.
        """
        sums = [1, *([0] * self.order)]
        for count in self.levels:
            for taken in range(self.order, 0, -1):
                sums[taken] += sums[taken - 1] * (count - 1)
        return sum(sums[1:])

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @property
    def epsilon_forever(self) -> int | None:
        """Every report draws afresh: unbounded."""
        return None

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be a profile of attributes with exactly these levels, never absent."""
        _check_profile_domain(self.mechanism, domain, absent)
        if isinstance(domain, Profile) and domain.levels != self.levels:
            raise InvalidParameter(
                f"{self.mechanism} must have the levels of the profile's attributes."
            )

    def _check_shape(self) -> None:
        owner = self.mechanism
        if not MIN_ATTRIBUTES <= len(self.levels) <= MAX_ATTRIBUTES:
            must = f"a list of {MIN_ATTRIBUTES} to {MAX_ATTRIBUTES} numbers"
            raise _validate.invalid("levels", owner, must, self.levels)
        for count in self.levels:
            _validate.integer("levels", owner, count, 2, MAX_CATEGORIES)
        _validate.integer("order", owner, self.order, 1, len(self.levels))

    def _published_shape(self) -> dict[str, Json]:
        return {"levels": list(self.levels), "order": self.order}


def wanted_shape(
    owner: str, wanted: Mapping[str, object], domain: Domain, absent: bool
) -> tuple[tuple[int, ...], int, int]:
    """Return levels, order and epsilon in micros, from what people wrote.

    Raises:
        InvalidParameter: if the domain is no profile, or order or epsilon is missing or wrong.
    """
    profile = _check_profile_domain(owner, domain, absent)
    if "epsilon" not in wanted:
        raise InvalidParameter(f"{owner} needs 'epsilon'.", "Add epsilon = 1.0.")
    micros = epsilon.wanted("epsilon", owner, wanted["epsilon"])
    count = len(profile.levels)
    order = check_order("order", owner, wanted.get("order", DEFAULT_ORDER))
    if order > count:
        raise InvalidParameter(
            f"The 'order' parameter of {owner} must be at most {count}, the number of fields. "
            f"Got {order}.",
            "Lower it.",
        )
    return profile.levels, order, micros


def _check_profile_domain(owner: str, domain: Domain, absent: bool) -> Profile:
    if not isinstance(domain, Profile):
        raise InvalidParameter(
            f"{owner} reports many fields at once: it needs a profile.",
            "Write mechanism and parameters at the question, and [[questions.fields]] with a name "
            "and a domain each.",
        )
    if absent:
        raise InvalidParameter(
            f'{owner} has no absent answer, so that send = "always" is not possible.',
            'Use send = "recorded", or ask each attribute as a question.',
        )
    return domain


def read_shape(
    kind: type[ProfileParameters], data: Mapping[str, object]
) -> tuple[tuple[int, ...], int]:
    """Read levels and order of survey.json, refusing members that the mechanism has not."""
    owner, names = kind.mechanism, ("levels", "order", *kind.members_published)
    if set(data) != set(names):
        raise InvalidParameter(f"{owner} has {', '.join(names)}.")
    levels = data["levels"]
    if not isinstance(levels, list) or not MIN_ATTRIBUTES <= len(levels) <= MAX_ATTRIBUTES:
        must = f"a list of {MIN_ATTRIBUTES} to {MAX_ATTRIBUTES} numbers"
        raise _validate.invalid("levels", owner, must, levels)
    read = tuple(_validate.integer("levels", owner, count, 2, MAX_CATEGORIES) for count in levels)
    return read, _validate.integer("order", owner, data["order"], 1, len(read))


def code_of(codes: Iterable[int], bits: Iterable[int]) -> int:
    """Return the cell of codes with `bits` as their widths, the first in the lowest bits."""
    cell = place = 0
    for code, width in zip(codes, bits, strict=True):
        cell |= code << place
        place += width
    return cell


def cell_of(codes: Sequence[int], levels: Sequence[int]) -> int:
    """Return the number of a combination of codes among all that can occur, the first fastest."""
    cell = 0
    for code, count in zip(reversed(codes), reversed(levels), strict=True):
        cell = cell * count + code
    return cell


def symbol_item(name: str, count: int) -> Item:
    """Return the smallest item that holds 0..count-1."""
    return Item(name, next(width for width in (1, 2, 4) if count <= 1 << (8 * width)))


def symbol_layout(count: int) -> Layout:
    """Return a record of one symbol of 0..count-1, in the fewest of 1, 2 or 4 bytes."""
    return Layout((symbol_item("symbol", count),))


def read_symbol(layout: Layout, record: bytes, count: int) -> int:
    """Return the symbol of a profile, else raise InvalidReport."""
    symbol = layout.unpack(record)["symbol"]
    if not (isinstance(symbol, int) and symbol < count):
        raise InvalidReport("record", f"The symbol must be below {count}.")
    return symbol


def check_count(owner: str, what: str, count: int, most: int, instead: str = INSTEAD) -> None:
    """Raise InvalidParameter if a method would need more than `most` (cells, bits, views, ...)."""
    if count > most:
        figure = f"{count:,}" if count < 10**15 else f"2^{count.bit_length() - 1} or more"
        raise InvalidParameter(f"{owner} would need {figure} {what}: at most {most:,}.", instead)
