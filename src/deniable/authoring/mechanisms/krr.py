"""k-RR from what people wrote: `epsilon` (with `epsilon_forever`), or `keep` itself."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import (
    EPSILONS,
    check_longer,
    closed_answers,
    wanted_epsilon,
    wanted_forever,
)
from deniable.authoring.written import Authoring, Written
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.domain import Domain
from deniable.protocol.krr import KRRParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> KRRParameters:
    """Read `epsilon` (with `epsilon_forever` for a permanent stage), or `keep` itself."""
    count = closed_answers("krr", domain, absent)
    if "keep" in wanted:
        if len(wanted) > 1:
            raise InvalidParameter("krr takes either 'keep' or 'epsilon', not both.", "Remove one.")
        keep = _validate.probability("keep", "krr", wanted["keep"])
        return KRRParameters(count, thresholds.ONE, thresholds.floor_threshold(keep))
    once = wanted_epsilon("krr", wanted, " (or the probability 'keep')")
    forever = wanted_forever("krr", wanted)
    if forever is None:
        return KRRParameters(count, thresholds.ONE, truth_threshold(count - 1, once))
    return _chain(count, once, forever)


def _chain(count: int, once: int, forever: int) -> KRRParameters:
    """Return the two stages whose chain spends `once` and whose first spends `forever`."""
    check_longer("krr", once, forever)
    # The gaps a = keep - move of two stages multiply, so the report has a_once / a_forever, and
    # keep = (1 + (k - 1) a)/k (docs/mathematics.md, section 6).
    permanent, e = truth_threshold(count - 1, forever), epsilon.exp_micros(once)
    kept = thresholds.as_fraction(permanent)
    ratio = (e - 1) / (e + count - 1) / (kept - (1 - kept) / (count - 1))
    # Where the two epsilons differ by a few micros, the ratio can come out a hair above 1.
    report = min(thresholds.ONE, thresholds.floor_threshold((1 + (count - 1) * ratio) / count))
    while KRRParameters(count, permanent, report).epsilon_once > once:
        report -= 1
    return KRRParameters(count, permanent, report)


KEYS: Mapping[str, Written] = {
    **EPSILONS,
    "keep": Written(_validate.probability, "0.75"),
}
AUTHORING = Authoring(KEYS, resolve)
