"""Overlapping views: few sets of attributes such that every k of them are together in one.

Model: a covering design. Greedy: a view begins with the first k-set that is in none yet, and grows
by the attribute that brings the most k-sets of that kind (the first of these), while it has fewer
than `size` attributes and at most `cells` cells, and while an attribute brings one. The views
follow from the answers alone, in integers, and are published: clients compute none of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

Subset = tuple[int, ...]


def cover(answers: Subset, order: int, size: int, cells: int) -> tuple[Subset, ...]:
    """Return views of at most `size` attributes and `cells` cells that cover every k-set.

    Edge cases: a k-set that alone has more than `cells` cells is a view of its own.

    Cost: each view looks at the k-sets of its attributes with each other attribute.
    """
    missing = dict.fromkeys(combinations(range(len(answers)), order))
    views: list[Subset] = []
    while missing:
        view = _grown(next(iter(missing)), answers, order, size, cells, missing)
        for covered in combinations(view, order):
            missing.pop(covered, None)
        views.append(view)
    return tuple(views)


def _grown(
    view: Subset, answers: Subset, order: int, size: int, cells: int, missing: dict[Subset, None]
) -> Subset:
    while len(view) < size:
        held = math.prod(answers[i] for i in view)
        gains = {
            i: sum(subset in missing for subset in _with(view, i, order))
            for i in range(len(answers))
            if i not in view and held * answers[i] <= cells
        }
        best = max(gains, key=lambda i: (gains[i], -i), default=-1)
        if best < 0 or gains[best] == 0:
            break
        view = tuple(sorted((*view, best)))
    return view


def _with(view: Subset, attribute: int, order: int) -> Iterator[Subset]:
    """Yield the k-sets that an attribute makes with those of a view."""
    for others in combinations(view, order - 1):
        yield tuple(sorted((*others, attribute)))
