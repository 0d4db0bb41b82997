"""Every figure and table that a command makes, in the order of the papers."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable_papers import bj18, cks18, epk14, fpe16, kbr16, oracles
from deniable_papers.base import Figure

FIGURES: tuple[Figure, ...] = (
    *epk14.FIGURES,
    *fpe16.FIGURES,
    *bj18.FIGURES,
    *kbr16.FIGURES,
    oracles.FIGURE,
    *cks18.FIGURES,
)


def figure(name: str) -> Figure:
    """Return the figure with this id.

    Raises:
        InvalidParameter: if there is none; the message lists all.
    """
    for one in FIGURES:
        if one.id == name:
            return one
    raise InvalidParameter(
        f"There is no figure {name!r:.40}. There are: {', '.join(one.id for one in FIGURES)}."
    )
