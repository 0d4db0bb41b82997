"""k-RR in small crowds: every histogram of every crowd, in fractions, against the fast search."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from deniable.mechanisms import KRR
from deniable.privacy.shuffling.blanket import Blanket
from deniable.privacy.shuffling.central import shuffled
from deniable.privacy.shuffling.epsilon_of_delta import reached, smallest
from deniable.privacy.shuffling.krr_crowds import Crowd, Search, crowds
from deniable.privacy.shuffling.krr_histograms import Histograms, _places_before, size_of
from deniable.privacy.shuffling.two_level import Levels

Counts = tuple[int, ...]
RATIO = Fraction(5, 2)


@cache
def law(k: int, ratio: Fraction, held: Counts) -> dict[Counts, Fraction]:
    """Return the exact law of the histogram of people who hold these answers."""
    if not held:
        return {(0,) * k: Fraction(1)}
    found, low = defaultdict[Counts, Fraction](Fraction), 1 / (ratio + k - 1)
    for counts, chance in law(k, ratio, held[:-1]).items():
        for symbol in range(k):
            more = (*counts[:symbol], counts[symbol] + 1, *counts[symbol + 1 :])
            found[more] += chance * low * (ratio if symbol == held[-1] else 1)
    return found


def exact_delta(k: int, ratio: Fraction, others: Counts, grown: Fraction) -> Fraction:
    """Return delta of one crowd; 0 and 1 are x and z."""
    one, other = law(k, ratio, (*others, 0)), law(k, ratio, (*others, 1))
    return sum((max(Fraction(0), one[c] - grown * other[c]) for c in one), Fraction(0))


def crowd_of(others: Counts) -> Crowd:
    counts = Counter(others)
    third = sorted((n for answer, n in counts.items() if answer > 1), reverse=True)
    return Crowd(counts[0], counts[1], tuple(third))


def everybody(k: int, people: int) -> Iterator[Counts]:
    return combinations_with_replacement(range(k), people - 1)


def search(k: int, ratio: float, people: int, delta: float, work: int = 10**9) -> Search:
    return Search(ratio, k, people, math.log(ratio), delta, work)


@pytest.mark.parametrize(("symbols", "people"), [(2, 5), (3, 6), (4, 4), (5, 3)])
def test_places_are_those_of_one_report_less(symbols: int, people: int) -> None:
    """Against a dictionary of all histograms, sorted by their partial sums, the last one first."""
    every = [
        counts for counts in product(range(people + 1), repeat=symbols - 1) if sum(counts) <= people
    ]
    every.sort(key=lambda counts: [sum(counts[:i]) for i in range(symbols - 1, 0, -1)])
    places = {counts: place for place, counts in enumerate(every)}
    assert len(every) == size_of(symbols, people)
    for symbol, before in enumerate(_places_before(symbols, people)):
        for place, counts in enumerate(every):
            less = (*counts[:symbol], counts[symbol] - 1, *counts[symbol + 1 :])
            assert before[place] == places.get(less, len(every))


@pytest.mark.parametrize("others", [(), (0, 0, 1), (2, 2, 2), (0, 2, 3), (1, 2, 3, 3), (2, 3, 4)])
@pytest.mark.parametrize("k", [5, 6])
def test_delta_of_a_crowd_is_the_exact_one(k: int, others: Counts) -> None:
    third = sorted({answer for answer in others if answer > 1})
    space = Histograms(float(RATIO), k, len(third), len(others) + 1)
    fast = space.nobody()
    for answer in others:
        fast = space.joined(fast, answer if answer < 2 else 2 + third.index(answer))
    assert fast.sum() == pytest.approx(1.0)
    for grown in (Fraction(1), Fraction(6, 5), Fraction(2), Fraction(12, 5)):
        exact = float(exact_delta(k, RATIO, others, grown))
        assert space.delta(fast, float(grown), 0.0) == pytest.approx(exact, rel=1e-12, abs=1e-300)
        above, below = (space.delta(fast, float(grown), guard) for guard in (1e-9, -1e-9))
        assert below < exact < above
    assert space.delta(fast, 2.5, 1e-9) == 0.0


def test_what_is_counted_together_shows_no_more() -> None:
    """All at one third answer, seen as "neither", against the crowd itself."""
    space = Histograms(float(RATIO), 4, 0, 4)
    together = space.nobody()
    for _ in range(3):
        together = space.joined(together, 2)
    assert together.sum() == pytest.approx(1.0)
    for grown in (Fraction(6, 5), Fraction(2)):
        exact = float(exact_delta(4, RATIO, (2, 2, 2), grown))
        assert 0 < space.delta(together, float(grown), 0.0) <= exact * (1 + 1e-12)


def test_a_uniform_report_is_one_of_everybody() -> None:
    space = Histograms(3.0, 5, 1, 3)
    mixed = sum(space.joined(space.nobody(), symbol) for symbol in range(3))
    # Two answers that nobody holds: their holders' laws are not among these.
    rest = space.joined(space.nobody(), 3)
    uniform = space.blurred(space.nobody())
    assert uniform.sum() == pytest.approx(1.0)
    assert np.allclose((mixed + 2 * rest) / 5, uniform)


@pytest.mark.parametrize(("k", "people"), [(3, 1), (3, 2), (3, 5), (4, 4), (5, 4), (7, 3)])
def test_crowds_are_counted(k: int, people: int) -> None:
    assert crowds(k, people) == len({crowd_of(others) for others in everybody(k, people)})


@pytest.mark.parametrize(("k", "people"), [(3, 1), (3, 2), (3, 4), (3, 6), (4, 4), (5, 4)])
@pytest.mark.parametrize("ratio", [RATIO, Fraction(8)])
@pytest.mark.parametrize("delta", [0.03, 1e-3])
def test_the_worst_of_all_crowds_is_that_of_brute_force(
    k: int, people: int, ratio: Fraction, delta: float
) -> None:
    """No crowd exceeds delta at the epsilon that is found; the worst does just below it."""
    found = search(k, float(ratio), people, delta).every()
    assert found is not None
    assert found.crowds == crowds(k, people)
    deltas = {
        crowd_of(others): exact_delta(k, ratio, others, Fraction(math.exp(found.epsilon)))
        for others in everybody(k, people)
    }
    assert max(deltas.values()) <= delta
    lower = Fraction(math.exp(found.at_least))
    reached_by = max(exact_delta(k, ratio, others, lower) for others in everybody(k, people))
    assert reached_by > delta
    assert found.at_least <= found.epsilon <= found.at_least + 3e-6
    assert max(deltas.values()) == pytest.approx(float(deltas[found.crowd]), rel=1e-4)


@pytest.mark.parametrize("delta", [0.03, 1e-3, 1e-5])
@pytest.mark.parametrize(("k", "people"), [(3, 12), (4, 9), (6, 7)])
@pytest.mark.parametrize("ratio", [1.5, 2.5, 8.0, 40.0])
def test_where_all_crowds_were_compared_the_worst_is_of_two_answers(
    k: int, people: int, ratio: float, delta: float
) -> None:
    """Nobody at z, all others at x or at one third answer: a finding, no proof."""
    found = search(k, ratio, people, delta).every()
    assert found is not None
    assert (found.crowd.z, len(found.crowd.third)) in ((0, 0), (0, 1))


@pytest.mark.parametrize("grown", [Fraction(6, 5), Fraction(3, 2), Fraction(2)])
@pytest.mark.parametrize(("k", "others"), [(4, 4), (5, 4), (6, 3)])
def test_of_third_answers_one_alone_hides_least(k: int, others: int, grown: Fraction) -> None:
    """As is proven: exactly, in fractions."""
    alone = exact_delta(k, RATIO, (2,) * others, grown)
    for held in combinations_with_replacement(range(2, k), others):
        assert exact_delta(k, RATIO, held, grown) <= alone


def of_krr(k: int, ratio: float) -> Levels:
    low = 1 / (Fraction(ratio) + k - 1)
    return Levels(Fraction(ratio), low, Fraction(0), (k - 2) * low)


@pytest.mark.parametrize(("k", "people", "delta"), [(3, 20, 1e-6), (3, 40, 1e-3), (5, 10, 1e-4)])
def test_the_exact_value_is_between_the_other_answers(k: int, people: int, delta: float) -> None:
    ratio = math.e
    blanket, found = Blanket(of_krr(k, ratio), people, delta), search(k, ratio, people, delta)
    exact, some = found.every(), search(k, ratio, people, delta).attained()
    assert exact is not None
    assert some is not None
    assert exact.epsilon <= smallest(blanket.delta, 1.0, delta)
    assert exact.epsilon >= some.at_least >= reached(blanket.attained, 1.0, delta) - 2e-6


def test_what_is_ruled_out_together_would_not_have_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same without the blanket, and without any ruling out."""
    asked = [(3, 9, 1e-2), (3, 14, 1e-4), (4, 8, 1e-3), (5, 6, 1e-3)]
    fast = [search(k, math.e, people, delta).every() for k, people, delta in asked]
    monkeypatch.setattr(Search, "_hopeless", lambda *_: False)
    slower = [search(k, math.e, people, delta).every() for k, people, delta in asked]
    assert fast == slower


def test_what_would_be_too_much_work_is_left() -> None:
    assert search(3, math.e, 40, 1e-6, work=10**6).every() is None
    assert search(3, math.e, 40, 1e-6, work=10**4).attained() is None
    assert search(3, math.e, 10**6, 1e-6).attained() is None
    assert search(50, math.e, 60, 1e-6).every() is None


@pytest.mark.parametrize(
    ("k", "local", "people", "delta", "epsilon"),
    [(3, 1.0, 10, 1e-6, 0.999752), (3, 1.0, 30, 1e-6, 0.800280), (4, 1.0, 20, 1e-6, 0.827234)],
)
def test_reference_values(k: int, local: float, people: int, delta: float, epsilon: float) -> None:
    """Of the first enumeration, which kept laws in another form."""
    found = shuffled(KRR(k, epsilon=local).parameters, people, delta)
    assert found.epsilon == pytest.approx(epsilon, abs=2e-6)
    assert (found.bound, found.crowds) == ("every crowd", crowds(k, people))
    assert found.worst is not None
    assert found.as_json()["worst_crowd"] == found.worst


def test_words() -> None:
    assert Crowd(0, 0, ()).words == "there are no others"
    assert Crowd(2, 1, (3, 1)).words == (
        "of the others 2 hold the same answer, 1 holds the answer that it is compared with, "
        "3 hold a third answer, 1 holds a third answer"
    )
