"""[EPK14] figure 2: precision and recall of one-time RAPPOR by k, h and m."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from deniable.mechanisms import Rappor
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.populations import exponential, numbered
from deniable_papers.common.scoring import mean
from deniable_papers.common.sweeping import DECODERS, Setting, sweep

PRESENT, ABSENT, DECAY = 100, 100, 8.0
GRID = {"k": (128, 256, 512, 1024), "h": (2, 4, 8, 16), "m": (8, 16, 32, 64)}
EPSILON = math.log(3)
MOST_CELLS = 16_384
"""A default run leaves out the settings with more cells: they take most of the time."""


def client(k: int, h: int, m: int) -> Rappor:
    """Return one-time RAPPOR with p = 1/2 whose h bits together spend epsilon = ln 3."""
    ratio = math.exp(EPSILON / h)
    return Rappor(bits=k, hashes=h, cohorts=m, p=0.5, q=ratio / (1 + ratio))


def settings(full: bool) -> list[Setting]:
    """Return all combinations of k, h and m, or the smaller ones."""
    return [
        Setting({"k": k, "h": h, "m": m}, client(k, h, m))
        for k in GRID["k"]
        for h in GRID["h"]
        for m in GRID["m"]
        if full or k * m <= MOST_CELLS
    ]


def run(options: Options) -> Outcome:
    """Decode crowds of the same population with every combination."""
    weights = exponential(PRESENT, ABSENT, DECAY)
    rows = sweep(options, settings(options.full), partial(numbered, PRESENT + ABSENT), weights)
    ours = {
        name: {
            **{
                f"{letter}={value}": _mean(rows, shown, letter, value)
                for letter, values in GRID.items()
                for value in values
            },
            "recall_range": _range(rows, shown, "recall"),
            "precision_range": _range(rows, shown, "precision"),
        }
        for name, shown in (("paper_decoder", DECODERS["paper"]), ("default", DECODERS["default"]))
    }
    return Outcome(PAPER_NUMBERS, ours, {"points": rows}, _chart(rows), NOTES)


def _mean(rows: Rows, decoder: str, letter: str, value: int) -> dict[str, float]:
    chosen: list[Any] = [row for row in rows if row["decoder"] == decoder and row[letter] == value]
    return {what: mean(row[what] for row in chosen) for what in ("precision", "recall")}


def _range(rows: Rows, decoder: str, what: str) -> list[float]:
    numbers: list[Any] = [row[what] for row in rows if row["decoder"] == decoder]
    return [float(min(numbers)), float(max(numbers))]


def _chart(rows: Rows) -> Any:
    alt = altair()
    titles = {"k": "bits k", "h": "hash functions h", "m": "cohorts m"}
    marked = [{**row, **{name: str(row[name]) for name in titles}} for row in rows]
    lines = []
    for decoder in DECODERS.values():
        points = alt.Chart(
            data_of([row for row in marked if row["decoder"] == decoder]), width=220, height=200
        )
        zoom = alt.Scale(zero=False)
        panels = [
            points.mark_point(filled=True, size=55, opacity=0.85)
            .encode(
                x=alt.X("recall:Q", scale=zoom),
                y=alt.Y("precision:Q", scale=zoom),
                color=alt.Color(
                    f"{letter}:N", scale=colours([str(v) for v in GRID[letter]]), title=title
                ),
            )
            .properties(title=decoder)
            for letter, title in titles.items()
        ]
        lines.append(alt.hconcat(*panels).resolve_scale(color="independent"))
    return styled(
        alt.vconcat(*lines).resolve_scale(color="independent"),
        "Precision and recall by k, h and m",
        "one-time RAPPOR, epsilon ln 3; every panel of a row shows the same points",
    )


PAPER_NUMBERS = {
    "paper_decoder": {"recall_range": [0.45, 0.65], "precision_range": [0.84, 0.94]},
    "claims": "h = 2 is best; k and m show no clear preference",
}
NOTES = (
    "The paper does not give N, p, q or the decay: ten million people (with one million the "
    "recall is 0.13 to 0.39, off the paper's axes), p = 0.5 with q such that the "
    "h bits spend ln 3, and frequencies exp(-8 i/99), whose largest fits the panel's axis (8%).",
    "The ranges of the paper are those of its axes.",
    "Not all combinations of k, h and m seem to be drawn there; all 64 are run with --full, those "
    "with at most 16,384 cells otherwise.",
)
FIGURE = Figure(
    id="epk14-fig2",
    paper="[EPK14] figure 2",
    title="Precision and recall by k, h and m",
    shows="Two hash functions are best; bits and cohorts matter little.",
    run=run,
    runs=1,
    full_runs=10,
    people=10_000_000,
    full_people=10_000_000,
)
