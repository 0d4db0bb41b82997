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

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.truth_thresholds import truth_threshold

_LAYOUT = Layout((Item("symbol", 4),))


@frozen
class KRRParameters(Parameters):
    """The integers of k-RR.

    Attributes:
        categories: k, the number of answers (2 to 65,537: an absent answer may be added).
        permanent_keep: threshold of keeping the answer in the permanent response.
        report_keep: threshold of keeping the permanent response in a report.

    Example:
        >>> from deniable.protocol import Boolean
        >>> krr = KRRParameters.resolve({"epsilon": 1.0}, Boolean(), absent=False)
        >>> krr.epsilon_once, round(float(krr.keep), 6)
        (1000000, 0.731059)
    """

    categories: int
    permanent_keep: int
    report_keep: int

    mechanism: ClassVar[str] = "krr"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "epsilon_forever": Written(epsilon.wanted, "4.0"),
        "keep": Written(_validate.probability, "0.75"),
    }

    def __post_init__(self) -> None:
        _validate.integer("categories", "krr", self.categories, 2, MAX_CATEGORIES + 1)
        for name in ("permanent_keep", "report_keep"):
            _validate.integer(name, "krr", getattr(self, name), 0, thresholds.ONE)
            if not getattr(self, name) * self.categories > thresholds.ONE:
                raise InvalidParameter(
                    f"The '{name}' threshold of krr must be above 1/{self.categories}: "
                    "at or below it a report says nothing about the answer.",
                    "Raise 'keep' or 'epsilon'.",
                )
        if self.keep == 1:
            raise InvalidParameter(
                "krr would report the true answer.", "Use an 'epsilon', or a 'keep' below 1."
            )

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` (with `epsilon_forever` for a permanent stage), or `keep` itself."""
        count = answers_of(domain, absent)
        if count is None:
            raise InvalidParameter(
                "krr needs a closed domain: boolean, categories or numbers.",
                'Use mechanism = "rappor" for strings.',
            )
        if "keep" in wanted:
            if len(wanted) > 1:
                raise InvalidParameter(
                    "krr takes either 'keep' or 'epsilon', not both.", "Remove one."
                )
            keep = _validate.probability("keep", "krr", wanted["keep"])
            return cls(count, thresholds.ONE, thresholds.floor_threshold(keep))
        if "epsilon" not in wanted:
            raise InvalidParameter(
                "krr needs 'epsilon' (or the probability 'keep').", "Add epsilon = 1.0."
            )
        once = epsilon.wanted("epsilon", "krr", wanted["epsilon"])
        if "epsilon_forever" not in wanted:
            return cls(count, thresholds.ONE, _keep(count, once))
        forever = epsilon.wanted("epsilon_forever", "krr", wanted["epsilon_forever"])
        return cls._chain(count, once, forever)

    @classmethod
    def _chain(cls, count: int, once: int, forever: int) -> Self:
        """Return the two stages whose chain spends `once` and whose first spends `forever`."""
        if not once < forever:
            raise InvalidParameter(
                "The 'epsilon_forever' parameter of krr must be greater than 'epsilon'.",
                "Raise it, or leave it out for a question that is answered once.",
            )
        # The gaps a = keep - move of two stages multiply, so the report has a_once / a_forever, and
        # keep = (1 + (k - 1) a)/k (docs/mathematics.md, section 6).
        permanent = _keep(count, forever)
        ratio = _gap(count, once) / _gap_of(count, thresholds.as_fraction(permanent))
        # Where the two epsilons differ by a few micros, the ratio can come out a hair above 1.
        report = min(thresholds.ONE, thresholds.floor_threshold((1 + (count - 1) * ratio) / count))
        while epsilon.epsilon_of(cls(count, permanent, report)._ratio()) > once:
            report -= 1
        return cls(count, permanent, report)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the three integers of survey.json."""
        if set(data) != {"categories", "permanent_keep", "report_keep"}:
            raise InvalidParameter("krr has categories, permanent_keep and report_keep.")
        return cls(
            _validate.integer("categories", "krr", data["categories"], 2, MAX_CATEGORIES + 1),
            thresholds.from_text("permanent_keep", data["permanent_keep"]),
            thresholds.from_text("report_keep", data["report_keep"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the three integers, thresholds as strings."""
        return {
            "categories": self.categories,
            "permanent_keep": thresholds.to_text(self.permanent_keep),
            "report_keep": thresholds.to_text(self.report_keep),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly k answers."""
        if answers_of(domain, absent) != self.categories:
            raise InvalidParameter("krr must have as many categories as the domain has answers.")

    @property
    def layout(self) -> Layout:
        """Symbol, u32."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The symbol must be one of the k."""
        symbol = self.layout.unpack(record)["symbol"]
        if not (isinstance(symbol, int) and symbol < self.categories):
            raise InvalidReport("record", f"The symbol must be below {self.categories}.")

    @property
    def memoised(self) -> bool:
        """True if there is a permanent stage."""
        return self.permanent_keep < thresholds.ONE

    @property
    def keep(self) -> Fraction:
        """P(the report is the answer), both stages together."""
        permanent = thresholds.as_fraction(self.permanent_keep)
        report = thresholds.as_fraction(self.report_keep)
        return permanent * report + (1 - permanent) * (1 - report) / (self.categories - 1)

    @property
    def move(self) -> Fraction:
        """P(the report is one given other symbol), both stages together."""
        return (1 - self.keep) / (self.categories - 1)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """keep and move."""
        return self.keep, self.move

    def _ratio(self) -> Fraction:
        return self.keep / self.move

    @property
    def epsilon_once(self) -> int:
        """ln(keep / move): both stages, seen once."""
        return epsilon.epsilon_of(self._ratio())

    @property
    def epsilon_forever(self) -> int | None:
        """ln of the first stage's ratio: the bound for an attacker with every report."""
        if not self.memoised:
            return None
        keep = thresholds.as_fraction(self.permanent_keep)
        return epsilon.epsilon_of(keep * (self.categories - 1) / (1 - keep))


def _keep(count: int, micros: int) -> int:
    """Return the threshold of E / (E + k - 1), rounded inwards."""
    return truth_threshold(count - 1, micros)


def _gap(count: int, micros: int) -> Fraction:
    """Return keep - move at an epsilon: (E - 1) / (E + k - 1)."""
    e = epsilon.exp_micros(micros)
    return (e - 1) / (e + count - 1)


def _gap_of(count: int, keep: Fraction) -> Fraction:
    return keep - (1 - keep) / (count - 1)
