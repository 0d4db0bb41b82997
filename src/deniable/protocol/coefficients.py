"""Coefficients: one orthogonal function of 1 to k attributes, drawn by the best allocation.

Model: each attribute offers functions of its level with values in -1..1,

    basis "walsh"      (-1)^(ones in x & mask), mask = 1..2^b - 1, b = ceil(log2 r): signs only
    basis "contrasts"  the r - 1 orthogonal contrasts of protocol/contrasts.py

and a coefficient is a set of l = 1..k attributes with one function of each; its value v for a
profile is the product. Order l is drawn with probability proportional to n_l sqrt(C(d - l, k - l)),
where n_l coefficients have that order and each lies in C(d - l, k - l) of the tables of k
attributes: the least sum of variances over those tables (Cauchy and Schwarz). Then the coefficient
is drawn uniformly among the n_l, and +1 is reported with probability

    1/2 + (2 keep - 1) v/2,        keep = E/(E + 1), epsilon = ln E,

so that the mean of the reported signs is (2 keep - 1) times the mean of v. In integers, with v =
a/b and T = 2^64, the threshold is T/2 + sign(a) floor( (2 keep - T) |a| / (2 b) ): rounded towards
1/2.

Which basis: the Walsh functions restricted to r levels are a tight frame, sum over masks of w(x)
w(y) = 2^b [x = y] - 1, so that a table of one attribute costs (r - 1)(2^b - 1)/2^b variances of a
sign. The polynomial contrasts, a real Efron-Stein basis such as [CKS18, section 6.3] expects to be
among the best, cost (r - 1)/r times the sum of 1/(mean square): more for every r from 3 to 64,
because a coin pays for values inside of -1..1. No basis of r - 1 functions costs less than (r -
1)^2/r, that of signs, where one exists: for r a power of two it is Walsh's.

For yes/no attributes both bases are the same, and with equal allocation they are InpHT.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.contrasts import MAX_LEVELS, contrasts_of
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import (
    AUTHORED,
    LOWER,
    check_count,
    read_shape,
    read_symbol,
    symbol_layout,
    wanted_shape,
)
from deniable.protocol.profile_selection import Chosen, Selection
from deniable.protocol.profile_sign import MOST_COEFFICIENTS, SignParameters
from deniable.protocol.thresholds import ONE
from deniable.protocol.truth_thresholds import truth_threshold

BASES = ("walsh", "contrasts")


def check_basis(name: str, owner: str, value: object) -> str:
    """Return the name of a basis, else raise InvalidParameter."""
    if not (isinstance(value, str) and value in BASES):
        raise _validate.invalid(name, owner, " or ".join(f"'{basis}'" for basis in BASES), value)
    return value


@frozen
class CoefficientsParameters(SignParameters):
    """The integers of coefficients.

    Attributes:
        levels, order, keep: as of every mechanism that reports a sign.
        basis: "walsh" or "contrasts".
        orders: k - 1 thresholds: of order l = 1, 2, ... given that it is no lower one.
    """

    basis: str
    orders: tuple[int, ...]

    mechanism: ClassVar[str] = "coefficients"
    authored: ClassVar[Mapping[str, Written]] = {
        **AUTHORED,
        "basis": Written(check_basis, '"walsh"'),
    }
    members_published: ClassVar[tuple[str, ...]] = ("keep", "basis", "orders")

    def _check_size(self) -> None:
        check_basis("basis", "coefficients", self.basis)
        if self.basis == "contrasts" and max(self.levels) > MAX_LEVELS:
            raise InvalidParameter(
                f"coefficients in the basis 'contrasts' takes at most {MAX_LEVELS} levels each.",
                'Use basis = "walsh".',
            )
        check_count("coefficients", "coefficients", self.coefficients, MOST_COEFFICIENTS, LOWER)
        if len(self.orders) != self.order - 1:
            must = f"a list of {self.order - 1} thresholds"
            raise _validate.invalid("orders", "coefficients", must, self.orders)
        for threshold in self.orders:
            _validate.integer("orders", "coefficients", threshold, 1, ONE - 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, `order` and `basis`; the allocation follows."""
        levels, order, micros = wanted_shape("coefficients", wanted, domain, absent)
        basis = check_basis("basis", "coefficients", wanted.get("basis", "walsh"))
        counts = Selection(functions_of(levels, basis)).counts(order)
        shares = best_orders(len(levels), counts)
        return cls(levels, order, truth_threshold(1, micros), basis, shares)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        levels, order = read_shape(cls, data)
        keep, orders = thresholds.from_text("keep", data["keep"]), data["orders"]
        basis = check_basis("basis", "coefficients", data["basis"])
        if not isinstance(orders, list):
            must = f"a list of {order - 1} thresholds"
            raise _validate.invalid("orders", "coefficients", must, orders)
        read = tuple(thresholds.from_text("orders", threshold) for threshold in orders)
        return cls(levels, order, keep, basis, read)

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        orders: list[Json] = [thresholds.to_text(threshold) for threshold in self.orders]
        return {**super().published(), "basis": self.basis, "orders": orders}

    @cached_property
    def selection(self) -> Selection:
        """The numbering of the coefficients of each order."""
        return Selection(functions_of(self.levels, self.basis))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of coefficients of each order 1..k."""
        return self.selection.counts(self.order)

    @cached_property
    def coefficients(self) -> int:
        """The number of coefficients of all orders."""
        return sum(self.counts)

    def chosen(self, coefficient: int) -> Chosen:
        """Return the attributes of a coefficient, rising, with the number of their function."""
        return self.selection.up_to(self.order, coefficient)

    def value(self, coefficient: int, codes: tuple[int, ...]) -> tuple[int, int]:
        """Return the value of a coefficient for a profile: numerator, and denominator above 0."""
        numerator = denominator = 1
        for i, function in self.chosen(coefficient):
            if self.basis == "walsh":
                numerator *= 1 - 2 * (((function + 1) & codes[i]).bit_count() & 1)
            else:
                contrast = contrasts_of(self.levels[i])[function]
                numerator *= contrast.values[codes[i]]
                denominator *= contrast.scale
        return numerator, denominator

    def plus(self, numerator: int, denominator: int) -> int:
        """Return the threshold of reporting +1 for the value numerator / denominator."""
        # Rounded down, so towards 1/2: no sign is more likely than `keep` allows.
        away = (2 * self.keep - ONE) * abs(numerator) // (2 * denominator)
        return ONE // 2 + (away if numerator > 0 else -away)

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 coefficient + sign (0 is +1, 1 is -1), in 1, 2 or 4 bytes."""
        return symbol_layout(2 * self.coefficients)

    def check_record(self, record: bytes) -> None:
        """The symbol must be below twice the number of coefficients."""
        read_symbol(self.layout, record, 2 * self.coefficients)


def functions_of(levels: tuple[int, ...], basis: str) -> tuple[int, ...]:
    """Return the number of functions that each attribute offers."""
    if basis == "walsh":
        return tuple((1 << (count - 1).bit_length()) - 1 for count in levels)
    return tuple(count - 1 for count in levels)


def best_orders(attributes: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return the threshold of each order but the last, given that no lower one was drawn.

    Proportional to n_l sqrt(C(d - l, k - l)); integers throughout, with 32 binary digits of the
    root.
    """
    # A coefficient in m tables is drawn in proportion to sqrt(m) (docs/mathematics.md, section 5).
    order = len(counts)
    weights = [
        count * math.isqrt(math.comb(attributes - taken, order - taken) << 64)
        for taken, count in enumerate(counts, 1)
    ]
    return tuple(ONE * weight // sum(weights[taken:]) for taken, weight in enumerate(weights[:-1]))
