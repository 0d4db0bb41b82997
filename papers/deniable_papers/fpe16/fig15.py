"""[FPE16] figure 15: how often the test of independence finds a dependence that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Setting
from deniable_papers.fpe16.independence import ALPHA, many_tests
from deniable_papers.fpe16.pairs import KINDS

FIRST = 6
SECOND = (3, 6, 10)
EPSILONS = (0.75, 1.5, 2.0, 3.0)
DISTRIBUTIONS = {"Dist1": 0.05, "Dist2": 0.1}
STEPS = (0.1, 1.0)
WANTED = {"Dist1": 0.85, "Dist2": 0.97}
"""For 6 x 6 answers, epsilon 1.5 each and 10,000 reports."""


def run(options: Options) -> Outcome:
    """Test dependent variables in every setting."""
    settings = [
        (name, Setting(kind, (FIRST, second), epsilon, max(100, round(step * options.people))))
        for name in DISTRIBUTIONS
        for kind in KINDS
        for second in SECOND
        for epsilon in EPSILONS
        for step in STEPS
    ]
    seeds = np.random.SeedSequence(options.seed).spawn(len(settings))
    rows = [
        _row(name, setting, options.runs, seed)
        for (name, setting), seed in zip(options.steps(settings), seeds, strict=True)
    ]
    ours: dict[str, Any] = {name: _summary(rows, name) for name in DISTRIBUTIONS}
    ours["6x6, epsilon 1.5 each, fewest reports"] = _wanted(rows)
    return Outcome(PAPER_NUMBERS, ours, {"settings": rows}, _chart(rows), NOTES)


def _row(name: str, setting: Setting, runs: int, seed: np.random.SeedSequence) -> dict[str, Value]:
    found = many_tests(setting, DISTRIBUTIONS[name], runs, seed)
    power = float((found.p_values < ALPHA).mean())
    return {
        "distribution": name,
        "added": DISTRIBUTIONS[name],
        "mechanism": KINDS[setting.kind],
        "table": f"{FIRST}x{setting.shape[1]}",
        "epsilon_each": setting.epsilon,
        "people": setting.people,
        "runs": runs,
        "power": mean([power]),
        "std_error": mean([np.sqrt(power * (1 - power) / runs)]),
        "hellinger": mean([found.hellinger]),
    }


def _summary(rows: Rows, name: str) -> dict[str, Any]:
    mine: list[Any] = [row for row in rows if row["distribution"] == name]
    return {
        f"{row['mechanism']}, {row['table']}, n={row['people']}": {
            "epsilon_each": [r["epsilon_each"] for r in mine if _line(r) == _line(row)],
            "power": [r["power"] for r in mine if _line(r) == _line(row)],
            "hellinger": [r["hellinger"] for r in mine if _line(r) == _line(row)],
        }
        for row in mine
    }


def _wanted(rows: Rows) -> dict[str, Any]:
    """Return the power of the setting that has a stated goal, by mechanism and distribution."""
    fewest = min(int(str(row["people"])) for row in rows)
    return {
        f"{row['distribution']}, {row['mechanism']}": {
            "power": row["power"],
            "std_error": row["std_error"],
            "wanted": WANTED[str(row["distribution"])],
        }
        for row in rows
        if (row["table"], row["epsilon_each"], row["people"]) == ("6x6", 1.5, fewest)
    }


def _line(row: Any) -> tuple[object, ...]:
    return row["mechanism"], row["table"], row["people"]


def _chart(rows: Rows) -> Any:
    alt = altair()
    shown = [
        {**row, "panel": f"{row['mechanism']}, {row['distribution']} (+{row['added']})",
         "series": f"{row['table']}, {row['people']:,} reports"}
        for row in rows
    ]  # fmt: skip
    names = list(dict.fromkeys(f"{row['table']}, {row['people']:,} reports" for row in rows))
    lines = (
        alt.Chart(data_of(shown), width=280, height=190)
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon_each:Q", title="epsilon of each variable"),
            y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("series:N", title=None, scale=colours(names), sort=names),
        )
    )
    header = alt.Header(labelColor=LOOK.text, labelFontSize=13)
    panels = lines.facet(facet=alt.Facet("panel:N", title=None, header=header), columns=2)
    return styled(panels, "Power of the test of independence", "at a level of 5%")


PAPER_NUMBERS = {"claim": "almost no power at epsilon 1.5 or less; low power for ten strings"}
NOTES = (
    "Both marginals are drawn uniformly from the simplex in every run; 0.05 (Dist1) or 0.1 (Dist2) "
    "is added to each entry of the diagonal of their product, and all is scaled to sum to 1.",
    "epsilon is that of each variable. 'Almost no power at epsilon 1.5' fits the paper's Wald test "
    "and an epsilon for both variables together: 0.75 each.",
    f"Wanted for 6x6, epsilon 1.5 each and 10,000 reports: {WANTED['Dist1']} and "
    f"{WANTED['Dist2']}.",
    "hellinger: of the estimated joint distributions of the first runs, to the true ones.",
)
FIGURE = Figure(
    id="fpe16-fig15",
    paper="[FPE16] figure 15",
    title="Power of the test of independence",
    shows="How strong a dependence must be to be found.",
    run=run,
    runs=300,
    full_runs=1_000,
    people=100_000,
    full_people=100_000,
)
