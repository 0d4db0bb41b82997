"""Unlisted strings where reports are of parts: a distribution over all records; shared parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deniable.associate import Variable
from deniable.associate.fields import FieldRows, field_rows
from deniable.associate.other import other_likelihood
from deniable.mechanisms import PGR, Mechanism, NGrams, Prefixes


def every_record(mechanism: Mechanism) -> np.ndarray:
    """Return every record that a client can send."""
    shape = mechanism.parameters
    if isinstance(mechanism, NGrams):
        bits = [range(2**shape.bits)] * (1 + shape.grams)
        rows = list(itertools.product(range(shape.cohorts), range(shape.choices), *bits))
        records = np.zeros(len(rows), dtype=mechanism.dtype)
        names = ["cohort", "places", *(f"bits_{i}" for i in range(1 + shape.grams))]
    else:
        points = range(mechanism.oracle.parameters.points)
        rows = list(itertools.product(range(shape.groups), range(shape.cohorts), points))
        records = np.zeros(len(rows), dtype=mechanism.dtype)
        names = ["group", "cohort", "point"]
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        records[name] = np.array(column).reshape(records[name].shape)
    return records


@pytest.mark.parametrize(
    "mechanism",
    [
        NGrams(alphabet="ab", length=2, epsilon=4.0, n=1, grams=2, bits=3, hashes=1, cohorts=2),
        Prefixes(epsilon=2.0, alphabet="ab", length=4, people=1_000, cohorts=2, points=10),
    ],
)
@pytest.mark.parametrize("profile", ["flat", "peaks"])
def test_likelihoods_of_all_records_sum_to_1(mechanism, profile) -> None:
    records = every_record(mechanism)
    variable = Variable("x", mechanism, records, ("ab",), None, True)
    assert np.exp(other_likelihood(variable, profile)(records, 0)).sum() == pytest.approx(1)
    assert mechanism.likelihood(records, ["ab"]).sum() == pytest.approx(1)


def test_an_n_gram_that_all_share_says_nothing_about_the_candidates(rng) -> None:
    mechanism = NGrams(alphabet="abc", length=4, epsilon=12.0)
    strings = ["aabb", "aacc", "aabc", "aacb", "aaba", "aaca"]
    reports = mechanism.simulate(rng.integers(0, 6, 20_000), rng, strings)
    variable = Variable("x", mechanism, reports, ("aabb", "aacc"), None, True)
    first = mechanism.part(reports, 1)
    own = mechanism.gram.likelihood(first, ["aa"], log=True)[:, 0]
    other = other_likelihood(variable)(reports, 0)
    flat = other_likelihood(variable, "flat")(reports, 0)
    # Where the n-gram of the first place is reported the mixture gains about what "aa" gains.
    gain = np.mean((other - flat)[mechanism.chosen[reports["places"], 0] == 0])
    assert gain == pytest.approx(np.mean(own - mechanism.unlisted(first)), rel=0.3)


def test_points_of_strings_are_all_alike(rng) -> None:
    mechanism = PGR(epsilon=2.0)
    reports = mechanism.simulate(["a"] * 10, rng)
    logs = other_likelihood(Variable("x", mechanism, reports, ("a",)))(reports, 0)
    cells = mechanism.parameters.cohorts * mechanism.parameters.points
    assert logs == pytest.approx(np.full(10, -np.log(cells)))


def test_beginnings_say_nothing_about_candidates_beside_unlisted_strings(rng) -> None:
    """A beginning may be an unlisted string's too: whole strings alone decide."""
    mechanism = Prefixes(epsilon=4.0, alphabet="abc", length=4, people=20_000)
    reports = mechanism.simulate(["abca", "abcb", "abcc"] * 2_000, rng)
    whole = reports["group"] == mechanism.parameters.verification
    beside = field_rows(Variable("x", mechanism, reports, ("abca", "cccc"), None, True))
    alone = field_rows(Variable("x", mechanism, reports, ("abca", "cccc"), None, False))
    told = {"beside": _apart(beside, reports.size), "alone": _apart(alone, reports.size)}
    assert told["beside"][~whole].max() == 0
    assert told["beside"][whole].max() > 0
    assert told["alone"][~whole].max() > 0  # where all answers are listed a beginning says much


def _apart(rows: FieldRows, n: int) -> np.ndarray:
    """Return how far the likelihoods of the two candidates differ, of every report."""
    codes = np.arange(n) if rows.codes is None else rows.codes
    return np.abs(rows.lines[0] - rows.lines[1])[codes]
