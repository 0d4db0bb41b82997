"""Coefficients: one orthogonal function of 1 to k attributes, drawn by the best allocation.

Model: each attribute offers functions of its answer with values in -1..1,

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

Which basis: the Walsh functions restricted to r answers are a tight frame, sum over masks of w(x)
w(y) = 2^b [x = y] - 1, so that a table of one attribute costs (r - 1)(2^b - 1)/2^b variances of a
sign. The polynomial contrasts, a real Efron-Stein basis such as [CKS18, section 6.3] expects to be
among the best, cost (r - 1)/r times the sum of 1/(mean square): more for every r from 3 to 64,
because a coin pays for values inside of -1..1. No basis of r - 1 functions costs less than (r -
1)^2/r, that of signs, where one exists: for r a power of two it is Walsh's.

For yes/no attributes both bases are the same, and with equal allocation they are InpHT.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import thresholds
from deniable.protocol.contrasts import MAX_ANSWERS, contrasts_of
from deniable.protocol.declared import choice, many, threshold
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.protocol.profile_parameters import (
    LOWER,
    check_count,
    symbol_layout,
)
from deniable.protocol.profile_selection import Chosen, Selection
from deniable.protocol.profile_sign import MOST_COEFFICIENTS, SignParameters
from deniable.protocol.thresholds import ONE

if TYPE_CHECKING:
    from deniable.protocol.channel import Blocks, Channel, Public

BASES = ("walsh", "contrasts")


@frozen
class CoefficientsParameters(SignParameters):
    """The integers of coefficients.

    Attributes:
        answers, order, keep: as of every mechanism that reports a sign.
        basis: "walsh" or "contrasts".
        orders: k - 1 thresholds: of order l = 1, 2, ... given that it is no lower one.
    """

    basis: str = choice(*BASES)
    orders: tuple[int, ...] = many(threshold(), 0, MAX_ATTRIBUTES - 1, "thresholds")

    mechanism: ClassVar[str] = "coefficients"

    def _check_size(self) -> None:
        if self.basis == "contrasts" and max(self.answers) > MAX_ANSWERS:
            raise InvalidParameter(
                f"coefficients in the basis 'contrasts' takes at most {MAX_ANSWERS} answers each.",
                'Use basis = "walsh".',
            )
        check_count("coefficients", "coefficients", self.coefficients, MOST_COEFFICIENTS, LOWER)
        if len(self.orders) != self.order - 1:
            must = f"a list of {self.order - 1} thresholds"
            raise _validate.invalid("orders", "coefficients", must, self.orders)
        for share in self.orders:
            _validate.integer("orders", "coefficients", share, 1, ONE - 1)

    @cached_property
    def selection(self) -> Selection:
        """The numbering of the coefficients of each order."""
        return Selection(functions_of(self.answers, self.basis))

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
                contrast = contrasts_of(self.answers[i])[function]
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

    @cached_property
    def channel(self) -> Channel:
        """A coefficient by the order's chance for every report, then a sign that leans by it."""
        from deniable.protocol.channel import Channel, Number

        coefficient = Number("coefficient", self._orders(), permanent=False)
        return Channel((coefficient,), self._rest(), self._own, self.layout, digits=(2,))

    def _orders(self) -> Blocks:
        """Return the number of coefficients of each order, and the probability of the order."""
        blocks, left = [], Fraction(1)
        for taken, count in enumerate(self.counts, 1):
            last = taken == self.order
            drawn = left if last else left * thresholds.as_fraction(self.orders[taken - 1])
            blocks.append((count, drawn))
            left -= drawn
        return tuple(blocks)

    def _own(self, answer: Answer, public: Public) -> Fraction:
        # P(+1) = (1 + gap own)/2 with the rounded threshold: +-1 of a sign, and nearly the value of
        # a contrast.
        plus = thresholds.as_fraction(self.plus(*self.value(public[0], answer.codes)))
        return (2 * plus - 1) / (2 * self.kept - 1)


def functions_of(answers: tuple[int, ...], basis: str) -> tuple[int, ...]:
    """Return the number of functions that each attribute offers."""
    if basis == "walsh":
        return tuple((1 << (count - 1).bit_length()) - 1 for count in answers)
    return tuple(count - 1 for count in answers)
