"""Many settings one after the other: what the line charts of [CKS18] have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable_papers.base import Options, Value
from deniable_papers.cks18.people import People
from deniable_papers.cks18.scores import Score, Setting, rows_of, scores

Swept = list[tuple[Setting, dict[str, Score]]]

COMMON = (
    "Mean total variation of all k-way tables (300 random ones where there are more than 600), "
    "against the tables of the people drawn, as in the paper. The nine methods are scored by their "
    "unbiased raw tables (inp_em by the most likely ones, as in the paper), ours by its smoothed "
    "ones. Raw errors may be above 1: nothing is clipped.",
    "inp_rr and marg_rr use the probabilities of Wang et al. (1/2 and 1/(E+1)), as the paper's "
    "experiments do.",
)
MADE_UP = "Without --data, made-up people of the same shape take the place of the paper's."


def sweep(
    options: Options, people: People, settings: Sequence[tuple[Setting, int]]
) -> tuple[list[dict[str, Value]], Swept]:
    """Score every method in every setting, each by its number of runs; with rows for a table."""
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings))
    rows: list[dict[str, Value]] = []
    found: Swept = []
    for (setting, runs), seed in zip(options.steps(settings), seeds, strict=True):
        generators = [np.random.default_rng(child) for child in seed.spawn(runs)]
        scored = scores(people, setting, generators)
        found.append((setting, scored))
        rows += rows_of(setting, scored)
    return rows, found


def in_panels(rows: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return the rows with the column 'panel' that a grid of d and k is drawn by."""
    return [{**row, "panel": f"d = {row['d']}, k = {row['k']}"} for row in rows]
