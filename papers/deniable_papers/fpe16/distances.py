"""[FPE16] figures 3 and 16: the distance of an estimated joint distribution to the true one.

Figure 3 has it by epsilon and reports, with the coverage of the intervals; figure 16 by reports
and by the number of answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import altair, colours, data_of, facets, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Fitted, Setting, fit, swept
from deniable_papers.fpe16.pairs import KINDS
from deniable_papers.fpe16.tables import simplex

SHAPE = (4, 5)
TOTALS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
"""Epsilon of both variables together; each has half of it."""
STEPS = (0.01, 0.05, 0.2, 1.0)
"""Of the people: the paper's smallest useful crowd, 20,000, is a fifth of 100,000."""
COVERAGE_RUNS = 25
"""Coverage is measured over this multiple of the runs: 500 by default."""
COVERAGE_TOTAL = 3.0
FIRST, SECOND = 6, (6, 12, 18)
SIZES_TOTAL = 1.5
SIZES_STEPS = (0.01, 0.03, 0.1, 0.3, 1.0)
TITLE = "Distance of the estimated joint distribution"


def by_epsilon(options: Options) -> Outcome:
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
    rows = [_epsilon_row(setting, fits) for setting, fits in zip(settings, found, strict=False)]
    ours: dict[str, Any] = {KINDS[kind]: _epsilon_lines(rows, kind) for kind in KINDS}
    ours["coverage"] = {
        KINDS[setting.kind]: _coverage(setting, fits)
        for setting, fits in zip(covered, found[len(settings) :], strict=True)
    }
    paper = {
        "claim": "at least 20,000 reports are needed to reconstruct reliably at epsilon 1 or less"
    }
    return Outcome(paper, ours, {"points": rows}, _epsilon_chart(rows), EPSILON_NOTES)


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


def _epsilon_row(setting: Setting, found: list[Fitted]) -> dict[str, Value]:
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


def _epsilon_lines(rows: Rows, kind: str) -> dict[str, Any]:
    """Return the distances as JSON: people, then epsilon of both variables together."""
    mine: list[Any] = [row for row in rows if row["mechanism"] == KINDS[kind]]
    return {
        f"n={size}": {
            name: [row[name] for row in mine if row["people"] == size]
            for name in ("epsilon", "hellinger", "coverage")
        }
        for size in dict.fromkeys(row["people"] for row in mine)
    }


def _epsilon_chart(rows: Rows) -> Any:
    alt = altair()
    shown = [{**row, "reports": f"{row['people']:,}"} for row in rows]
    sizes = list(dict.fromkeys(f"{row['people']:,}" for row in rows))
    lines = _lines(shown, 240).encode(
        x=alt.X(
            "epsilon:Q",
            title="epsilon of both variables together",
            axis=alt.Axis(values=list(range(1, 7))),
        ),
        color=alt.Color("reports:N", title="reports", scale=colours(sizes), sort=None),
    )
    return styled(facets(lines, "mechanism", sort=None), TITLE, "4 x 5 answers")


def _lines(shown: Rows, height: int) -> Any:
    alt = altair()
    y = alt.Y("hellinger:Q", title="Hellinger distance", scale=alt.Scale(domainMin=0))
    return alt.Chart(data_of(shown), width=290, height=height).mark_line(point=True).encode(y=y)


def by_answers(options: Options) -> Outcome:
    """Fit crowds of every size for every number of answers."""
    settings = [
        Setting(kind, (FIRST, second), epsilon, max(100, round(step * options.people)))
        for kind in KINDS
        for epsilon in (SIZES_TOTAL / 2, SIZES_TOTAL)
        for second in SECOND
        for step in SIZES_STEPS
    ]
    rows = swept(options, settings, _answers_row)
    ours: dict[str, dict[str, Any]] = {}
    for setting in settings:
        panel, size = _panel(setting), setting.shape[1]
        mine = [row for row in rows if row["panel"] == panel and row["answers"] == size]
        ours.setdefault(panel, {})[f"6x{size}"] = {
            name: [row[name] for row in mine] for name in ("people", "hellinger", "std_error")
        }
    paper = {"claim": "six more answers can need ten times as many reports for the same distance"}
    return Outcome(paper, ours, {"points": rows}, _answers_chart(rows), ANSWERS_NOTES)


def _panel(setting: Setting) -> str:
    return f"{KINDS[setting.kind]}, epsilon {setting.epsilon:g} each"


def _answers_row(
    setting: Setting, options: Options, seed: np.random.SeedSequence
) -> dict[str, Value]:
    distances = np.empty(options.runs)
    for place, child in enumerate(seed.spawn(options.runs)):
        rng = np.random.default_rng(child)
        truth = np.outer(*(simplex(size, rng) for size in setting.shape))
        distances[place] = fit(setting, truth, rng).hellinger
    return {
        "panel": _panel(setting),
        "mechanism": KINDS[setting.kind],
        "epsilon_each": setting.epsilon,
        "answers": setting.shape[1],
        "people": setting.people,
        "runs": options.runs,
        "hellinger": mean(distances),
        "std_error": mean([distances.std() / np.sqrt(options.runs)]),
    }


def _answers_chart(rows: Rows) -> Any:
    alt = altair()
    shown = [{**row, "table": f"6 x {row['answers']}"} for row in rows]
    lines = _lines(shown, 220).encode(
        x=alt.X(
            "people:Q",
            title="reports",
            scale=alt.Scale(type="log", nice=False, padding=6),
            axis=alt.Axis(values=[10**power for power in range(2, 8)], format="~s"),
        ),
        color=alt.Color("table:N", title=None, scale=colours([f"6 x {m}" for m in SECOND])),
    )
    return styled(facets(lines, "panel", columns=2), TITLE, "by the number of answers")


EPSILON_NOTES = (
    "The paper gives neither its distribution nor whether epsilon is that of one variable or of "
    "both: here every run draws a table uniformly from all tables of 20 cells, epsilon is that of "
    "both variables together, and each has half of it.",
    "The reports of basic RAPPOR and of k-RR are drawn as a table of all possible pairs: the "
    "same distribution as person by person.",
    f"coverage: 95% intervals of all cells over {COVERAGE_RUNS} times the runs, with epsilon "
    f"{COVERAGE_TOTAL / 2:g} per variable.",
)
ANSWERS_NOTES = (
    "The paper's epsilon of 1.5 is drawn both ways: as that of both variables together (0.75 "
    "each), and as that of each variable.",
    "The paper does not state its distribution: here two marginals drawn uniformly from the "
    "simplex, independent of each other, anew in each run.",
    "The paper has 150 trials and up to a million reports, and so has --full; a default run has "
    "20 and up to 100,000.",
)
BY_EPSILON = Figure(
    id="fpe16-fig3",
    paper="[FPE16] figure 3",
    title="Distance to the truth by epsilon and reports, and coverage",
    shows="How many reports a joint distribution needs, and that its intervals cover.",
    run=by_epsilon,
    runs=20,
    full_runs=100,
    people=100_000,
    full_people=100_000,
)
BY_ANSWERS = Figure(
    id="fpe16-fig16",
    paper="[FPE16] figure 16",
    title="Distance to the truth by reports and answers",
    shows="How many more reports a larger table needs.",
    run=by_answers,
    runs=20,
    full_runs=150,
    people=100_000,
    full_people=1_000_000,
)
