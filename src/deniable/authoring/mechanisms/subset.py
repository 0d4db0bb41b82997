"""Subset selection from what people wrote: `epsilon`, and `d` where the best is not wanted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from deniable import _validate
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import closed_answers, wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.subset import SubsetParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> SubsetParameters:
    """Read `epsilon`, and `d` unless the best one is to be taken."""
    count = closed_answers("subset", domain, absent)
    micros = wanted_epsilon("subset", wanted)
    if "d" in wanted:
        size = _validate.integer("d", "subset", wanted["d"], 1, count - 1)
    else:
        size = best_size(count, micros)
    return SubsetParameters(count, size, truth_threshold(Fraction(count - size, size), micros))


def best_size(count: int, micros: int) -> int:
    """Return the d of the least variance: k/(E + 1), rounded down or up, from 1 to k - 1.

    At uniform frequencies n L2^2 = (k - 1)^2 (d E + k - d)^2 / (k d (k - d) (E - 1)^2); the part
    that depends on d is compared exactly.
    """
    e = epsilon.exp_micros(micros)
    below = int(count / (e + 1))
    near = sorted({min(count - 1, max(1, size)) for size in (below, below + 1)})
    return min(near, key=lambda d: (d * e + count - d) ** 2 / (d * (count - d)))


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "d": Written(member(SubsetParameters, "size"), "4"),
}
AUTHORING = Authoring(KEYS, resolve)
