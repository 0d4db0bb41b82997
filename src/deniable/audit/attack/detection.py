"""Detection of crafted reports: tests of properties that all honest reports have.

Four looks at the reports of one question and epoch, each from another device:

- the number of ones of a report: the sum of a binomial number among the bits that an answer sets
  and one among the others, averaged over the number of different bits that h hash functions hit;
- cohort, seed, row and coefficient: uniform, whatever people answer;
- the public part of a report about many attributes, and its ones (`detection_profiles.py`);
- equal records: at most as many pairs as if all people gave one answer.

An attacker who draws the rest of a record as honest clients do passes all of them. So silence
proves nothing; the bound that holds against everybody is leverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import binomial_pmf, poisson_sf
from deniable.audit.attack.detection_profiles import likeliest_profile, profile_looks
from deniable.audit.channel_checks import groups_as_weighted, uniformity
from deniable.audit.exact.unary_bits import most_held
from deniable.audit.findings import ALPHA, Finding
from deniable.audit.hypotheses import goodness_of_fit
from deniable.audit.reading import public_bounds
from deniable.mechanisms.base import Floats
from deniable.protocol import Parameters, PrefixesParameters, ProfileParameters, Question
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.unary import UnaryParameters

FEWEST = 1_000
"""The fewest reports that are looked at; fewer say too little."""

MOST_PAIRS = 0.1
"""Equal records are looked at only where honest people make at most 0.1 pairs per report."""


@dataclass(frozen=True)
class Advice:
    """The result of one look.

    Attributes:
        look: its name.
        p_value: the probability that honest reports look as strange, or stranger.
    """

    look: str
    p_value: float


def field_records(question: Question, records: bytes) -> list[NDArray[Any]]:
    """Return whole records of a question as one structured array per field."""
    table = np.frombuffer(records, dtype=np.uint8).reshape(-1, question.record_size)
    arrays, start = [], 0
    for field in question.fields:
        layout = field.parameters.layout
        part = np.ascontiguousarray(table[:, start : start + layout.size])
        arrays.append(part.view(np.dtype(layout.descr)).ravel())
        start += layout.size
    return arrays


def advise(parameters: Parameters, reports: NDArray[Any]) -> list[Advice]:
    """Return the result of each look at the reports of one epoch; none below 1,000 reports.

    Cost: linear in the reports, and a sort.

    Args:
        parameters: of the mechanism.
        reports: a structured array of its records.
    """
    if len(reports) < FEWEST:
        return []
    if isinstance(parameters, ProfileParameters):
        found = [Advice(*look) for look in profile_looks(parameters, reports)]
        return [*found, *_equal(parameters, reports)]
    looks = list(_uniform(parameters, reports))
    if isinstance(parameters, PrefixesParameters):
        groups = groups_as_weighted(parameters, reports["group"].astype(np.int64))
        looks.append(Advice("the group", groups.p_value))
    if isinstance(parameters, UnaryParameters):
        looks += _ones(parameters, reports)
    return [*looks, *_equal(parameters, reports)]


def advice_finding(
    about: str, advice: Sequence[Advice], reports: int, alpha: float = ALPHA
) -> Finding:
    """Return one finding for all looks at a field; it is advice, so that it always holds.

    Guarantees: honest reports of independent devices are called strange with probability at most
    alpha, the false-alarm rate.
    """
    name = "advice on crafted reports"
    if not advice:
        return Finding(about, name, True, "nothing to look at: few reports, or no hold", {})
    worst = min(advice, key=lambda one: one.p_value)
    p_value = min(1.0, worst.p_value * len(advice))
    strange = p_value < alpha
    words = f"{len(advice)} looks at {reports:,} reports, nothing strange"
    if strange:
        words = f"STRANGE: {worst.look} of {reports:,} reports"
    numbers = {"strange": strange, "p_value": p_value, "false_alarm": alpha, "reports": reports}
    return Finding(about, name, True, f"{words}, corrected p-value {p_value:.3g}", numbers)


def _uniform(parameters: Parameters, reports: NDArray[Any]) -> Iterator[Advice]:
    for item, bound in public_bounds(parameters).items():
        if bound > 1:
            yield Advice(f"the {item}", uniformity(reports[item].astype(np.int64), bound).p_value)


def _ones(parameters: UnaryParameters, reports: NDArray[Any]) -> Iterator[Advice]:
    """Compare the number of ones with its law; sets and single bits have no known law."""
    if parameters.members or parameters.bits == 1:
        return
    ones = np.unpackbits(reports["bits"], axis=1).sum(axis=1, dtype=np.int64)
    counts = np.bincount(ones, minlength=parameters.bits + 1)
    yield Advice("the number of ones", goodness_of_fit(counts, ones_law(parameters)).p_value)


def ones_law(parameters: UnaryParameters) -> Floats:
    """Return the probability of 0, 1, ... k ones in a report, over all hash functions.

    d different bits are hit by h functions with probability C(k, d) d! S(h, d) / k^h, S the
    Stirling numbers of the second kind; the ones are then Bin(d, q*) + Bin(k - d, p*).

    Accuracy: exact for one bit per answer. With several hash functions it is the mean over them:
    where most people hold one string and cohorts are few, that string's own collisions differ
    from the mean, which a million reports could show.
    """
    k, h = parameters.bits, most_held(parameters)
    q, p = float(parameters.q_star), float(parameters.p_star)
    law = np.zeros(k + 1)
    for d in range(1, h + 1):
        chance = prod(range(k - d + 1, k + 1)) * _stirling(h, d) / k**h
        own = binomial_pmf(np.arange(d + 1), d, q)
        rest = binomial_pmf(np.arange(k - d + 1), k - d, p)
        law += chance * np.convolve(own, rest)
    return np.asarray(law / law.sum())


def _stirling(n: int, parts: int) -> int:
    """Return S(n, parts), the Stirling number of the second kind."""
    signed = (
        comb(parts, i) * int((parts - i) ** n) * (-1 if i % 2 else 1) for i in range(parts + 1)
    )
    return sum(signed) // prod(range(1, parts + 1))


def _equal(parameters: Parameters, reports: NDArray[Any]) -> Iterator[Advice]:
    n = len(reports)
    pairs = n * (n - 1) / 2
    expected = pairs * most_equal(parameters)
    if expected > MOST_PAIRS * n:
        return  # few different records are possible: equal ones say nothing
    raw = reports.view(np.dtype((np.void, reports.dtype.itemsize)))
    _, counts = np.unique(raw, return_counts=True)
    found = float((counts * (counts - 1) / 2).sum())
    yield Advice("the number of equal records", float(poisson_sf(found - 1, expected)))


def most_equal(parameters: Parameters) -> float:
    """Return a bound on the probability that two devices send the same record.

    It is the probability for two devices with one answer. For records without bits the probability
    of the likeliest record bounds it; short records have the bound 1, which claims nothing.
    """
    if isinstance(parameters, ProfileParameters):
        return likeliest_profile(parameters)
    if isinstance(parameters, UnaryParameters):
        h = most_held(parameters)
        q, p = float(parameters.q_star), float(parameters.p_star)
        same_q, same_p = q * q + (1 - q) ** 2, p * p + (1 - p) ** 2
        return same_q**h * same_p ** (parameters.bits - h) / cohorts_of(parameters)
    return 1.0 if parameters.layout.size < 6 else _largest(parameters)


def _largest(parameters: Parameters) -> float:
    """Return the largest probability of a record with a seed or a row and a coefficient."""
    return float(parameters.support[0]) / prod(public_bounds(parameters).values())
