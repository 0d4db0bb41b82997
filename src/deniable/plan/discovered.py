"""The smallest share at which a string that nobody listed is found, before anybody reports.

Model of `prefixes`: a string must stay among the best at every level, and pass the test of those
who verify. At a level with n_l people, M_l extensions are tested and B kept; a string of share f is
kept if its estimate exceeds what the best B of the others show, z_l = Phi^-1(1 - B / M_l) standard
errors. The verifiers test at most T = 1,000 strings: z = Phi^-1(1 - 0.05 / T). So it is found with
probability

    product over levels and verifiers of Phi((f - z_l sd_l(0)) / sd_l(f)),

which is 1/2 at the share that is returned. Of `ngrams` a string must pass the first look at each of
P places, the threshold at each pair of places, and the test of whole strings, each in the same way;
of the others 1 in G = (letters)^n has the same n-gram at a place by chance, which helps it.

Accuracy: `prefixes` within 5% of simulations (`tests/statistical/test_statistical_plan_found.py`).
What levels say together is not counted, nor collisions with frequent strings, which are peeled; nor
that real strings share beginnings and n-grams more often than random ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import optimize, stats

from deniable.discover.branches import branches_of
from deniable.discover.discovery import MOST_TESTED
from deniable.discover.ngrams import Search
from deniable.discover.verify import ALPHA
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import Domain, NGramsParameters, PrefixesParameters, Strings
from deniable.protocol.ngrams import possible_grams
from deniable.protocol.prefixes_plan import BEAM

Hurdle = tuple[float, float, float, float]
"""What must be passed: its limit in standard errors, the variance at shares 0 and 1, and the share
of the others who help by chance."""


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
    hurdles = list(
        _levels(parameters, domain, people)
        if isinstance(parameters, PrefixesParameters)
        else _places(parameters, domain, people)
    )
    limits, none, every, shared = (np.array(part) for part in zip(*hurdles, strict=True))

    def passes(f: float) -> float:
        shown = f + (1 - f) * shared
        spread = np.sqrt(none + shown * (every - none))
        chances = stats.norm.logcdf((shown - limits * np.sqrt(none)) / spread)
        return float(chances.sum() - math.log(0.5))

    return float(optimize.brentq(passes, 0.0, 1.0)) if passes(1.0) > 0 > passes(0.0) else 1.0


def _levels(parameters: PrefixesParameters, domain: Strings, people: int) -> Iterator[Hurdle]:
    branches, kept = branches_of(parameters, domain), 1
    pure = Pure.of(*parameters.support)
    for group, weight in enumerate(parameters.weights):
        n = max(1.0, people * weight / parameters.total_weight)
        none, every = (float(pure.variance(1, f)) / n for f in (0.0, 1.0))
        if group == parameters.verification:
            yield float(stats.norm.isf(ALPHA / min(kept, MOST_TESTED))), none, every, 0.0
            return
        tested = kept * branches.count(group)
        kept = min(BEAM, tested)
        yield float(stats.norm.isf(min(0.5, kept / tested))), none, every, 0.0


def _places(parameters: NGramsParameters, domain: Strings, people: int) -> Iterator[Hurdle]:
    gram, whole = mechanism_for(parameters.gram), mechanism_for(parameters.whole)
    possible = possible_grams(len(domain.letters), parameters.n)
    first = float(stats.norm.isf(ALPHA / possible))
    at_place = max(1.0, people * parameters.grams / parameters.places)
    one = [float(gram.variance(1, f)) for f in (0.0, 1.0)]
    for _ in range(parameters.places):
        yield first, one[0] / at_place, one[1] / at_place, 1 / possible
    pairs = math.comb(parameters.places, 2)
    if pairs:
        share = math.comb(parameters.grams, 2) / pairs
        at_pair = max(1.0, people * share)
        # Both n-grams are seen through the noise: n Var is the square of one's.
        cut = Search().threshold / math.sqrt(one[0])
        for _ in range(pairs):
            yield cut, one[0] ** 2 / at_pair, one[0] ** 2 / at_pair, 1 / possible**2
    none, every = (float(whole.variance(people, f)) for f in (0.0, 1.0))
    yield float(stats.norm.isf(ALPHA / MOST_TESTED)), none, every, 0.0
