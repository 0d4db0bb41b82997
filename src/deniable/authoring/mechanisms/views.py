"""Views from what people wrote: `epsilon`, `order`, and the `size` of views."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from deniable import _validate
from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.mechanisms.view_cover import cover
from deniable.authoring.profile_noise import (
    PEOPLE,
    cell_noise,
    cover_orders,
    expected_people,
    mean_answers,
    smoothed_noise,
    view_orders,
)
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring, Written
from deniable.protocol.declared import whole
from deniable.protocol.domain import Domain
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.protocol.profile_parameters import check_count
from deniable.protocol.views import MOST_CELLS, MOST_VIEWS, ViewsParameters

LARGEST_VIEW = 4_096
"""The most cells of a view whose size is chosen here."""
_size = whole(1, MAX_ATTRIBUTES).read


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> ViewsParameters:
    """Read `epsilon`, `order` and the `size` of views.

    By default the size is the best one for the survey's `people`, or for PEOPLE.
    """
    answers, order, micros = wanted_shape("views", wanted, domain, absent)
    check_count("views", "views", math.comb(len(answers), order), MOST_VIEWS)
    largest = math.prod(sorted(answers)[-order:])
    check_count("views", "cells in one view", largest, MOST_CELLS)
    best = best_size(answers, order, micros, expected_people("views", wanted))
    size = _size("size", "views", wanted.get("size", best))
    if not order <= size <= len(answers):
        must = f"an integer from {order}, the order, to {len(answers)}"
        raise _validate.invalid("size", "views", must, size)
    views = _cover(answers, order, size)
    return ViewsParameters(answers, order, truth_threshold(1, micros), views)


def view_noise(answers: tuple[int, ...], order: int, size: int, micros: int) -> float:
    """Return n Var, roughly, of a cell of k attributes, from views of `size` attributes."""
    orders = view_orders(answers, order, size, micros)
    return cell_noise(orders, mean_answers(answers) ** order)


def best_size(answers: tuple[int, ...], order: int, micros: int, people: int = PEOPLE) -> int:
    """Return the number of attributes of a view of the least error of smoothed tables.

    The least by the closed form, or one more or less: these three by the views that they have.
    """

    def smoothed(orders: list[float]) -> float:
        return smoothed_noise(orders, answers, people)

    sizes = [
        size
        for size in range(order, len(answers) + 1)
        if size == order or math.prod(sorted(answers)[-size:]) <= LARGEST_VIEW
    ]
    guess = min(sizes, key=lambda size: smoothed(view_orders(answers, order, size, micros)))
    near = [size for size in sizes if abs(size - guess) <= 1]
    return min(
        near,
        key=lambda s: smoothed(cover_orders(_cover(answers, order, s), answers, order, micros)),
    )


@lru_cache(maxsize=64)
def _cover(answers: tuple[int, ...], order: int, size: int) -> tuple[tuple[int, ...], ...]:
    """Return views of a size; kept, because whoever plans asks for the same ones many times."""
    largest = math.prod(sorted(answers)[-order:])
    return cover(answers, order, size, max(largest, MOST_CELLS))


KEYS: Mapping[str, Written] = {**PROFILE_KEYS, "size": Written(_size, "4")}
AUTHORING = Authoring(KEYS, resolve)
