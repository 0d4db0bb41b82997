"""[KBR16] figure 1: how much better the projected decoder is than the next best one.

For the geometric distribution as in the paper, and for its binomial, Zipf and Dirichlet ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.kbr16.decoders import KRAPPOR, KRR, Losses, as_good, losses
from deniable_papers.kbr16.grid import GRID_NOTE, LARGE_CROWD, ZIPF_NOTE, cells, heat, share
from deniable_papers.kbr16.shapes import SHAPES

MECHANISMS = ("krr", "krappor")
TIES = (
    "A cell counts as best where the projected decoder's mean loss is at most two standard errors "
    "of the difference above that of every other decoder: where nothing is ever negative all "
    "decoders give the same distribution."
)
EXPECTED = (
    "The paper states the pattern (projected best for all skewed distributions, normalised best "
    "for the Dirichlet), not the numbers of the cells."
)
NOT_REPRODUCED = (
    "Not reproduced: where the noise hides nearly everything (large k, small epsilon) the "
    "normalised decoder has the smaller l1 loss for the geometric distribution too. It spreads "
    "its mass over half of the answers, the projected one over the few that the noise lifted "
    "most; both are worse there than guessing the uniform distribution, or little better. "
    "'where learned' counts only the cells in which the projected loss is below half of that of "
    "the uniform guess: there the paper's pattern holds for every distribution that is skewed."
)
NOTES = (GRID_NOTE, ZIPF_NOTE, TIES, EXPECTED, NOT_REPRODUCED)


def run(options: Options, metric: str = "l1") -> Outcome:
    """Measure every decoder in every cell for every distribution."""
    rows: list[dict[str, Value]] = []
    generators = options.generators(len(SHAPES))
    for (name, shape), rng in zip(options.steps(list(SHAPES.items())), generators, strict=True):
        for k, epsilon in cells():
            found = losses(shape, k, epsilon, options.people, options.runs, rng, metric)
            for mechanism in MECHANISMS:
                rows.append(_row(name, mechanism, (k, epsilon), found, metric))
    learned = [row for row in rows if row["learned"]]
    ours = {
        mechanism: {
            "all": _shares(rows, mechanism),
            "where_learned": _shares(learned, mechanism),
            "as_good_as_the_best": _good(rows, mechanism),
            "as_good_where_learned": _good(learned, mechanism),
        }
        for mechanism in MECHANISMS
    }
    drawn = [row for row in rows if row["distribution"] in ("geometric", "dirichlet")]
    chart = heat(
        drawn,
        "panel",
        "blue: the projected decoder is better than the next best",
        "Projected decoder against the others",
    )
    return Outcome(_paper(), ours, {"cells": rows}, chart, NOTES)


def _row(
    name: str, mechanism: str, cell: tuple[int, float], measured: Losses, metric: str
) -> dict[str, Value]:
    found = measured.krr if mechanism == "krr" else measured.krappor
    others = {decoder: numbers for decoder, numbers in found.items() if decoder != "projected"}
    rival = min(others, key=lambda decoder: others[decoder][0])
    difference = found["projected"][0] - others[rival][0]
    # The two are measured on the same runs; without their correlation this is an upper bound.
    error = float(np.hypot(found["projected"][1], others[rival][1]))
    return {
        "panel": f"{'k-RR' if mechanism == 'krr' else 'k-RAPPOR'}, {name}",
        "distribution": name,
        "mechanism": mechanism,
        "k": cell[0],
        "e_to_epsilon": round(float(np.exp(cell[1]))),
        "projected": found["projected"][0],
        "next_best": rival,
        "next_best_loss": others[rival][0],
        "difference": difference,
        "std_error": error,
        "uniform": measured.uniform,
        # A square is half as far away at a quarter.
        "learned": found["projected"][0] < measured.uniform / (4 if metric == "l2" else 2),
        **{f"good_{decoder}": as_good(found, decoder) for decoder in found},
        "best": bool(difference <= 2 * error + 1e-12),
    }


def _shares(rows: list[dict[str, Value]], mechanism: str) -> dict[str, float | None]:
    """Return, per distribution, the share of the cells in which the projected decoder is best."""
    return {
        name: share(
            [
                bool(row["best"])
                for row in rows
                if row["mechanism"] == mechanism and row["distribution"] == name
            ]
        )
        for name in SHAPES
    }


def _good(rows: list[dict[str, Value]], mechanism: str) -> dict[str, dict[str, float | None]]:
    """Return, per distribution and decoder, the share of the cells in which it is among the best.

    Where nothing is negative all decoders give one distribution: all of them are the best there.
    """
    found = {}
    for name in SHAPES:
        mine = [r for r in rows if r["mechanism"] == mechanism and r["distribution"] == name]
        decoders = KRR if mechanism == "krr" else KRAPPOR
        found[name] = {one: share([bool(r[f"good_{one}"]) for r in mine]) for one in decoders}
    return found


def _paper() -> dict[str, dict[str, dict[str, float]]]:
    stated = {name: 0.0 if name == "dirichlet" else 1.0 for name in SHAPES}
    return {mechanism: {"all": dict(stated)} for mechanism in MECHANISMS}


FIGURE = Figure(
    id="kbr16-fig1",
    paper="[KBR16] figure 1",
    title="Which decoder is best",
    shows="On skewed distributions the projected decoder of k-RR and k-RAPPOR is the best.",
    run=run,
    runs=100,
    full_runs=10_000,
    people=LARGE_CROWD,
    full_people=LARGE_CROWD,
)
SQUARED = replace(
    FIGURE,
    id="kbr16-fig1-l2",
    paper="[KBR16] figure 1, in squared l2 (supplement)",
    title="Which decoder is best, by squared l2 loss",
    run=partial(run, metric="l2"),
)
