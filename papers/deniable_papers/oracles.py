"""Every oracle against its closed form and against the floor: n times the squared l2 loss.

    measured = n E |estimate - the people's frequencies|^2,   closed form = n sum of Var

at equal frequencies, given the people's values. The floor is that of subset selection with the
best subset size, which no mechanism beats asymptotically; it includes the sampling of people, so
that 1 - 1/k is added to both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deniable.mechanisms import HCMS, KRR, OLH, OUE, PGR, Hadamard, Mechanism, Rappor, Subset
from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import COLOURS, altair, data_of, facets, styled
from deniable_papers.common.populations import numbered
from deniable_papers.common.scoring import mean

ALPHABETS = (64, 256, 1_024, 4_096)
SMALLEST = 16
"""A further alphabet with --full: it takes 64 times the runs of the largest."""
EPSILONS = (0.5, 1.0, 2.0, 4.0)
ORACLES: Mapping[str, Callable[[int, float], Mechanism]] = {
    "krr": lambda k, epsilon: KRR(k, epsilon=epsilon),
    "krappor": lambda k, epsilon: _krappor(k, epsilon),
    "oue": lambda k, epsilon: OUE(k, epsilon=epsilon),
    "olh": lambda k, epsilon: OLH(epsilon=epsilon),
    "hadamard": lambda k, epsilon: Hadamard(k, epsilon=epsilon),
    "subset": lambda k, epsilon: Subset(k, epsilon=epsilon),
    "pgr": lambda k, epsilon: PGR(k, epsilon=epsilon),
    "hcms": lambda k, epsilon: HCMS(epsilon=epsilon),
}
OPEN = ("olh", "hcms")
NOTES = (
    "Runs are multiplied by 1,024 / k, so that every ratio has about the same standard error, "
    "sqrt(2 / (1,024 runs)); 'worst' is the largest distance of a ratio from 1.",
    "olh draws a new seed for each person; hcms shares its rows, and its closed form does not "
    "include their collisions, which add n sum f^2 / (rows times width).",
    "'floor' is measured loss over the floor; the closed form's is beside it. Both include the "
    "sampling of people.",
)


def _krappor(k: int, epsilon: float) -> Mechanism:
    """Return k-RAPPOR of [KBR16]: both kinds of bits are kept with the same probability."""
    keep = 1 / (1 + math.exp(-epsilon / 2))
    return Rappor.basic(k, p=1 - keep, q=keep)


def floor(k: int, epsilon: float) -> float:
    """Return n L2^2 of subset selection with the best size (docs/mathematics.md, section 2).

    Sampling included: (k - 1)^2 (d E + k - d)^2 / (k d (k - d) (E - 1)^2), the least over d.
    """
    e = math.exp(epsilon)
    return min(
        (k - 1) ** 2 * (d * e + k - d) ** 2 / (k * d * (k - d) * (e - 1) ** 2) for d in range(1, k)
    )


def run(options: Options) -> Outcome:
    """Measure every oracle in every cell of the grid."""
    alphabets = (SMALLEST, *ALPHABETS) if options.full else ALPHABETS
    cells = [(name, k, e) for name in ORACLES for k in alphabets for e in EPSILONS]
    seeds = np.random.SeedSequence(options.seed).spawn(len(cells))
    rows = []
    for (name, k, epsilon), seed in zip(options.steps(cells), seeds, strict=True):
        rng = np.random.default_rng(seed)
        people = k * math.ceil(options.people / k)
        runs = max(2, options.runs * 1_024 // k)
        rows.append(_measured(name, k, epsilon, people, runs, rng))
    ours = {name: _summary([row for row in rows if row["oracle"] == name]) for name in ORACLES}
    paper = {name: {"ratio": 1.0} for name in ORACLES}
    return Outcome(paper, ours, {"cells": rows}, _chart(rows), NOTES)


def _measured(
    name: str, k: int, epsilon: float, people: int, runs: int, rng: np.random.Generator
) -> dict[str, Value]:
    mechanism = ORACLES[name](k, epsilon)
    codes = np.repeat(np.arange(k), people // k)
    losses = np.empty(runs)
    for i in range(runs):
        candidates = numbered(k, rng) if name in OPEN else None
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, candidates))
        found = mechanism.estimate(counts, candidates).frequency
        losses[i] = people * np.square(found - 1 / k).sum()
    closed = people * float(mechanism.variance(people, np.full(k, 1 / k)).sum())
    sampling, least = 1 - 1 / k, floor(k, epsilon)
    return {
        "oracle": name,
        "panel": f"epsilon {epsilon:g}",
        "k": k,
        "epsilon": epsilon,
        "people": people,
        "runs": runs,
        "measured": mean(losses),
        "closed_form": mean([closed]),
        "ratio": mean(losses / closed),
        "std_error": mean([losses.std() / np.sqrt(runs) / closed]),
        "floor_ratio": mean((losses + sampling) / least),
        "closed_form_floor_ratio": mean([(closed + sampling) / least]),
    }


def _summary(rows: list[dict[str, Value]]) -> dict[str, Any]:
    ratios = np.array([row["ratio"] for row in rows], dtype=np.float64)
    found: dict[str, Any] = {
        "ratio": mean(ratios),
        "worst": mean([np.abs(ratios - 1).max()]),
        "ratios": {},
        "floor": {},
        "closed_form_floor": {},
    }
    for row in rows:
        cell = f"k={row['k']}, epsilon={row['epsilon']:g}"
        found["ratios"][cell] = row["ratio"]
        found["floor"][cell] = row["floor_ratio"]
        found["closed_form_floor"][cell] = row["closed_form_floor_ratio"]
    return found


def _chart(rows: Rows) -> Any:
    alt = altair()
    scale = alt.Scale(domain=list(ORACLES), range=[*COLOURS, "#f06595"])
    # What is more than four times the floor is drawn at the edge: which of the others are near the
    # floor is the question.
    height = alt.Scale(type="log", domain=[0.9, 4], clamp=True)
    lines = (
        alt.Chart(data_of(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("k:Q", title="answers k", scale=alt.Scale(type="log", base=2)),
            y=alt.Y("floor_ratio:Q", title="loss / floor", scale=height),
            color=alt.Color("oracle:N", title=None, scale=scale),
        )
        .properties(width=270, height=220)
    )
    return styled(facets(lines, "panel", columns=2), "Oracles against the floor")


FIGURE = Figure(
    id="oracles",
    paper="[KBR16] propositions 3 and 4, and the oracle literature",
    title="Oracles against their closed forms and the floor",
    shows="Simulated losses are the closed forms'; subset selection and pgr reach the floor.",
    run=run,
    runs=24,
    full_runs=200,
    people=1_000,
    full_people=10_000,
)
