"""The smallest share at which a string that nobody listed is found, before anybody reports.

Model: a crowd that holds 1 / f strings of the same share f, random and of full length. The share
that is returned is the one at which half of them are found: so many equally frequent strings can be
learned. What a string must pass depends on what it competes with, and the ways that strings are
found have no closed form: imagined crowds go through them, normal numbers with the variances of
the reports instead of reports.

`prefixes`  An imagined crowd says what a beginning must show to be kept at every level
            (`discover/prefixes/imagined_crowd.py`), and many paths how often a string of share f
            does (`discover/prefixes/chance_of_finding.py`).
`ngrams`    Imagined crowds are looked at, joined and tested (`discover/ngrams/imagined_crowd.py`);
the share
            is that of a line through the chances at five shares (`discover/detection_limit.py`).

Accuracy: within 5% of simulated reports (`tests/statistical/test_statistical_plan_found.py` and
`test_statistical_plan_ngrams.py`). Real strings share beginnings and n-grams more often than random
ones; where few strings are as frequent, n-grams find one of a smaller share.

Cost: a second or two. The seeds are fixed: the same plan has the same numbers.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from deniable._distributions import normal_isf
from deniable.discover.branches import branches_of
from deniable.discover.detection_limit import half_found
from deniable.discover.ngrams.discovery import Search
from deniable.discover.ngrams.imagined_crowd import Imagined
from deniable.discover.prefixes.chance_of_finding import Group, Way
from deniable.discover.prefixes.discovery import MOST_TESTED
from deniable.discover.prefixes.imagined_crowd import imagined_levels
from deniable.discover.verify import ALPHA
from deniable.errors import InvalidParameter
from deniable.mechanisms import NGrams
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import Domain, NGramsParameters, PrefixesParameters, Strings
from deniable.protocol.prefixes_plan import BEAM

_SEED = 7
_ROUNDS = 2
"""What a string competes with depends on its share, a little."""


def smallest_found(
    parameters: PrefixesParameters | NGramsParameters, domain: Domain, people: int
) -> float:
    """Return the share of a string that is found every second time; at most 1.

    Args:
        parameters: of the mechanism.
        domain: its strings.
        people: who report.

    Raises:
        InvalidParameter: if the domain is no strings.
    """
    if not isinstance(domain, Strings):
        raise InvalidParameter(f"{parameters.mechanism} finds strings, and nothing else.")
    if isinstance(parameters, PrefixesParameters):
        return _by_prefixes(parameters, domain, people)
    return _by_ngrams(parameters, domain, people)


@lru_cache(maxsize=256)
def _by_prefixes(parameters: PrefixesParameters, domain: Strings, people: int) -> float:
    branches, pure = branches_of(parameters, domain), Pure.of(*parameters.support)
    *groups, last = (
        Group(max(1.0, people * weight / parameters.total_weight), pure)
        for weight in parameters.weights
    )
    extensions = [branches.count(level) for level in range(len(groups))]
    rng = np.random.default_rng(_SEED)
    tail = min(0.5, BEAM / extensions[0])
    share = min(1.0, float(normal_isf(tail)) * groups[0].noise + groups[0].noise)
    for _ in range(_ROUNDS):
        levels = imagined_levels(groups, extensions, share, BEAM, rng)
        share = Way(levels, last, MOST_TESTED).half(ALPHA)
        if math.isnan(share):
            return 1.0
    return share


@lru_cache(maxsize=256)
def _by_ngrams(parameters: NGramsParameters, domain: Strings, people: int) -> float:
    search, mechanism = Search(), NGrams.from_parameters(parameters)
    crowd = Imagined(mechanism, len(domain.letters), people, search.threshold, search.most)
    rng = np.random.default_rng(_SEED)

    def chance(share: float) -> float:
        shares = np.full(int(1 / share + 1e-9), share)
        crowds = crowd.crowds(len(shares))
        return float(np.mean([crowd.found(shares, rng).mean() for _ in range(crowds)]))

    return half_found(chance, crowd.guess)
