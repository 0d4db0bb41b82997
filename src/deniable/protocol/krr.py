"""k-ary randomised response: parameters, epsilon and wire record.

Model: a permanent stage, then a fresh one, each keeping the symbol with its own probability and
otherwise moving to one of the k - 1 others, uniformly:

    P(y | x) = keep if y = x else (1 - keep) / (k - 1)

where `keep` is E / (E + k - 1) for epsilon = ln E [KBR16, section 2.1]. Two stages multiply: with
a = keep - (1 - keep) / (k - 1), the chain has a = a_permanent * a_report (docs/mathematics.md,
section 6).
A stage with threshold 2^64 does nothing.

Warner's randomised response is the case k = 2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import Parameters, answers_of

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public


@frozen
class KRRParameters(Parameters):
    """The integers of k-RR.

    Attributes:
        answers: k, the number of answers (2 to 65,537: an absent answer may be added).
        permanent_keep: threshold of keeping the answer in the permanent response.
        report_keep: threshold of keeping the permanent response in a report.

    Example:
        >>> from deniable.protocol import Boolean
        >>> from deniable.authoring import resolve
        >>> krr = resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), absent=False)
        >>> krr.epsilon_once, round(float(krr.keep), 6)
        (1000000, 0.731059)
    """

    answers: int = whole(2, MAX_CATEGORIES + 1)
    permanent_keep: int = threshold()
    report_keep: int = threshold()

    mechanism: ClassVar[str] = "krr"

    def _check(self) -> None:
        for name in ("permanent_keep", "report_keep"):
            if not getattr(self, name) * self.answers > thresholds.ONE:
                raise InvalidParameter(
                    f"The '{name}' threshold of krr must be above 1/{self.answers}: "
                    "at or below it a report says nothing about the answer.",
                    "Raise 'keep' or 'epsilon'.",
                )
        if self.keep == 1:
            raise InvalidParameter(
                "krr would report the true answer.", "Use an 'epsilon', or a 'keep' below 1."
            )

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly k answers."""
        if answers_of(domain, absent) != self.answers:
            raise InvalidParameter("krr must have as many answers as its domain.")

    @cached_property
    def layout(self) -> Layout:
        """Symbol, u32."""
        return Layout((number("symbol", self.answers, 4),))

    @property
    def memoised(self) -> bool:
        """True if there is a permanent stage."""
        return self.permanent_keep < thresholds.ONE

    @property
    def keep(self) -> Fraction:
        """P(the report is the answer), both stages together."""
        permanent = thresholds.as_fraction(self.permanent_keep)
        report = thresholds.as_fraction(self.report_keep)
        # Kept by both stages, or moved away and moved back: to one symbol out of k - 1.
        return permanent * report + (1 - permanent) * (1 - report) / (self.answers - 1)

    @property
    def move(self) -> Fraction:
        """P(the report is one given other symbol), both stages together."""
        return (1 - self.keep) / (self.answers - 1)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """keep and move."""
        return self.keep, self.move

    def _ratio(self) -> Fraction:
        return self.keep / self.move

    @cached_property
    def epsilon_once(self) -> int:
        """ln(keep / move): both stages, seen once."""
        return epsilon.epsilon_of(self._ratio())

    @cached_property
    def epsilon_forever(self) -> int | None:
        """ln of the first stage's ratio: the bound for an attacker with every report."""
        if not self.memoised:
            return None
        keep = thresholds.as_fraction(self.permanent_keep)
        # keep against (1 - keep) / (k - 1), of the permanent stage alone.
        return epsilon.epsilon_of(keep * (self.answers - 1) / (1 - keep))

    @cached_property
    def channel(self) -> Channel:
        """A symbol, through the permanent stage and the fresh one."""
        from deniable.protocol.channel import Channel, Symbol

        stages = (self.permanent_keep, self.report_keep)
        first, then = (Symbol(thresholds.as_fraction(keep), self.answers) for keep in stages)
        both = Symbol(self.keep, self.answers, (first, then))
        return Channel((), both, self._own, self.layout, direct=True)

    def _own(self, answer: Answer, public: Public) -> int:
        return answer.code
