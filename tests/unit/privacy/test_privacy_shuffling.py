"""Shuffling: published values, a slow twin, and real shuffled crowds enumerated to the end."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from scipy import special, stats

from deniable.client.encoders import encoder_for
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OLH, OUE, PGR, Hadamard, Mechanism, Subset
from deniable.privacy import report_channel
from deniable.privacy.shuffling.binomial_tails import at_least, middle
from deniable.privacy.shuffling.blanket import Blanket
from deniable.privacy.shuffling.central import CONDITIONS, clones, shuffled
from deniable.privacy.shuffling.two_level import Levels, levels
from deniable.protocol import Answer
from deniable.protocol.domain import code_key


@pytest.mark.parametrize(("local", "central"), [(1.0743, 0.0068), (4.394, 0.080)])
def test_known_numbers(local: float, central: float) -> None:
    """Mathematics, section 7: a million people, delta 1e-8."""
    found = clones(local, 10**6, 1e-8)
    assert found.epsilon == pytest.approx(central, abs=0.5 * 10 ** -(4 if central < 0.01 else 3))
    assert (found.delta, found.people, found.local) == (1e-8, 10**6, local)


def slow_delta(epsilon: float, alpha: float, clone: float, others: int) -> float:
    """The two distributions of (a, c) written out, and their difference summed."""
    total = 0.0
    for c in range(others + 1):
        chance = math.comb(others, c) * clone**c * (1 - clone) ** (others - c)
        half = [math.comb(c, a) / 2**c for a in range(c + 1)] + [0.0]
        for a in range(c + 2):
            before = half[a - 1] if a else 0.0
            one = alpha * before + (1 - alpha) * half[a]
            other = (1 - alpha) * before + alpha * half[a]
            total += chance * max(0.0, one - math.exp(epsilon) * other)
    return total


@pytest.mark.parametrize("people", [2, 10, 60, 200])
@pytest.mark.parametrize("local", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_the_bound_is_the_slow_one(local: float, people: int, delta: float) -> None:
    """At the returned epsilon delta is kept, and a little below it is not."""
    found = clones(local, people, delta)
    grown = math.exp(local)
    shape = (grown / (grown + 1), math.exp(-local), people - 1)
    assert slow_delta(found.epsilon, *shape) <= delta
    if 1e-5 < found.epsilon < local:
        assert slow_delta(found.epsilon * 0.999 - 2e-6, *shape) > delta * (1 - 2e-4)


def slow_blanket(epsilon: float, found: Levels, people: int) -> float:
    """E[max(0, S)]/n over all numbers of people in the four cells, and outside of the blanket."""
    e, g = float(found.ratio), math.exp(epsilon)
    chances = [float(found.low), float(found.low), float(found.both), float(found.neither)]
    chances.append(max(0.0, 1 - sum(chances)))
    worth = [e - g, 1 - g * e, e * (1 - g), 1 - g, 0.0]
    total = 0.0
    for cells in product(range(people + 1), repeat=4):
        if sum(cells) > people:
            continue
        counts = [*cells, people - sum(cells)]
        gain = sum(count * value for count, value in zip(counts, worth, strict=True))
        if gain > 0:
            ways = math.factorial(people) / math.prod(map(math.factorial, counts))
            total += ways * math.prod(map(pow, chances, counts)) * gain
    return total / people


@pytest.mark.parametrize(
    "mechanism",
    [KRR(2, epsilon=1.0), KRR(5, epsilon=2.0), Hadamard(8, epsilon=1.0), OUE(8, epsilon=2.0)],
)
def test_the_blanket_is_at_least_the_slow_one(mechanism: Mechanism) -> None:
    """And the same where no report has the higher probability under both answers."""
    found = levels(mechanism.parameters)
    assert found is not None
    blanket = Blanket(found, 9, 0.01)
    for epsilon in (0.0, 0.2, 0.5, 0.9):
        slow = slow_blanket(epsilon, found, 9)
        assert blanket.delta(epsilon) >= slow
        if not found.both:
            assert blanket.delta(epsilon) == pytest.approx(slow, abs=2e-6)
        assert blanket.attained(epsilon) <= slow


def test_the_blanket_of_a_larger_crowd_is_near_the_slow_one() -> None:
    """2,000 people and 20 answers: every number in X, Z and neither, within 8 deviations."""
    found = levels(KRR(20, epsilon=1.0).parameters)
    assert found is not None
    people, e, low, neither = 2_000, *(float(found[i]) for i in (0, 1, 3))

    def near(chance: float) -> np.ndarray:
        width = 8 * math.sqrt(people * chance * (1 - chance))
        return np.arange(int(people * chance - width), min(people, int(people * chance + width)))

    a, z, v = np.meshgrid(near(low), near(low), near(neither), indexing="ij", sparse=True)
    rest = people - a - z - v
    logs = special.gammaln(people + 1) - sum(special.gammaln(x + 1) for x in (a, z, v))
    logs = logs - special.gammaln(np.maximum(rest, 0) + 1) + (a + z) * math.log(low)
    logs += v * math.log(neither) + rest * math.log(1 - 2 * low - neither)
    chances = np.where(rest >= 0, np.exp(logs), 0.0)
    for epsilon in (0.005, 0.02):
        g = math.exp(epsilon)
        gains = a * (e - g) + z * (1 - g * e) + v * (1 - g)
        slow = float((chances * np.maximum(0.0, gains)).sum()) / people
        blanket = Blanket(found, people, 1e-4)
        assert slow <= blanket.delta(epsilon) <= 1.002 * slow
        assert 0.99 * slow <= blanket.attained(epsilon) <= slow


@pytest.mark.parametrize("people", [200, 10**5, 10**11])
def test_the_blanket_is_better_than_clones_where_there_is_one(people: int) -> None:
    general = clones(1.0, people, 1e-8).epsilon
    for mechanism in (KRR(50, epsilon=1.0), OUE(9, epsilon=1.0)):
        found = shuffled(mechanism.parameters, people, 1e-8)
        assert found.bound == "blanket"
        assert found.epsilon < general


@pytest.mark.parametrize("cells", [50, 200])
def test_cells_that_share_their_clones_are_on_the_safe_side(
    monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    found = levels(KRR(3, epsilon=1.0).parameters)
    assert found is not None
    fine = Blanket(found, 10_000, 1e-6)
    monkeypatch.setattr("deniable.privacy.shuffling.blanket._CELLS", cells)
    coarse = Blanket(found, 10_000, 1e-6)
    for epsilon in (0.01, 0.03, 0.045):
        assert fine.delta(epsilon) <= coarse.delta(epsilon) <= 1.2 * fine.delta(epsilon)
        assert fine.attained(epsilon) >= coarse.attained(epsilon)


def crowd(laws: list[dict[bytes, Fraction]]) -> dict[tuple[bytes, ...], Fraction]:
    """Return the exact distribution of the shuffled reports of several people."""
    views: dict[tuple[bytes, ...], Fraction] = {(): Fraction(1)}
    for law in laws:
        longer: dict[tuple[bytes, ...], Fraction] = defaultdict(Fraction)
        for view, chance in views.items():
            for record, share in law.items():
                longer[tuple(sorted((*view, record)))] += chance * share
        views = longer
    return views


@pytest.mark.parametrize(
    ("mechanism", "answers", "people"),
    [
        (KRR(2, epsilon=1.0), 2, 9),
        (KRR(3, epsilon=1.5), 3, 5),
        (KRR(4, epsilon=1.0, epsilon_forever=2.0), 4, 4),
        (Hadamard(3, epsilon=1.0), 3, 3),
        (Subset(4, epsilon=0.5), 4, 3),
        (OUE(3, epsilon=1.0), 3, 3),
        (PGR(4, epsilon=1.0), 4, 3),
    ],
)
@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_no_crowd_of_real_reports_breaks_the_promise(
    mechanism: Mechanism, answers: int, people: int, delta: float
) -> None:
    """Every crowd, every person's change of answer, all reports of the shipped encoder."""
    codes = [Answer(code_key(code), code) for code in range(answers)]
    law = report_channel(encoder_for(mechanism.parameters), codes)
    found = shuffled(mechanism.parameters, people, delta)
    limit, worst = math.exp(found.epsilon), 0.0
    for others in combinations_with_replacement(codes, people - 1):
        views = [crowd([law[other] for other in others] + [law[own]]) for own in codes]
        for one, other in permutations(views, 2):
            excess = sum(max(0.0, float(one[v]) - limit * float(other[v])) for v in one)
            worst = max(worst, excess)
    assert worst <= delta


def test_a_wrong_promise_would_be_noticed() -> None:
    """The same enumeration with half of the epsilon: some crowd breaks it."""
    mechanism, delta = KRR(2, epsilon=1.0), 0.02
    codes = [Answer(code_key(code), code) for code in range(2)]
    law = report_channel(encoder_for(mechanism.parameters), codes)
    limit = math.exp(shuffled(mechanism.parameters, 9, delta).epsilon / 2)
    one, other = (crowd([law[codes[0]]] * 8 + [law[own]]) for own in codes)
    assert sum(max(0.0, float(one[v]) - limit * float(other[v])) for v in one) > delta


def test_more_people_hide_better_and_the_local_promise_stays() -> None:
    found = [clones(1.0, people, 1e-8).epsilon for people in (1, 10, 10**3, 10**5, 10**8, 10**12)]
    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert 0 < found[-1] < 1e-5


def test_a_mechanism_without_levels_has_the_bound_of_clones() -> None:
    parameters = OLH(epsilon=1.0).parameters
    found = shuffled(parameters, 10**5, 1e-8)
    assert found.bound == "clones"
    assert found.as_json()["conditions"] == list(CONDITIONS)


def test_binomial_tails_are_exact_where_they_can_be_counted() -> None:
    trials = 2_000
    counts = [math.comb(trials, a) for a in range(trials + 1)]
    for successes in (-1, 0, 1, 980, 1_030, 1_100, 1_500, 2_000, 2_001):
        exact = Fraction(sum(counts[max(0, successes) :]), 2**trials)
        (found,) = at_least(np.array([float(successes)]), np.array([float(trials)]))
        assert found == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 100, 1e-8), "local"),
        ((float("nan"), 100, 1e-8), "local"),
        ((1.0, 0, 1e-8), "people"),
        ((1.0, 100, 0.0), "delta"),
        ((1.0, 100, 1.0), "delta"),
    ],
)
def test_impossible_questions_are_refused(arguments: tuple[float, int, float], name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"'{name}' parameter"):
        clones(*arguments)


@pytest.mark.parametrize("tail", [1e-3, 1e-12, 1e-200])
@pytest.mark.parametrize("chance", [0.0, 1e-6, 0.3, 0.999, 1.0])
def test_no_more_than_the_tail_lies_outside_of_the_middle(chance: float, tail: float) -> None:
    trials = np.array([0.0, 1.0, 50.0, 3_000.0, 1e7])
    first, last = middle(trials, chance, tail)
    assert np.all((first >= 0) & (first <= last) & (last <= trials))
    assert np.all(stats.binom.cdf(first - 1, trials, chance) <= tail)
    assert np.all(stats.binom.sf(last, trials, chance) <= tail)
    if 0 < chance < 1 and tail > 1e-100:  # and not by much more than needed
        wide = 3 * math.sqrt(-2 * math.log(tail)) * np.sqrt(trials * chance) - 2 * math.log(tail)
        assert np.all(last - first <= wide + 2)
