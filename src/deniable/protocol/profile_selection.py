"""Numbering the ways to choose some attributes and one function of each.

Model: attribute i offers n_i functions. The ways to choose l attributes out of those from i on,
with one function each, are

    ways(i, l) = n_i ways(i + 1, l - 1) + ways(i + 1, l),    ways(i, 0) = 1,

and their numbers follow this sum: first all ways that take attribute i (function 0 first), then
those that do not. With n_i = 1 these are the l-subsets in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from deniable.protocol.frozen import frozen

Chosen = tuple[tuple[int, int], ...]
"""Attributes, rising, each with the number of its function."""


@frozen
class Selection:
    """The choices of attributes with a function each; `functions` has the number per attribute.

    Cost: a choice from its number takes a step per attribute; nothing is listed.
    """

    functions: tuple[int, ...]

    @cached_property
    def _ways(self) -> list[list[int]]:
        """ways[i][l], as above."""
        attributes = len(self.functions)
        table = [[0] * (attributes + 1) for _ in range(attributes + 1)]
        table[attributes][0] = 1
        for i in range(attributes - 1, -1, -1):
            table[i][0] = 1
            for taken in range(1, attributes + 1):
                with_it = self.functions[i] * table[i + 1][taken - 1]
                table[i][taken] = with_it + table[i + 1][taken]
        return table

    def count(self, order: int) -> int:
        """Return the number of choices of exactly `order` attributes."""
        return self._ways[0][order]

    def counts(self, order: int) -> tuple[int, ...]:
        """Return the number of choices of 1, 2, ..., `order` attributes."""
        return tuple(self.count(taken) for taken in range(1, order + 1))

    def choice(self, order: int, number: int) -> Chosen:
        """Return choice `number` of 0..count(order)-1."""
        chosen: list[tuple[int, int]] = []
        for i, functions in enumerate(self.functions):
            if order == 0:
                break
            rest = self._ways[i + 1][order - 1]
            if number < functions * rest:
                chosen.append((i, number // rest))
                number, order = number % rest, order - 1
            else:
                number -= functions * rest
        return tuple(chosen)

    def up_to(self, order: int, number: int) -> Chosen:
        """Return choice `number` among those of 1, 2, ..., `order` attributes, in this order."""
        for taken in range(1, order + 1):
            if number < self.count(taken):
                return self.choice(taken, number)
            number -= self.count(taken)
        raise IndexError("There is no choice of this number.")

    def listed(self, order: int) -> Iterator[Chosen]:
        """Yield every choice of exactly `order` attributes, in the order of their numbers."""
        return self._from(0, order)

    def _from(self, start: int, order: int) -> Iterator[Chosen]:
        if order == 0:
            yield ()
            return
        for i in range(start, len(self.functions) - order + 1):
            for function in range(self.functions[i]):
                for rest in self._from(i + 1, order - 1):
                    yield ((i, function), *rest)


def signs_differ(codes: tuple[int, ...], masks: Chosen) -> int:
    """Return 0 where (-1)^<alpha, j> is +1 and 1 where it is -1.

    Each of the chosen attributes has a mask; <alpha, j> is the number of ones that masks and codes
    have in common.
    """
    return sum((codes[i] & mask).bit_count() for i, mask in masks) & 1
