"""Subset selection: parameters, epsilon and wire record.

Model: a report is a set of d of the k answers. With probability p = d E/(d E + k - d) it contains
the answer x, and otherwise not; the other members are uniform among the other answers:

    P(y | x) = p / C(k - 1, d - 1) if x in y else (1 - p) / C(k - 1, d)

whose ratio is p/(1 - p) (k - d)/d = E, epsilon = ln E. It contains k-RR (d = 1) and is
asymptotically minimax [YB18].
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

_PUBLISHED = {"categories", "size", "include"}


def _size(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_CATEGORIES)


@frozen
class SubsetParameters(Parameters):
    """The integers of subset selection.

    Attributes:
        categories: k, the number of answers (2 to 65,537: an absent answer may be added).
        size: d, the number of answers in every report, 1 to k - 1.
        include: threshold of the true answer being one of them.
    """

    categories: int
    size: int
    include: int

    mechanism: ClassVar[str] = "subset"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "d": Written(_size, "4"),
    }

    def __post_init__(self) -> None:
        _validate.integer("categories", "subset", self.categories, 2, MAX_CATEGORIES + 1)
        _validate.integer("size", "subset", self.size, 1, self.categories - 1)
        _validate.integer("include", "subset", self.include, 0, thresholds.ONE)
        check_truth("include", "subset", self.include, self._odds)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, and `d` unless the best one is to be taken."""
        count = answers_of(domain, absent)
        if count is None:
            raise InvalidParameter(
                "subset needs a closed domain: boolean, categories, numbers or set.",
                'Use mechanism = "rappor" or "olh" for strings.',
            )
        if "epsilon" not in wanted:
            raise InvalidParameter("subset needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "subset", wanted["epsilon"])
        if "d" in wanted:
            size = _validate.integer("d", "subset", wanted["d"], 1, count - 1)
        else:
            size = best_size(count, micros)
        return cls(count, size, truth_threshold(Fraction(count - size, size), micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the three integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter("subset has categories, size and include.")
        count = _validate.integer("categories", "subset", data["categories"], 2, MAX_CATEGORIES + 1)
        size = _validate.integer("size", "subset", data["size"], 1, count - 1)
        return cls(count, size, thresholds.from_text("include", data["include"]))

    def published(self) -> dict[str, Json]:
        """Return the three integers, the threshold as a string."""
        return {
            "categories": self.categories,
            "size": self.size,
            "include": thresholds.to_text(self.include),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly k answers."""
        if answers_of(domain, absent) != self.categories:
            raise InvalidParameter("subset must have as many categories as the domain has answers.")

    @cached_property
    def layout(self) -> Layout:
        """ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8): 1 for the d members."""
        return Layout((Item("bits", 1, (self.categories + 7) // 8),))

    def check_record(self, record: bytes) -> None:
        """Exactly d bits must be set, and none beyond the k-th."""
        bits = self.layout.unpack(record)["bits"]
        number = int.from_bytes(bits, "little") if isinstance(bits, bytes) else 0
        if number >> self.categories:
            raise InvalidReport("record", "The padding bits of the last byte must be zero.")
        if number.bit_count() != self.size:
            raise InvalidReport("record", f"Exactly {self.size} bits must be set.")

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @property
    def _odds(self) -> Fraction:
        return Fraction(self.categories - self.size, self.size)

    @property
    def epsilon_once(self) -> int:
        """ln(p/(1 - p) (k - d)/d)."""
        return epsilon.epsilon_of(truth_ratio(self._odds, self.include))

    @property
    def epsilon_forever(self) -> int | None:
        """Every report draws afresh: unbounded."""
        return None

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report contains its sender's answer), and P(it contains a given other one)."""
        p = thresholds.as_fraction(self.include)
        # On average size - p members are other answers, spread evenly over the k - 1 others.
        return p, (self.size - p) / (self.categories - 1)


def best_size(count: int, micros: int) -> int:
    """Return the d of the least variance: k/(E + 1), rounded down or up, from 1 to k - 1.

    At uniform frequencies n L2^2 = (k - 1)^2 (d E + k - d)^2 / (k d (k - d) (E - 1)^2); the part
    that depends on d is compared exactly.
    """
    e = epsilon.exp_micros(micros)
    below = int(count / (e + 1))
    near = sorted({min(count - 1, max(1, size)) for size in (below, below + 1)})
    return min(near, key=lambda d: (d * e + count - d) ** 2 / (d * (count - d)))
