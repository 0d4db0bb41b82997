"""Subset selection: parameters, epsilon and wire record.

Model: a report is a set of d of the k answers. With probability p = d E/(d E + k - d) it contains
the answer x, and otherwise not; the other members are uniform among the other answers:

    P(y | x) = p / C(k - 1, d - 1) if x in y else (1 - p) / C(k - 1, d)

whose ratio is p/(1 - p) (k - d)/d = E, epsilon = ln E. It contains k-RR (d = 1) and is
asymptotically minimax [YB18].
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, packed
from deniable.protocol.parameters import KeepParameters, answers_of

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public


@frozen
class SubsetParameters(KeepParameters):
    """The integers of subset selection.

    Attributes:
        answers: k, the number of answers (2 to 65,537: an absent answer may be added).
        size: d, the number of answers in every report, 1 to k - 1.
        keep: threshold of the true answer being one of them.
    """

    answers: int = whole(2, MAX_CATEGORIES + 1)
    size: int = whole(1, MAX_CATEGORIES)
    keep: int = threshold()

    mechanism: ClassVar[str] = "subset"

    def _check(self) -> None:
        _validate.integer("size", "subset", self.size, 1, self.answers - 1)
        super()._check()

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly k answers."""
        if answers_of(domain, absent) != self.answers:
            raise InvalidParameter("subset must have as many answers as its domain.")

    @cached_property
    def layout(self) -> Layout:
        """ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8): 1 for the d members."""
        return Layout((packed("bits", self.answers),))

    def check_record(self, record: bytes) -> None:
        """Exactly d bits must be set, and none beyond the k-th."""
        super().check_record(record)
        if int.from_bytes(record).bit_count() != self.size:
            raise InvalidReport("record", f"Exactly {self.size} bits must be set.")

    @property
    def odds(self) -> Fraction:
        """(k - d)/d, for each member of a report the answers that are none."""
        return Fraction(self.answers - self.size, self.size)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report contains its sender's answer), and P(it contains a given other one)."""
        p = self.kept
        # On average size - p members are other answers, spread evenly over the k - 1 others.
        return p, (self.size - p) / (self.answers - 1)

    @cached_property
    def channel(self) -> Channel:
        """A set of answers."""
        from deniable.protocol.channel import Channel, Subset

        return Channel(
            (), Subset(self.kept, self.size, self.answers), self._own, self.layout, direct=True
        )

    def _own(self, answer: Answer, public: Public) -> int:
        return answer.code
