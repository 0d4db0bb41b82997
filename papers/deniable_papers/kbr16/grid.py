"""[KBR16] figures 1 and 2 are grids of alphabet size against epsilon: what the two share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable_papers.base import Rows
from deniable_papers.common.charts import altair, data_of, facets, styled

ALPHABETS = tuple(2**i for i in range(1, 11))
"""k of the rows."""
E_TO_EPSILON = tuple(2**i for i in range(1, 11))
"""e^epsilon of the columns, so that k = e^epsilon is the diagonal."""
LARGE_CROWD = 30_000

GRID_NOTE = (
    "The text does not give the rows and columns of its grids, nor the people of figure 1: chosen "
    "are k = 2, 4, ..., 1,024, epsilon = ln 2, ln 4, ..., ln 1,024 and 30,000 people."
)
ZIPF_NOTE = (
    "The printed list of Zipf exponents ends in '.5', which is read as 5: a law with exponent 0.5 "
    "would be flat, and the others are whole numbers."
)


def cells(alphabets: Sequence[int] = ALPHABETS) -> list[tuple[int, float]]:
    """Return every (k, epsilon) of the grid."""
    return [(k, float(np.log(e))) for k in alphabets for e in E_TO_EPSILON]


def share(flags: Sequence[bool]) -> float | None:
    """Return the share of true flags, None if there are no flags."""
    return float(f"{np.mean(flags):.6g}") if flags else None


def heat(rows: Rows, panels: str, subtitle: str, title: str) -> Any:
    """Return squares coloured by `difference`: blue below 0, orange above, a panel per group.

    The colours are cut off at a tenth, so that small differences can be told apart.
    """
    alt = altair()
    edge = 0.1
    scale = alt.Scale(
        domain=[-edge, 0, edge],
        range=["#3b63c4", "#f4f5f7", "#d9480f"],
        clamp=True,
        interpolate="rgb",
    )
    order = list(dict.fromkeys(str(row[panels]) for row in rows))
    squares = (
        alt.Chart(data_of(rows))
        .mark_rect()
        .encode(
            x=alt.X("e_to_epsilon:O", title="e^epsilon", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("k:O", title="answers k"),
            color=alt.Color("difference:Q", title="difference in l1 loss", scale=scale),
        )
        .properties(width=250, height=210)
    )
    return styled(facets(squares, panels, sort=order, columns=2), title, subtitle)
