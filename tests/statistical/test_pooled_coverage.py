"""Pooled levels and versions: their intervals cover, and "they agree" is rejected seldom enough."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.ask.options import Options
from deniable.ask.pooling import pool_shares
from deniable.ask.several import Several
from deniable.ask.together import any_table
from deniable.engines.accumulated import Accumulated, Cell, Part
from deniable.mechanisms import Counts, mechanism_of
from deniable.protocol import Question
from deniable.testing.statistics import accept, proportion, reject
from material.segmented import published

SHARES = np.array([0.6, 0.3, 0.1])
RUNS = 500
SURVEY = """
name = "Pooled"
owner = "us"
people = 1_000_000
"""
ASKED = """
[[questions]]
id = "colour"
version = {version}
description = "d"
expires = 2099-12-31
repeat = "epoch"
domain = {{ type = "categories", values = ["red", "green", "blue"] }}
mechanism = "{mechanism}"
[[questions.levels]]
name = "strict"
epsilon = {strict}
[[questions.levels]]
name = "open"
epsilon = {open}
"""


def questions(folder: Path, mechanism: str, version: int, factor: float) -> tuple[Question, ...]:
    """Return both levels of a version."""
    wanted = {"version": version, "strict": factor, "open": 3 * factor, "mechanism": mechanism}
    return published(folder, SURVEY + ASKED.format(**wanted)).questions


def counted(question: Question, epochs: list[Counts], first: int = 0) -> Accumulated:
    """Return counts that were kept apart by epoch."""
    cells = {Cell(first + t): Part({"value": one}) for t, one in enumerate(epochs)}
    return Accumulated.of_cells(question, cells)


@pytest.mark.parametrize("mechanism", ["krr", "oue"])
def test_intervals_of_pooled_levels_cover(
    mechanism: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Of 60 and 40 people at two levels, every answer together. alpha 1e-9."""
    levels = questions(tmp_path, mechanism, 1, 1.0)
    mechanisms = [mechanism_of(q.fields[0], False) for q in levels]
    hits = disagree = 0
    for _ in range(RUNS):
        parts = [
            counted(q, [m.accumulate(m.simulate(rng.choice(3, size=n, p=SHARES), rng))])
            for q, m, n in zip(levels, mechanisms, (60, 40), strict=True)
        ]
        table = any_table(Several(tuple(parts)), levels[-1].fields[0], points=False)
        ends = {row.value: row.interval for row in table.rows}
        low, high = ends["green"]
        hits += low <= SHARES[1] <= high
        disagree += table.about.more["agreement"]["p_value"] < 0.05  # type: ignore[index]
    accept(proportion(hits, RUNS, 0.95, tolerance=0.025))
    accept(proportion(disagree, RUNS, 0.05, tolerance=0.03))


def test_versions_of_the_same_people_share_their_sample(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Four epochs of each of two versions, by the same people. alpha 1e-9.

    The control takes them to be other people in every epoch and version.
    """
    one, two = (questions(tmp_path, "krr", version, 3.0)[1] for version in (1, 2))
    field = two.fields[0]
    hits = naive = 0
    for _ in range(RUNS):
        answers = rng.choice(3, size=300, p=SHARES)
        parts = []
        for question, first in ((one, 0), (two, 4)):
            mechanism = mechanism_of(question.fields[0], False)
            epochs = [mechanism.accumulate(mechanism.simulate(answers, rng)) for _ in range(4)]
            parts.append(counted(question, epochs, first))
        for people in ("unknown", "new"):
            found = pool_shares(Several(tuple(parts)), field, None, Options(people=people))
            inside = abs(found.whole.shares[1] - SHARES[1]) <= 1.96 * found.error[1]
            hits, naive = (
                hits + (people == "unknown" and inside),
                naive + (people == "new" and inside),
            )
    accept(proportion(hits, RUNS, 0.955, tolerance=0.025))
    reject(proportion(naive, RUNS, 0.955, tolerance=0.025), miss=1e-9)
