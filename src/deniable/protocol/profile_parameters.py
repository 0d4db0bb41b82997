"""Parameters of every mechanism of profiles: answers, order, and the cells of binary codes.

Model: a profile has d attributes with r_1..r_d answers, and one report covers all of them. The
answer of attribute i is its code 0..r_i - 1. The papers' methods see it as b_i = ceil(log2 r_i)
bits, so that a profile is one of 2^D *cells*, D = sum b_i, the first attribute in the lowest bits;
cells of codes that no answer has cannot occur.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import many, whole
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import Parameters
from deniable.protocol.profile_domain import MAX_ATTRIBUTES, MIN_ATTRIBUTES, Profile

INSTEAD = "Use mechanism = \"coefficients\", or a lower 'order'."
"""The remedy where a method would need too many cells."""
WHOLE = 'Use mechanism = "auto" or "coefficients": they do not grow with all combinations.'
"""The remedy where a method reports whole profiles, which no lower order makes fewer."""
LOWER = "Lower 'order', or the number of answers."
"""The remedy where no other method needs fewer coefficients."""


@frozen
class ProfileParameters(Parameters):
    """Parameters of a mechanism that reports many attributes at once.

    Attributes:
        answers: the number of answers of each attribute.
        order: k, the number of attributes of the largest tables that are asked for.
    """

    answers: tuple[int, ...] = many(whole(2, MAX_CATEGORIES), MIN_ATTRIBUTES, MAX_ATTRIBUTES)
    order: int = whole(1, MAX_ATTRIBUTES)

    def _check(self) -> None:
        _validate.integer("order", self.mechanism, self.order, 1, len(self.answers))
        self._check_size()
        super()._check()

    def _check_size(self) -> None:
        """Raise InvalidParameter if the profile is too large for this mechanism."""

    @property
    def collected(self) -> int:
        """The most attributes that a table estimated from the reports can have."""
        return self.order

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The number of bits of each attribute's code."""
        return tuple((count - 1).bit_length() for count in self.answers)

    @cached_property
    def profiles(self) -> int:
        """The number of profiles that can occur."""
        return math.prod(self.answers)

    @cached_property
    def unknowns(self) -> int:
        """The number of independent numbers that all tables of up to k attributes are made of.

        Those of l attributes have a product of r - 1 for each of them: elementary symmetric
        polynomials, without listing the sets.
        """
        sums = [1, *([0] * self.order)]
        for count in self.answers:
            for taken in range(self.order, 0, -1):
                sums[taken] += sums[taken - 1] * (count - 1)
        return sum(sums[1:])

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be a profile of attributes with exactly these answers, never absent."""
        check_profile_domain(self.mechanism, domain, absent)
        if isinstance(domain, Profile) and domain.answers != self.answers:
            raise InvalidParameter(
                f"{self.mechanism} must have the answers of the profile's attributes."
            )


def check_profile_domain(owner: str, domain: Domain, absent: bool) -> Profile:
    """Return the domain if it is a profile without an absent answer, else raise."""
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


def code_of(codes: Iterable[int], bits: Iterable[int]) -> int:
    """Return the cell of codes with `bits` as their widths, the first in the lowest bits."""
    cell = place = 0
    for code, width in zip(codes, bits, strict=True):
        cell |= code << place
        place += width
    return cell


def cell_of(codes: Sequence[int], answers: Sequence[int]) -> int:
    """Return the number of a combination of codes among all that can occur, the first fastest."""
    cell = 0
    for code, count in zip(reversed(codes), reversed(answers), strict=True):
        cell = cell * count + code
    return cell


def symbol_layout(count: int) -> Layout:
    """Return a record of one symbol of 0..count-1, in the fewest of 1, 2 or 4 bytes."""
    return Layout((number("symbol", count),))


def check_count(owner: str, what: str, count: int, most: int, instead: str = INSTEAD) -> None:
    """Raise InvalidParameter if a method would need more than `most` (cells, bits, views, ...)."""
    if count > most:
        figure = f"{count:,}" if count < 10**15 else f"2^{count.bit_length() - 1} or more"
        raise InvalidParameter(f"{owner} would need {figure} {what}: at most {most:,}.", instead)
