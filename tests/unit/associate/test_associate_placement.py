"""The error of where unlisted strings fall, beside slow twins of its sums."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable, estimate_joint
from deniable.associate.placement import Placing, _added, placing_of
from deniable.associate.placement_parts import Part, parts_of
from deniable.mechanisms import HCMS, KRR, OLH, ORR, PGR, Mechanism, NGrams, Prefixes, Rappor

NAMES = ["alpha", "beta", "gamma", "hidden"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WITH_PARTS: dict[str, tuple[Mechanism, int]] = {
    "rappor": (Rappor(bits=32, hashes=2, cohorts=4, epsilon=4.0), 1),
    "orr": (ORR(epsilon=2.0, cohorts=8), 1),
    "hcms": (HCMS(epsilon=3.0, rows=4, width=16), 1),
    "ngrams": (
        NGrams(alphabet=LETTERS, length=6, epsilon=4.0, bits=16, cohorts=4),
        4,
    ),
}
WITHOUT: dict[str, Mechanism] = {
    "olh": OLH(epsilon=2.0),
    "pgr": PGR(epsilon=2.0),
    "prefixes": Prefixes(epsilon=2.0, alphabet=LETTERS, length=6, people=1_000),
}


def field(mechanism: Mechanism, rng: np.random.Generator, people: int = 4_000) -> Variable:
    codes = rng.choice(4, people, p=[0.2, 0.2, 0.1, 0.5])
    return Variable("a", mechanism, mechanism.simulate(codes, rng, NAMES), tuple(NAMES[:3]))


def beside(people: int, rng: np.random.Generator) -> Variable:
    mechanism = KRR(2, epsilon=2.0)
    return Variable("b", mechanism, mechanism.simulate(rng.integers(0, 2, people), rng))


def test_sums_over_pairs_of_reports(rng):
    """The slow twin: every two different reports of one cohort, every place by itself."""
    variance, ratios = rng.random((2, 3)), rng.standard_normal((40, 3))
    records = np.zeros(40, dtype=[("cohort", "u2"), ("row", "u2")])
    records["cohort"], records["row"] = rng.integers(0, 2, 40), np.arange(40)
    part = Part("cohort", variance, lambda some: ratios[some["row"]])
    scores, own = rng.standard_normal((4, 40)), rng.random(40)
    expected = np.zeros((4, 4))
    for i in range(40):
        for j in range(40):
            if i != j and records["cohort"][i] == records["cohort"][j]:
                both = variance[records["cohort"][i]] @ (ratios[i] * ratios[j])
                expected += own[i] * own[j] * both * np.outer(scores[:, i], scores[:, j])
    assert _added(part, records, scores, own) == pytest.approx(expected)


@pytest.mark.parametrize("name", WITH_PARTS)
def test_a_place_is_as_likely_as_any(name, rng):
    """Ratios to a string anywhere have the mean 0 over places, and are above -1."""
    mechanism, parts = WITH_PARTS[name]
    variable = field(mechanism, rng)
    found = list(parts_of(variable, "flat"))
    assert len(found) >= parts
    for part in found:
        some = (
            variable.reports
            if part.chosen is None
            else variable.reports[part.chosen(variable.reports)]
        )
        ratios = part.ratios(some[:200])
        assert np.abs(ratios.mean(axis=1)).max() < 1e-9
        assert ratios.min() > -1


@pytest.mark.parametrize("name", WITH_PARTS)
def test_half_of_the_people_at_one_place_are_seen(name, rng):
    """One string of half of the people: over k places its share varies by 0.5^2 / k, or nearly."""
    mechanism, _ = WITH_PARTS[name]
    part = next(iter(parts_of(field(mechanism, rng, 40_000), "flat")))
    places = part.variance.shape[1]
    one = 0.25 / places * getattr(mechanism.parameters, "hashes", 1)
    assert part.variance.max() == pytest.approx(one, rel=0.25)


@pytest.mark.parametrize("name", WITHOUT)
def test_where_hash_functions_are_many_there_is_no_such_error(name, rng):
    variables = [field(WITHOUT[name], rng), beside(4_000, rng)]
    assert not list(parts_of(variables[0], "flat"))
    assert estimate_joint(variables).placement is None


def test_it_does_not_fall_with_the_number_of_people(rng):
    mechanism = Rappor(bits=32, cohorts=8, epsilon=6.0)
    names = NAMES[:3] + [f"unlisted {number}" for number in range(20)]
    found = []
    for people in (10_000, 90_000):
        codes = np.where(rng.random(people) < 0.5, 0, rng.integers(3, 23, people))
        reports = mechanism.simulate(codes, rng, names)
        variables = [Variable("a", mechanism, reports, tuple(NAMES[:3])), beside(people, rng)]
        joint = estimate_joint(variables)
        placement = joint.placement.unbounded
        noise = joint.unbounded_covariance - placement
        found.append((np.trace(noise), np.trace(placement)))
    (noise, placement), (less, same) = found
    assert less == pytest.approx(noise / 9, rel=0.2)
    # It is told from few places, and so within a factor; a ninth it is not.
    assert 0.25 < same / placement < 4


def test_the_papers_own_profiles_have_none(rng):
    variables = [field(WITH_PARTS["rappor"][0], rng), beside(4_000, rng)]
    for profile in ("fitted", "halves"):
        assert placing_of(variables, profile) is None
        assert estimate_joint(variables, profile=profile).placement is None


def test_a_table_without_unlisted_people_takes_what_all_people_say(rng):
    lines = rng.random((4, 10)), rng.random((2, 10))
    x = np.append(rng.random(6), [0.0, 0.0])
    x /= x.sum()
    placing = Placing(10, (), lines, {0: rng.random(10)}, {})
    found = placing._unlisted(x, 0)
    assert np.isfinite(found).all()
    assert found.min() > 0
