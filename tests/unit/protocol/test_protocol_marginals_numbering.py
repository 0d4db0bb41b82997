"""Numberings that clients and analysts must share: choices, contrasts, views."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import pytest

from deniable.authoring.mechanisms.view_cover import cover
from deniable.protocol.contrasts import MAX_ANSWERS, contrasts_of
from deniable.protocol.profile_selection import Selection, signs_differ
from deniable.protocol.profile_truth import keep_threshold
from deniable.protocol.thresholds import ONE
from deniable.protocol.views import uncovered


def _slow(functions: tuple[int, ...], order: int) -> list[tuple[tuple[int, int], ...]]:
    """Every choice, sorted: the slow twin."""
    found = [
        tuple(zip(subset, chosen, strict=True))
        for subset in combinations(range(len(functions)), order)
        for chosen in product(*(range(functions[i]) for i in subset))
    ]
    return sorted(found)


@pytest.mark.parametrize("functions", [(1, 1, 1, 1), (1, 3, 2), (7, 1, 3, 1, 2), (2, 2)])
def test_choices_are_numbered_in_lexicographic_order(functions: tuple[int, ...]) -> None:
    selection = Selection(functions)
    for order in range(1, len(functions) + 1):
        slow = _slow(functions, order)
        assert selection.count(order) == len(slow)
        assert list(selection.listed(order)) == slow
        assert [selection.choice(order, number) for number in range(len(slow))] == slow
    every = [one for order in (1, 2) for one in _slow(functions, order)]
    assert [selection.up_to(2, number) for number in range(len(every))] == every
    with pytest.raises(IndexError):
        selection.up_to(2, len(every))


def test_yes_or_no_attributes_are_the_subsets() -> None:
    selection = Selection((1,) * 32)
    assert selection.counts(3) == (32, 496, 4_960)
    last = selection.choice(3, 4_959)
    assert tuple(i for i, _ in last) == (29, 30, 31)


def test_signs() -> None:
    assert signs_differ((1, 0, 3), ((0, 1),)) == 1
    assert signs_differ((1, 0, 3), ((0, 1), (2, 1))) == 0
    assert signs_differ((1, 0, 3), ((0, 1), (2, 3))) == 1


@pytest.mark.parametrize("answers", [2, 3, 4, 5, 9, 16, MAX_ANSWERS])
def test_contrasts_are_orthogonal_and_fill_minus_one_to_one(answers: int) -> None:
    found = contrasts_of(answers)
    assert len(found) == answers - 1
    for contrast in found:
        assert sum(contrast.values) == 0
        assert max(map(abs, contrast.values)) == contrast.scale
        assert contrast.values[0] > 0
        assert math.gcd(*contrast.values) == 1
        assert 0 < contrast.mean_square <= 1
    for one, other in combinations(found, 2):
        assert sum(a * b for a, b in zip(one.values, other.values, strict=True)) == 0


@pytest.mark.parametrize("answers", range(2, MAX_ANSWERS + 1))
def test_signs_are_a_tight_frame_and_cost_less_than_contrasts(answers: int) -> None:
    """A table of one attribute: the sum of its cells' variances, in variances of a sign."""
    size = 1 << (answers - 1).bit_length()
    signs = [[(-1) ** (x & mask).bit_count() for x in range(answers)] for mask in range(1, size)]
    for x, y in product(range(answers), repeat=2):
        assert sum(sign[x] * sign[y] for sign in signs) == (size - 1 if x == y else -1)
    frame = (answers - 1) * (size - 1) / size
    real = (answers - 1) / answers * sum(1 / c.mean_square for c in contrasts_of(answers))
    if answers == 2:
        assert real == frame
    else:
        assert real > 1.4 * frame >= 1.4 * (answers - 1) ** 2 / answers


@pytest.mark.parametrize("answers", [2, 3, 4, 5, 7, 16, 33, 64, 75])
def test_the_recurrence_is_the_sum_of_binomials(answers: int) -> None:
    """The slow twin: c_m(x) = sum over i of (-1)^i C(r-1-i, m-i) C(m+i, m) C(x, i)."""
    for degree, contrast in enumerate(contrasts_of(answers), start=1):
        slow = [
            sum(
                (-1) ** i
                * math.comb(answers - 1 - i, degree - i)
                * math.comb(degree + i, degree)
                * math.comb(x, i)
                for i in range(degree + 1)
            )
            for x in range(answers)
        ]
        shared = math.gcd(*slow)
        assert contrast.values == tuple(value // shared for value in slow)


def test_known_contrasts() -> None:
    assert contrasts_of(2)[0].values == (1, -1)
    assert [c.values for c in contrasts_of(3)] == [(1, 0, -1), (1, -2, 1)]
    assert contrasts_of(5)[1].values == (2, -1, -2, -1, 2)
    assert contrasts_of(5)[3].values == (1, -4, 6, -4, 1)


@pytest.mark.parametrize(("attributes", "order", "size"), [(8, 2, 4), (8, 3, 5), (7, 1, 3)])
def test_views_cover_every_set_and_stay_small(attributes: int, order: int, size: int) -> None:
    views = cover((2,) * attributes, order, size, 2**16)
    assert uncovered(views, attributes, order) == 0
    assert all(order <= len(view) <= size for view in views)
    assert all(view == tuple(sorted(set(view))) for view in views)
    at_least = math.comb(attributes, order) / math.comb(size, order)
    assert at_least <= len(views) < math.comb(attributes, order)


def test_views_of_the_order_are_all_the_tables() -> None:
    assert cover((2,) * 5, 2, 2, 4) == tuple(combinations(range(5), 2))


def test_views_keep_to_their_cells() -> None:
    answers = (2, 50, 2, 50, 2)
    views = cover(answers, 2, 4, 200)
    assert uncovered(views, 5, 2) == 0
    large = [v for v in views if math.prod(answers[i] for i in v) > 200]
    assert large == [(1, 3)]


def test_uncovered_counts() -> None:
    assert uncovered(((0, 1, 2), (0, 3)), 4, 2) == 2


@pytest.mark.parametrize("cells", [2, 3, 4, 1_000, 65_536])
@pytest.mark.parametrize("truth", [2**63 + 2**40, 3 * 2**62, ONE - 1])
def test_thresholds_of_tables_are_rounded_down(cells: int, truth: int) -> None:
    e = Fraction(truth, ONE - truth)
    exact = e / (e + cells - 1) * ONE
    keep = keep_threshold(truth, cells)
    assert keep <= exact < keep + 1
    assert keep_threshold(truth, 2) == truth
