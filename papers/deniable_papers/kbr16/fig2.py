"""[KBR16] figure 2: the best decoder of k-RR against the best decoder of k-RAPPOR."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.kbr16.decoders import Losses, as_good, losses
from deniable_papers.kbr16.grid import GRID_NOTE, LARGE_CROWD, cells, heat, share
from deniable_papers.kbr16.shapes import SHAPES

SMALL_CROWD = 100
PANELS = ("geometric", "dirichlet")
TRIANGLE = (
    "'better below the diagonal' is the share of the cells with k < e^epsilon in which k-RR's mean "
    "loss is at most two standard errors above k-RAPPOR's; the paper states that it is all."
)
ABOVE = (
    "'worse far above it' is the share of the cells with k >= 8 e^epsilon in which k-RAPPOR is "
    "better; the paper states it for relatively large k and low epsilon, without a border."
)


def run(options: Options, metric: str = "l1") -> Outcome:
    """Measure both mechanisms in every cell, for few and for many people."""
    rows: list[dict[str, Value]] = []
    panels = [(people, name) for people in (SMALL_CROWD, options.people) for name in PANELS]
    for (people, name), rng in zip(
        options.steps(panels), options.generators(len(panels)), strict=True
    ):
        for k, epsilon in cells():
            found = losses(SHAPES[name], k, epsilon, people, options.runs, rng, metric)
            rows.append(_row(name, people, k, epsilon, found))
    ours = {_panel(name, people): _summary(rows, name, people) for people, name in panels}
    paper = {name: {"better_below_diagonal": 1.0, "worse_far_above": 1.0} for name in ours}
    chart = heat(
        rows, "panel", "blue: k-RR is better, orange: k-RAPPOR is better", "k-RR against k-RAPPOR"
    )
    return Outcome(paper, ours, {"cells": rows}, chart, (GRID_NOTE, TRIANGLE, ABOVE))


def _panel(name: str, people: int) -> str:
    return f"{name}, {people:,} people"


def _row(name: str, people: int, k: int, epsilon: float, found: Losses) -> dict[str, Value]:
    krr = min(found.krr, key=lambda decoder: found.krr[decoder][0])
    krappor = min(found.krappor, key=lambda decoder: found.krappor[decoder][0])
    one, other = found.krr[krr], found.krappor[krappor]
    return {
        "panel": _panel(name, people),
        "k": k,
        "e_to_epsilon": round(float(np.exp(epsilon))),
        "krr": one[0],
        "krr_decoder": krr,
        "krappor": other[0],
        "krappor_decoder": krappor,
        "krr_projected_good": as_good(found.krr, "projected"),
        "krappor_projected_good": as_good(found.krappor, "projected"),
        "difference": one[0] - other[0],
        "std_error": float(np.hypot(one[1], other[1])),
    }


def _summary(rows: list[dict[str, Value]], name: str, people: int) -> dict[str, Any]:
    mine = [row for row in rows if row["panel"] == _panel(name, people)]
    below, above = [], []
    for row in mine:
        k, e = int(row["k"] or 0), int(row["e_to_epsilon"] or 0)
        difference, error = float(row["difference"] or 0), float(row["std_error"] or 0)
        if k < e:
            below.append(difference <= 2 * error)
        if k >= 8 * e:
            above.append(difference >= -2 * error)
    projected = [bool(row[f"{m}_projected_good"]) for m in ("krr", "krappor") for row in mine]
    return {
        "better_below_diagonal": share(below),
        "worse_far_above": share(above),
        "projected_is_as_good_as_the_best": share(projected),
    }


FIGURE = Figure(
    id="kbr16-fig2",
    paper="[KBR16] figure 2",
    title="k-RR against k-RAPPOR",
    shows="k-RR is better where the alphabet is smaller than e^epsilon, k-RAPPOR far above that.",
    run=run,
    runs=400,
    full_runs=10_000,
    people=LARGE_CROWD,
    full_people=LARGE_CROWD,
)
SQUARED = replace(
    FIGURE,
    id="kbr16-fig2-l2",
    paper="[KBR16] figure 2, in squared l2 (supplement)",
    title=f"{FIGURE.title}, by squared l2 loss",
    run=partial(run, metric="l2"),
)
