"""[FPE16] figure 14: how often the test of independence rejects independent variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Setting
from deniable_papers.fpe16.independence import ALPHA, METHODS, many_tests
from deniable_papers.fpe16.pairs import KINDS

FIRST = 6
SECOND = (3, 4, 6, 8, 10)
EPSILONS = (1.5, 2.0, 3.0)
STEPS = (0.1, 1.0)
"""Of the people: 10,000 and 100,000."""
POOLED, EACH = (0.04, 0.06), (0.027, 0.073)
"""What the default test should keep to, over all settings and in each (1,000 runs)."""
WALD_RUNS = 20
"""The Wald test of the paper fits every table: a default run has so many times fewer."""
WALD_SECOND = (3, 6)
RAPPOR_SECOND = (3, 6, 10)


def run(options: Options) -> Outcome:
    """Test independent variables in every setting."""
    settings = [
        (method, Setting(kind, (FIRST, second), epsilon, max(100, round(step * options.people))))
        for method in METHODS
        for kind in KINDS
        for second in SECOND
        for epsilon in EPSILONS
        for step in STEPS
        if _measured(method, kind, second, step)
    ]
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings))
    rows = [
        _row(method, setting, options, seed)
        for (method, setting), seed in zip(options.steps(settings), seeds, strict=True)
    ]
    ours = {METHODS[method]: _summary(rows, method) for method in METHODS}
    return Outcome(PAPER_NUMBERS, ours, {"settings": rows}, _chart(rows), NOTES)


def _measured(method: str, kind: str, second: int, step: float) -> bool:
    """Tell whether a setting is measured: the paper's test in a few small ones only."""
    if method == "default":
        return kind == "krr" or second in RAPPOR_SECOND
    return kind == "krr" and second in WALD_SECOND and step == min(STEPS)


def _row(
    method: str, setting: Setting, options: Options, seed: np.random.SeedSequence
) -> dict[str, Value]:
    runs = options.runs if method == "default" else max(2, options.runs // WALD_RUNS)
    found = many_tests(setting, 0.0, runs, seed, method=method)
    rate = float((found.p_values < ALPHA).mean())
    return {
        "method": METHODS[method],
        "mechanism": KINDS[setting.kind],
        "table": f"{FIRST}x{setting.shape[1]}",
        "answers": setting.shape[1],
        "epsilon_each": setting.epsilon,
        "people": setting.people,
        "runs": runs,
        "type_i": mean([rate]),
        "std_error": mean([np.sqrt(rate * (1 - rate) / runs)]),
        "hellinger": mean([found.hellinger]),
    }


def _summary(rows: Rows, method: str) -> dict[str, Any]:
    mine: list[Any] = [row for row in rows if row["method"] == METHODS[method]]
    rates = np.array([row["type_i"] for row in mine])
    weights = np.array([row["runs"] for row in mine])
    return {
        "type_i_pooled": mean([float((rates * weights).sum() / weights.sum())]),
        "type_i_smallest": mean([rates.min()]),
        "type_i_largest": mean([rates.max()]),
        "settings_within": int(np.count_nonzero((rates >= EACH[0]) & (rates <= EACH[1]))),
        "settings": {_name(row): {"type_i": row["type_i"], "runs": row["runs"]} for row in mine},
    }


def _name(row: Any) -> str:
    return f"{row['mechanism']}, {row['table']}, epsilon {row['epsilon_each']:g}, n={row['people']}"


def _chart(rows: Rows) -> Any:
    alt = altair()
    shown = [
        {**row, "panel": f"{row['mechanism']}, {row['people']:,} reports",
         "epsilon": f"epsilon {row['epsilon_each']:g} each"}
        for row in rows if row["method"] == METHODS["default"]
    ]  # fmt: skip
    names = [f"epsilon {epsilon:g} each" for epsilon in EPSILONS]
    base = alt.Chart()
    lines = base.mark_line(point=True).encode(
        x=alt.X("answers:Q", title="answers of the second variable"),
        y=alt.Y(
            "type_i:Q",
            title="rejected",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, 0.1]),
        ),
        color=alt.Color("epsilon:N", title=None, scale=colours(names)),
    )
    level = base.mark_rule(color=LOOK.muted, strokeDash=[5, 4]).encode(y=alt.datum(ALPHA))
    layers = alt.layer(lines, level, data=data_of(shown)).properties(width=280, height=190)
    header = alt.Header(labelColor=LOOK.text, labelFontSize=13)
    panels = layers.facet(facet=alt.Facet("panel:N", title=None, header=header), columns=2)
    return styled(
        panels, "Rejections of independent variables", "dashed: 5%, what the test promises"
    )


PAPER_NUMBERS = {
    "claim": "the rate is bounded by 0.05 and lower for larger tables, because cells are small"
}
NOTES = (
    "Each run draws both marginals uniformly from the simplex, anew; the variables are "
    "independent.",
    "epsilon is that of each variable. The paper's epsilons in its appendix A fit totals of both.",
    f"The test is ours ({METHODS['default']}); the paper's Wald test, with the corrected "
    f"covariance, is measured in a few settings of 10,000 reports with a {WALD_RUNS}th of the "
    "runs.",
    f"Wanted: {POOLED[0]:.0%} to {POOLED[1]:.0%} over all settings and {EACH[0]:.1%} to "
    f"{EACH[1]:.1%} in each of 1,000 runs; by chance alone one of 30 settings leaves the latter "
    "about once in 30 figures.",
    "The paper's rates fall with the size of the table; ours do not, since no cell is fitted.",
    "hellinger: of the estimated joint distributions of the first runs, to the true ones.",
)
FIGURE = Figure(
    id="fpe16-fig14",
    paper="[FPE16] figure 14",
    title="Type I error of the test of independence",
    shows="The test rejects independent variables as often as it says, 5%.",
    run=run,
    runs=1_000,
    full_runs=1_000,
    people=100_000,
    full_people=100_000,
)
