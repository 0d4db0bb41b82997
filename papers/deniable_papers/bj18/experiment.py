"""The common parts of the experiments of [BJ18]: words, one-time RAPPOR, precision and recall.

The client sends the permanent response itself: p = 0, q = 1. With f the share of noise,

    epsilon = 2 h ln((1 - f/2) / (f/2)),     f = 2 / (1 + exp(epsilon / 2h)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Floats
from deniable_papers.base import Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.populations import words
from deniable_papers.common.sweeping import DECODERS, Setting, by_label, sweep

PRESENT, ABSENT = 90, 90
"""The paper draws its 90 most frequent words; as many more candidates are held by nobody."""
EPSILON = 2 * math.log(3)
BITS, HASHES, COHORTS, NOISE = 48, 2, 8, 0.73
PEOPLE = 400_000
CHOICES = (
    "The paper gives neither the number of people nor the candidates: 400,000 people, so that its "
    "most frequent word has about the printed count of 37,436; the 90 most frequent words after "
    "'the' (the paper's list begins with 'of'), and 90 candidates that nobody holds."
)


def client(
    bits: int = BITS, hashes: int = HASHES, cohorts: int = COHORTS, f: float = NOISE
) -> Rappor:
    """Return one-time RAPPOR that sends the permanent response."""
    return Rappor(bits=bits, hashes=hashes, cohorts=cohorts, f=f, p=0.0, q=1.0)


def noise_for(hashes: int, epsilon: float = EPSILON) -> float:
    """Return the f that spends this epsilon."""
    return 2 / (1 + math.exp(epsilon / (2 * hashes)))


def population(options: Options) -> tuple[list[str], Floats]:
    """Return the candidates and their shares, 0 for the second half."""
    names, counts = words(options.data, PRESENT + ABSENT)
    present = counts[:PRESENT] / counts[:PRESENT].sum()
    return names, np.concatenate([present, np.zeros(ABSENT)])


def swept(
    options: Options,
    settings: Sequence[Setting],
    label: str,
    title: str,
    paper: dict[str, Any],
    notes: tuple[str, ...],
) -> Outcome:
    """Return precision and recall over the settings of one label.

    Edge cases: the words have no random tag, so that all runs of one setting share their Bloom
    bits; the noise and the crowd differ.
    """
    names, weights = population(options)
    rows = sweep(options, settings, lambda rng: names, weights)
    ours = by_label(rows, label)
    return Outcome(paper, ours, {"points": rows}, _chart(rows, label, title), (CHOICES, *notes))


def _chart(rows: Rows, label: str, title: str) -> Any:
    alt = altair()
    long = [
        {label: row[label], "decoder": row["decoder"], "measure": what, "share": row[what]}
        for row in rows
        for what in ("precision", "recall")
    ]
    base = alt.Chart(data_of(long), width=480, height=280).encode(
        x=alt.X(f"{label}:O", title=title, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title=None),
        color=alt.Color("decoder:N", scale=colours(list(DECODERS.values())), title=None),
    )
    dash = alt.StrokeDash("measure:N", title=None, legend=alt.Legend(symbolType="stroke"))
    dots = base.mark_point(filled=True, size=45).encode(detail="measure:N")
    return styled(
        alt.layer(base.mark_line().encode(strokeDash=dash), dots),
        f"Precision and recall of words by {title}",
        f"one-time RAPPOR of {PRESENT} words among {PRESENT + ABSENT} candidates",
    )
