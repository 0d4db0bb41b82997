"""Closed-form error of a table of k attributes, for the mechanisms of profiles.

Model: a cell of a table of c cells is 1/c of the sum of the table's orthonormal coefficients. With
A_l of them about l attributes, each known with n Var = v_l (the people's sampling included, and all
answers equally frequent),

    n Var(cell) = sum_l A_l v_l / c^2  -  (1 - 1/c)/c        given the people's values.

Smoothing shrinks what l > 1 attributes have beyond fewer of them, the more the less is known. With
n people the noise of such an interaction is s = v_l/n, and of it

    f_l(s) = 1/(1 + (s/t_l)^p)         t_l = 1/1000^(l-1), p = 0.4

is left: all of it where the noise is far below t_l, the square of a typical interaction, and hardly
more than the interaction itself where it is far above. A prior of one width would have p = 1;
interactions are a few large ones among many small ones, which makes the passage slower. Of m
pairs smoothing trusts what they say together by (m - 2)/m. Single attributes are not shrunken, but
a mean of signs lies in -1..1: f_1 = 1/(1 + s).

Accuracy: the constants were fitted to smoothed tables of yes/no attributes; how good the
choices are is printed by `benchmarks/marginals_auto.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from deniable import _validate
from deniable.protocol import epsilon

Views = tuple[tuple[int, ...], ...]

PEOPLE = 1_000_000
"""The expected number of people where a survey does not say."""
TYPICAL = 0.001
"""The noise at which half of an interaction of two attributes is believed."""
RARER = 1_000.0
"""The factor by which that noise falls with every further attribute."""
SLOWNESS = 0.4
"""The power p: 1 if all interactions were alike."""
MOST_PEOPLE = 10**12


def expected_people(owner: str, wanted: Mapping[str, object]) -> int:
    """Return the expected number of people: `people` of the survey, else `PEOPLE`.

    Raises:
        InvalidParameter: if it is no number of people.
    """
    return _validate.integer("people", owner, wanted.get("people", PEOPLE), 1, MOST_PEOPLE)


def cell_noise(orders: Sequence[float], cells: float) -> float:
    """Return n Var of an unbiased cell, from the parts of orders 1, 2, ..., sampling included."""
    # The people's own sampling, f (1 - f) at f = 1/c, is no error given their values.
    return sum(orders) - (1 - 1 / cells) / cells


def smoothed_noise(orders: Sequence[float], answers: Sequence[int], people: int) -> float:
    """Return about n times the mean squared error of a smoothed cell, sampling included.

    Args:
        orders: the parts of coefficients of 1, 2, ... k attributes in n Var of a cell.
        answers: of the profile's attributes.
        people: n, who report.
    """
    mean, order, total = mean_answers(answers), len(orders), 0.0
    pairs = math.comb(len(answers), 2) * (mean - 1) ** 2
    for taken, added in enumerate(orders, 1):
        coefficients = math.comb(order, taken) * (mean - 1) ** taken
        noise = added * mean ** (2 * order) / coefficients / people
        total += added * left_of(noise, taken, pairs)
    return total


def left_of(noise: float, taken: int, pairs: float) -> float:
    """Return the share of a coefficient's noise that smoothing leaves.

    Args:
        noise: variance of the coefficient.
        taken: the number of attributes that the coefficient is about.
        pairs: the number of coefficients about two attributes.
    """
    if taken == 1:
        return 1 / (1 + noise)
    # f_l(s) of the model above, with 1/t_l = RARER^(l - 2) / TYPICAL.
    left = 1 / (1 + math.pow(noise / TYPICAL * RARER ** (taken - 2), SLOWNESS))
    if taken > 2:
        return left
    # Of m pairs, smoothing takes off (m - 2)/m of what f_l would.
    return 1 - max(0.0, pairs - 2) / pairs * (1 - left)


def krr_noise(cells: float, micros: int) -> float:
    """Return n Var of a coefficient behind k-RR over m cells: ((E + m - 1)/(E - 1))^2."""
    e = float(epsilon.exp_micros(micros))
    return ((e + cells - 1) / (e - 1)) ** 2


def view_orders(answers: tuple[int, ...], order: int, size: int, micros: int) -> list[float]:
    """Return the part of each order in n Var of a cell, from views of `size` attributes.

    Every l attributes are taken to be in the share C(size, l)/C(d, l) of the views, and all those
    views are used. Where answers differ, cells are powers of their geometric mean.
    """
    d, mean = len(answers), mean_answers(answers)
    each = krr_noise(mean**size, micros)
    noise = [each * math.comb(d, taken) / math.comb(size, taken) for taken in range(1, order + 1)]
    return _added(noise, mean)


def cover_orders(views: Views, answers: tuple[int, ...], order: int, micros: int) -> list[float]:
    """Return the part of each order in n Var of a cell, from the actual views.

    The last views are often smaller than the others.

    A set of attributes is known with n Var = V / (sum of 1/v over the views that hold it), of V
    views, each with the noise v of k-RR over its cells; the mean over all sets of a size counts.
    """
    sizes, patterns = _held(views, answers, order)
    told = [1 / krr_noise(cells, micros) for cells in sizes]
    noise = []
    for alike in patterns:
        total = sum(
            sets / sum(held * each for held, each in zip(pattern, told, strict=True))
            for pattern, sets in alike.items()
        )
        noise.append(len(views) * total / sum(alike.values()))
    return _added(noise, mean_answers(answers))


@lru_cache(maxsize=64)
def _held(
    views: Views, answers: tuple[int, ...], order: int
) -> tuple[tuple[int, ...], tuple[Counter[tuple[int, ...]], ...]]:
    """Return the distinct numbers of cells of views, and the patterns of views that hold a set.

    The pattern of a set of attributes is the number of views of each size that hold it. There is
    one count of patterns for sets of 1, 2, ... k attributes each. The result is cached, since plans
    ask for the same views at many epsilons.
    """
    cells = [math.prod(answers[i] for i in view) for view in views]
    sizes = tuple(sorted(set(cells)))
    patterns = []
    for taken in range(1, order + 1):
        known: dict[tuple[int, ...], list[int]] = {}
        for view, size in zip(views, map(sizes.index, cells), strict=True):
            for chosen in combinations(view, taken):
                known.setdefault(chosen, [0] * len(sizes))[size] += 1
        patterns.append(Counter(map(tuple, known.values())))
    return sizes, tuple(patterns)


def _added(noise: Sequence[float], answers: float) -> list[float]:
    """Return the part of each order in n Var of a cell, from n Var of its coefficients."""
    # A_l = C(k, l) (r - 1)^l coefficients are about l attributes, and c^2 = r^(2k).
    order = len(noise)
    return [
        math.comb(order, taken) * (answers - 1) ** taken * each / answers ** (2 * order)
        for taken, each in enumerate(noise, 1)
    ]


def mean_answers(answers: Sequence[int]) -> float:
    """Return the geometric mean of numbers of answers."""
    return math.exp(math.fsum(map(math.log, answers)) / len(answers))
