"""[FPE16] figure 16: the distance to the truth by the number of reports and of answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Setting, fit
from deniable_papers.fpe16.pairs import KINDS
from deniable_papers.fpe16.tables import simplex

FIRST = 6
SECOND = (6, 12, 18)
TOTAL = 1.5
STEPS = (0.01, 0.03, 0.1, 0.3, 1.0)


def run(options: Options) -> Outcome:
    """Fit crowds of every size for every number of answers."""
    settings = [
        Setting(kind, (FIRST, second), epsilon, max(100, round(step * options.people)))
        for kind in KINDS
        for epsilon in (TOTAL / 2, TOTAL)
        for second in SECOND
        for step in STEPS
    ]
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings))
    rows: list[dict[str, Value]] = []
    for setting, seed in zip(options.steps(settings), seeds, strict=True):
        rows.append(_row(setting, options.runs, seed))
    ours: dict[str, dict[str, Any]] = {_panel(setting): {} for setting in settings}
    for setting in settings:
        panel, size = _panel(setting), setting.shape[1]
        ours[panel][f"6x{size}"] = _line(rows, panel, size)
    return Outcome(PAPER_NUMBERS, ours, {"points": rows}, _chart(rows), NOTES)


def _panel(setting: Setting) -> str:
    return f"{KINDS[setting.kind]}, epsilon {setting.epsilon:g} each"


def _row(setting: Setting, runs: int, seed: np.random.SeedSequence) -> dict[str, Value]:
    distances = np.empty(runs)
    for place, child in enumerate(seed.spawn(runs)):
        rng = np.random.default_rng(child)
        truth = np.outer(*(simplex(size, rng) for size in setting.shape))
        distances[place] = fit(setting, truth, rng).hellinger
    return {
        "panel": _panel(setting),
        "mechanism": KINDS[setting.kind],
        "epsilon_each": setting.epsilon,
        "answers": setting.shape[1],
        "people": setting.people,
        "runs": runs,
        "hellinger": mean(distances),
        "std_error": mean([distances.std() / np.sqrt(runs)]),
    }


def _line(rows: Rows, panel: str, answers: int) -> dict[str, Any]:
    mine = [row for row in rows if row["panel"] == panel and row["answers"] == answers]
    return {name: [row[name] for row in mine] for name in ("people", "hellinger", "std_error")}


def _chart(rows: Rows) -> Any:
    alt = altair()
    shown = [{**row, "table": f"6 x {row['answers']}"} for row in rows]
    lines = (
        alt.Chart(data_of(shown), width=290, height=220)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "people:Q",
                title="reports",
                scale=alt.Scale(type="log", nice=False, padding=6),
                axis=alt.Axis(values=[10**power for power in range(2, 8)], format="~s"),
            ),
            y=alt.Y("hellinger:Q", title="Hellinger distance", scale=alt.Scale(domainMin=0)),
            color=alt.Color("table:N", title=None, scale=colours([f"6 x {m}" for m in SECOND])),
        )
    )
    header = alt.Header(labelColor=LOOK.text, labelFontSize=13)
    panels = lines.facet(facet=alt.Facet("panel:N", title=None, header=header), columns=2)
    return styled(
        panels, "Distance of the estimated joint distribution", "by the number of answers"
    )


PAPER_NUMBERS = {
    "claim": "six more answers can need ten times as many reports for the same distance"
}
NOTES = (
    "The paper's epsilon of 1.5 is drawn both ways: as that of both variables together (0.75 "
    "each), and as that of each variable.",
    "The paper does not state its distribution: here two marginals drawn uniformly from the "
    "simplex, independent of each other, anew in each run.",
    "The paper has 150 trials and up to a million reports, and so has --full; a default run has "
    "20 and up to 100,000.",
)
FIGURE = Figure(
    id="fpe16-fig16",
    paper="[FPE16] figure 16",
    title="Distance to the truth by reports and answers",
    shows="How many more reports a larger table needs.",
    run=run,
    runs=20,
    full_runs=150,
    people=100_000,
    full_people=1_000_000,
)
