"""InpHT: one Hadamard coefficient of the profile, its sign through a coin [CKS18, section 4.2].

Model: alpha has a mask of bits for each attribute, zero for all but 1 to k of them. One of the

    T = sum_{l=1..k} sum_{|S|=l} prod_{i in S} (2^{b_i} - 1)        (binary: sum_l C(d, l))

such alpha is drawn uniformly, and the sign (-1)^<alpha, j> is reported, <alpha, j> the number of
ones that alpha and the profile's code j have in common. All tables of k attributes, and of fewer,
are sums of these coefficients.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.profile_parameters import LOWER, check_count, symbol_layout
from deniable.protocol.profile_selection import Chosen, Selection, signs_differ
from deniable.protocol.profile_sign import MOST_COEFFICIENTS, SignParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public


@frozen
class InpHTParameters(SignParameters):
    """The integers of InpHT: answers, order, and the threshold `keep` of the true sign."""

    mechanism: ClassVar[str] = "inp_ht"

    def _check_size(self) -> None:
        check_count("inp_ht", "coefficients", self.coefficients, MOST_COEFFICIENTS, LOWER)

    @cached_property
    def selection(self) -> Selection:
        """The numbering of coefficients: each attribute offers the masks 1..2^b - 1."""
        return Selection(tuple((1 << width) - 1 for width in self.bits))

    @cached_property
    def coefficients(self) -> int:
        """T, the number of coefficients."""
        return sum(self.selection.counts(self.order))

    def masks(self, coefficient: int) -> Chosen:
        """Return the attributes of a coefficient, rising, with their masks."""
        chosen = self.selection.up_to(self.order, coefficient)
        return tuple((i, function + 1) for i, function in chosen)

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 coefficient + sign (0 is +1, 1 is -1), in 1, 2 or 4 bytes."""
        return symbol_layout(2 * self.coefficients)

    @cached_property
    def channel(self) -> Channel:
        """A coefficient for every report, then the profile's sign in it."""
        from deniable.protocol.channel import Channel, uniform

        coefficient = uniform("coefficient", self.coefficients)
        return Channel((coefficient,), self._rest(), self._own, self.layout, digits=(2,))

    def _own(self, answer: Answer, public: Public) -> int:
        return 1 - 2 * signs_differ(answer.codes, self.masks(public[0]))
