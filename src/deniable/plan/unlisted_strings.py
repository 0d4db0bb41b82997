"""The detection limit of strings that nobody listed: the share that half of the runs find.

Model: a crowd holds 1 / f strings of the same share f, random and of full length. The detection
limit is the f at which half of them are found; then 1 / f equally frequent strings can be learned.
The threshold that a string must pass depends on its competitors, and discovery has no closed form.
So crowds are simulated: normal numbers with the variances of the reports stand for the reports.

`prefixes`  A simulated crowd gives the threshold of a beginning at every level
            (`discover/prefixes/imagined_crowd.py`), and many paths give the probability that a
            string of share f passes all of them (`discover/prefixes/chance_of_finding.py`).
`ngrams`    Simulated crowds are searched, joined and tested (`discover/ngrams/imagined_crowd.py`);
            the limit is read off a line through the chances at five shares
            (`discover/detection_limit.py`).

Accuracy: within 5% of simulated reports (`tests/statistical/test_statistical_plan_found.py` and
`test_statistical_plan_ngrams.py`). Real strings share beginnings and n-grams more often than random
ones; where few strings are as frequent, n-grams find one of a smaller share.

Cost: a second or two. The seeds are fixed: the same plan has the same numbers.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from deniable._distributions import normal_isf, normal_sf
from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.discover.detection_limit import half_found
from deniable.discover.extensions import branches_of
from deniable.discover.ngrams.discovery import Search
from deniable.discover.ngrams.imagined_crowd import Imagined
from deniable.discover.prefixes.chance_of_finding import Group, Way
from deniable.discover.prefixes.discovery import MOST_TESTED
from deniable.discover.prefixes.imagined_crowd import imagined_levels
from deniable.discover.random_points import most_tested, share_needed
from deniable.discover.verify import ALPHA
from deniable.errors import InvalidParameter
from deniable.mechanisms import NGrams
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import Domain, NGramsParameters, PrefixesParameters, Strings

_SEED = 7
_ROUNDS = 2
"""Repetitions: a string's competitors depend a little on its own share."""


def smallest_found(
    parameters: PrefixesParameters | NGramsParameters, domain: Domain, people: int
) -> float:
    """Return the detection limit: the share of a string that half of the runs find; at most 1.

    Args:
        parameters: of the mechanism.
        domain: its strings.
        people: the number of people who report.

    Raises:
        InvalidParameter: if the domain does not consist of strings.
    """
    if not isinstance(domain, Strings):
        raise InvalidParameter(f"{parameters.mechanism} finds strings, and nothing else.")
    # Each of the two searches has a simulation of its own.
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
    # A first guess: the noise level that BEAM of the first level's beginnings exceed by chance,
    # and one standard deviation more.
    tail = min(0.5, BEAM / extensions[0])
    share = min(1.0, float(normal_isf(tail)) * groups[0].noise + groups[0].noise)
    cohorts, points = parameters.cohorts, parameters.oracle.points
    tested = most_tested(cohorts, points, ALPHA, MOST_TESTED)
    needed = share_needed(lambda x: normal_sf(x / last.noise), cohorts, points, ALPHA / tested)
    for _ in range(_ROUNDS):
        levels = imagined_levels(groups, extensions, share, BEAM, rng)
        share = Way(levels, last, tested, needed).half(ALPHA)
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
