"""[FPE16] figure 3: the distance to the truth by epsilon and reports, and coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Fitted, Setting, fit
from deniable_papers.fpe16.pairs import KINDS
from deniable_papers.fpe16.tables import simplex

SHAPE = (4, 5)
TOTALS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
"""Epsilon of both variables together; each has half of it."""
STEPS = (0.01, 0.05, 0.2, 1.0)
"""Of the people: the paper's smallest useful crowd, 20,000, is a fifth of 100,000."""
COVERAGE_RUNS = 25
"""Coverage is measured over so many times the runs: 500 by default."""
COVERAGE_TOTAL = 3.0


def run(options: Options) -> Outcome:
    """Fit crowds of every size at every epsilon, and count the cells that their intervals hold."""
    settings = [
        Setting(kind, SHAPE, total / 2, max(100, round(step * options.people)))
        for kind in KINDS
        for total in TOTALS
        for step in STEPS
    ]
    covered = [Setting(kind, SHAPE, COVERAGE_TOTAL / 2, options.people) for kind in KINDS]
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings) + len(covered))
    found = [
        _fits(setting, options.runs * (1 if place < len(settings) else COVERAGE_RUNS), seed)
        for (place, setting), seed in zip(
            options.steps(list(enumerate([*settings, *covered]))), seeds, strict=True
        )
    ]
    rows = [_row(setting, fits) for setting, fits in zip(settings, found, strict=False)]
    ours: dict[str, Any] = {KINDS[kind]: _lines(rows, kind) for kind in KINDS}
    ours["coverage"] = {
        KINDS[setting.kind]: _coverage(setting, fits)
        for setting, fits in zip(covered, found[len(settings) :], strict=True)
    }
    return Outcome(PAPER_NUMBERS, ours, {"points": rows}, _chart(rows), NOTES)


def _fits(setting: Setting, runs: int, seed: np.random.SeedSequence) -> list[Fitted]:
    found = []
    for child in seed.spawn(runs):
        rng = np.random.default_rng(child)
        truth = simplex(int(np.prod(setting.shape)), rng).reshape(setting.shape)
        found.append(fit(setting, truth, rng))
    return found


def _coverage(setting: Setting, found: list[Fitted]) -> dict[str, Any]:
    """Return the share of all cells of many runs whose 95% interval holds the truth."""
    inside = np.array([one.inside for one in found])
    return {
        "runs": len(found),
        "people": setting.people,
        "epsilon_each": setting.epsilon,
        "pooled": mean(inside),
        "std_error": mean([inside.std() / np.sqrt(inside.size)]),
        "hellinger": mean(one.hellinger for one in found),
        "largest_gap_per_report": mean([max(one.gap for one in found)]),
    }


def _row(setting: Setting, found: list[Fitted]) -> dict[str, Value]:
    distances = np.array([one.hellinger for one in found])
    return {
        "mechanism": KINDS[setting.kind],
        "epsilon": 2 * setting.epsilon,
        "epsilon_each": setting.epsilon,
        "people": setting.people,
        "hellinger": mean(distances),
        "std_error": mean([distances.std() / np.sqrt(distances.size)]),
        "coverage": mean(one.inside for one in found),
    }


def _lines(rows: Rows, kind: str) -> dict[str, Any]:
    """Return the distances as JSON: people, then epsilon of both variables together."""
    mine: list[Any] = [row for row in rows if row["mechanism"] == KINDS[kind]]
    sizes = dict.fromkeys(row["people"] for row in mine)
    return {
        f"n={size}": {
            "epsilon": [row["epsilon"] for row in mine if row["people"] == size],
            "hellinger": [row["hellinger"] for row in mine if row["people"] == size],
            "coverage": [row["coverage"] for row in mine if row["people"] == size],
        }
        for size in sizes
    }


def _chart(rows: Rows) -> Any:
    alt = altair()
    shown = [{**row, "reports": f"{row['people']:,}"} for row in rows]
    sizes = list(dict.fromkeys(f"{row['people']:,}" for row in rows))
    lines = (
        alt.Chart(data_of(shown), width=290, height=240)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "epsilon:Q",
                title="epsilon of both variables together",
                axis=alt.Axis(values=list(range(1, 7))),
            ),
            y=alt.Y("hellinger:Q", title="Hellinger distance", scale=alt.Scale(domainMin=0)),
            color=alt.Color("reports:N", title="reports", scale=colours(sizes), sort=None),
        )
    )
    header = alt.Header(labelColor=LOOK.text, labelFontSize=13)
    panels = lines.facet(facet=alt.Facet("mechanism:N", title=None, header=header, sort=None))
    return styled(panels, "Distance of the estimated joint distribution", "4 x 5 answers")


PAPER_NUMBERS = {
    "claim": "at least 20,000 reports are needed to reconstruct reliably at epsilon 1 or less"
}
NOTES = (
    "The paper gives neither its distribution nor whether epsilon is that of one variable or of "
    "both: here every run draws a table uniformly from all tables of 20 cells, epsilon is that of "
    "both variables together, and each has half of it.",
    "The reports of basic RAPPOR and of k-RR are drawn as a table of all possible pairs: the "
    "same distribution as person by person.",
    f"coverage: 95% intervals of all cells over {COVERAGE_RUNS} times the runs, with epsilon "
    f"{COVERAGE_TOTAL / 2:g} per variable.",
)
FIGURE = Figure(
    id="fpe16-fig3",
    paper="[FPE16] figure 3",
    title="Distance to the truth by epsilon and reports, and coverage",
    shows="How many reports a joint distribution needs, and that its intervals cover.",
    run=run,
    runs=20,
    full_runs=100,
    people=100_000,
    full_people=100_000,
)
