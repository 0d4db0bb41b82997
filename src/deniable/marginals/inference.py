"""Questions to the tree: joint and conditional probabilities of any attributes.

    P(x) = P(x_root) * product over the others of P(x_v | x_parent(v))

Any sum over this product costs a pass from the leaves to the root (message passing): each attribute
sends its parent a vector for every combination of the attributes that were asked for below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.tree import Tree
from deniable.mechanisms.base import Floats

MOST_CELLS = 2**20
"""The largest table that a question to the tree may have."""


@dataclass(frozen=True)
class TreeModel:
    """A distribution over all attributes in which each depends on at most one other.

    Attributes:
        tree: which depends on which.
        first: the probabilities of the root's answers; the root is the first attribute.
        given: by attribute other than the root, P(its answer | its parent's answer), a row for
            each answer of the parent.
    """

    tree: Tree
    first: Floats
    given: Mapping[int, Floats]

    @classmethod
    def of(cls, tree: Tree, tables: Mapping[tuple[int, int], Floats]) -> TreeModel:
        """Return the model along a tree.

        Edge cases: under an answer of the parent that nobody has, the child has its own margin.

        Args:
            tree: which pairs to use.
            tables: smoothed tables by (i, j), i < j; those of the tree's edges are enough.
        """
        given: dict[int, Floats] = {}
        first: Floats | None = None
        for child, parent in tree.order():
            if parent is None:
                continue
            joint = _oriented(tables, parent, child)
            if first is None:
                first = joint.sum(axis=1) / joint.sum()
            rows = joint.sum(axis=1, keepdims=True)
            alone = np.broadcast_to(joint.sum(axis=0) / joint.sum(), joint.shape)
            # P(child | parent) = P(parent, child) / P(parent).
            given[child] = np.divide(joint, rows, out=alone.copy(), where=rows > 0)
        if first is None:
            raise InvalidParameter("A tree needs at least two attributes.")
        return cls(tree, first, given)

    def answers(self, attribute: int) -> int:
        """Return how many answers an attribute has."""
        return len(self.first) if attribute not in self.given else self.given[attribute].shape[1]

    def joint(self, attributes: Sequence[int], given: Mapping[int, int] | None = None) -> Floats:
        """Return P(attributes | given), an axis per attribute in the order asked for.

        Cost: the number of cells of the answer, times the square of the answers, per attribute.

        Args:
            attributes: places, each once, none of them in `given`.
            given: known answers of other attributes, by place.

        Raises:
            InvalidParameter: if a place is named twice or unknown, if the table would be larger
                than MOST_CELLS, or if what is given has probability 0.
        """
        known = dict(given or {})
        self._check(attributes, known)
        place = {attribute: axis for axis, attribute in enumerate(attributes)}
        below: dict[int, tuple[Floats, list[int]]] = {}
        children: dict[int, list[int]] = {}
        order = self.tree.order()
        for child, parent in order:
            if parent is not None:
                children.setdefault(parent, []).append(child)
        for attribute, _ in reversed(order):
            below[attribute] = self._gathered(
                attribute, children.get(attribute, []), below, attribute in place, known
            )
        root = order[0][0]
        factor, kept = below[root]
        flat = self.first @ factor
        if not flat.sum() > 0:
            raise InvalidParameter("What is given has probability 0 in the tree. Give less.")
        shaped = (flat / flat.sum()).reshape([self.answers(attribute) for attribute in kept])
        table: Floats = shaped.transpose([kept.index(attribute) for attribute in attributes])
        return table

    def _gathered(
        self,
        attribute: int,
        children: list[int],
        below: Mapping[int, tuple[Floats, list[int]]],
        wanted: bool,
        known: Mapping[int, int],
    ) -> tuple[Floats, list[int]]:
        """Return P(what is given below | answer) for every combination of what is asked below.

        The array has a row per answer of the attribute and a column per combination.
        """
        answers = self.answers(attribute)
        factor = np.eye(answers) if wanted else np.ones((answers, 1))
        if attribute in known:
            factor = factor * (np.arange(answers) == known[attribute])[:, None]
        kept = [attribute] if wanted else []
        for child in children:
            inner, names = below[child]
            # The child's answer is summed out: sum_c P(c | answer) P(what is below | c).
            message = self.given[child] @ inner
            factor = (factor[:, :, None] * message[:, None, :]).reshape(answers, -1)
            kept = [*kept, *names]
        return factor, kept

    def _check(self, attributes: Sequence[int], known: Mapping[int, int]) -> None:
        asked = [*attributes, *known]
        if len(set(asked)) < len(asked):
            raise InvalidParameter("Each attribute can be asked for or given once.")
        most = len(self.tree.attributes)
        if any(not 0 <= place < most for place in asked):
            raise InvalidParameter(f"The tree has the attributes 0 to {most - 1}.")
        if any(not 0 <= answer < self.answers(place) for place, answer in known.items()):
            raise InvalidParameter("A given answer must be one of its attribute's.")
        cells = math.prod(self.answers(place) for place in attributes)
        if cells > MOST_CELLS:
            raise InvalidParameter(
                f"A table of {cells:,} cells is too large. Ask for at most {MOST_CELLS:,} cells at "
                "once, or sample profiles and count."
            )


def _oriented(tables: Mapping[tuple[int, int], Floats], parent: int, child: int) -> Floats:
    """Return the pair's table with the parent's answers as rows."""
    return tables[parent, child] if parent < child else tables[child, parent].T
