"""Where the coefficients of a set of attributes stand among all of them, for whole arrays.

`protocol/profile_selection.py` numbers the choices of l attributes with a function each. For one
set of attributes the numbers are start + sum over its attributes of function * stride, so that a
set needs a start and a few strides instead of a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from deniable.mechanisms.base import Codes
from deniable.mechanisms.moments import Subset
from deniable.protocol.profile_selection import Selection


class Numbering(NamedTuple):
    """The number of the first coefficient of a set, and the strides of its functions."""

    start: int
    strides: tuple[int, ...]


class CoefficientNumbers:
    """The numbering of all choices of 1 to `order` attributes with a function each.

    Args:
        selection: how many functions each attribute offers.
        order: the most attributes of a choice.
    """

    def __init__(self, selection: Selection, order: int) -> None:
        self._functions = selection.functions
        self._order = order
        self._rests = [Selection(selection.functions[i:]) for i in range(len(self._functions) + 1)]

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first choice of each order 1..k, and the number of all."""
        counts = self._rests[0].counts(self._order)
        return (0, *np.cumsum(counts).tolist())

    def numbering(self, attributes: Subset) -> Numbering:
        """Return where the coefficients of rising attributes stand."""
        start, strides, left = self.firsts[len(attributes) - 1], [], len(attributes)
        before = 0
        for attribute in attributes:
            for skipped in range(before, attribute):
                start += self._functions[skipped] * self._rests[skipped + 1].count(left - 1)
            left -= 1
            strides.append(self._rests[attribute + 1].count(left))
            before = attribute + 1
        return Numbering(start, tuple(strides))

    def numbers(self, attributes: Subset) -> Codes:
        """Return the numbers of a set's coefficients, an axis of functions per attribute."""
        start, strides = self.numbering(attributes)
        result = np.full((1,) * len(attributes), start, dtype=np.int64)
        for axis, (attribute, stride) in enumerate(zip(attributes, strides, strict=True)):
            shape = [1] * len(attributes)
            shape[axis] = self._functions[attribute]
            steps = np.arange(self._functions[attribute], dtype=np.int64) * stride
            result = result + steps.reshape(shape)
        return result

    def sets(self) -> Iterator[Subset]:
        """Yield all sets of 1 to `order` attributes, the smallest first."""
        for size in range(1, self._order + 1):
            yield from combinations(range(len(self._functions)), size)

    @cached_property
    def listed(self) -> tuple[Codes, Codes]:
        """Return the attributes and functions of every coefficient, a row each.

        Rows have `order` places; those beyond a coefficient's own attributes have attribute 0 and
        function -1.

        Cost: a few integers per coefficient.
        """
        attributes = np.zeros((self.firsts[-1], self._order), dtype=np.int64)
        functions = np.full((self.firsts[-1], self._order), -1, dtype=np.int64)
        for chosen in self.sets():
            numbers = self.numbers(chosen)
            places = np.indices(numbers.shape).reshape(len(chosen), -1).T
            attributes[numbers.reshape(-1), : len(chosen)] = chosen
            functions[numbers.reshape(-1), : len(chosen)] = places
        return attributes, functions
