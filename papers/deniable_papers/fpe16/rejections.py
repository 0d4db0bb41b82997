"""[FPE16] figures 14 and 15: how often the test of independence rejects.

Of independent variables it should reject 5% (type I errors); of dependent ones as many as it can
(power). Both are a sweep over tables, epsilons and crowds; they differ in their variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, facets, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Setting, swept
from deniable_papers.fpe16.independence import ALPHA, METHODS, many_tests
from deniable_papers.fpe16.pairs import KINDS

FIRST = 6
STEPS = (0.1, 1.0)
"""Of the people: 10,000 and 100,000."""
LEVEL_SECOND, LEVEL_EPSILONS = (3, 4, 6, 8, 10), (1.5, 2.0, 3.0)
POOLED, EACH = (0.04, 0.06), (0.027, 0.073)
"""The limits of the default test's level, over all settings and in each (1,000 runs)."""
WALD_RUNS = 20
"""The Wald test of the paper fits every table: a default run has fewer, by this factor."""
WALD_SECOND, RAPPOR_SECOND = (3, 6), (3, 6, 10)
POWER_SECOND, POWER_EPSILONS = (3, 6, 10), (0.75, 1.5, 2.0, 3.0)
DISTRIBUTIONS = {"Dist1": 0.05, "Dist2": 0.1}
WANTED = {"Dist1": 0.85, "Dist2": 0.97}
"""For 6 x 6 answers, epsilon 1.5 each and 10,000 reports."""
FITTED_NOTE = "hellinger: of the estimated joint distributions of the first runs, to the true ones."

Named = tuple[str, Setting]
"""A method or a distribution, and what it is measured in."""


def settings_of(
    options: Options,
    names: Iterable[str],
    second: tuple[int, ...],
    epsilons: tuple[float, ...],
    measured: Callable[[str, str, int, float], bool] = lambda *_: True,
) -> list[Named]:
    """Return every combination that is measured, the number of people changing fastest."""
    return [
        (name, Setting(kind, (FIRST, size), epsilon, max(100, round(step * options.people))))
        for name in names
        for kind in KINDS
        for size in second
        for epsilon in epsilons
        for step in STEPS
        if measured(name, kind, size, step)
    ]


def rejected(
    setting: Setting,
    what: str,
    runs: int,
    seed: np.random.SeedSequence,
    *,
    mass: float = 0.0,
    method: str = "default",
) -> dict[str, Value]:
    """Return the columns that every row ends with: the share of runs rejected, under a name."""
    found = many_tests(setting, mass, runs, seed, method=method)
    rate = float((found.p_values < ALPHA).mean())
    return {
        "epsilon_each": setting.epsilon,
        "people": setting.people,
        "runs": runs,
        what: mean([rate]),
        "std_error": mean([np.sqrt(rate * (1 - rate) / runs)]),
        "hellinger": mean([found.hellinger]),
    }


def level_settings(options: Options) -> list[Named]:
    """Figure 14: independent variables; the paper's test in a few small settings only."""

    def measured(method: str, kind: str, second: int, step: float) -> bool:
        if method == "default":
            return kind == "krr" or second in RAPPOR_SECOND
        return kind == "krr" and second in WALD_SECOND and step == min(STEPS)

    return settings_of(options, METHODS, LEVEL_SECOND, LEVEL_EPSILONS, measured)


def level_row(one: Named, options: Options, seed: np.random.SeedSequence) -> dict[str, Value]:
    """Return how often a test rejects independent variables."""
    method, setting = one
    runs = options.runs if method == "default" else max(2, options.runs // WALD_RUNS)
    return {
        "method": METHODS[method],
        "mechanism": KINDS[setting.kind],
        "table": f"{FIRST}x{setting.shape[1]}",
        "answers": setting.shape[1],
        **rejected(setting, "type_i", runs, seed, method=method),
    }


def level_summary(rows: Rows) -> dict[str, Any]:
    """Return the rates of each test: pooled, extreme and in each setting."""
    return {shown: _level(rows, shown) for shown in METHODS.values()}


def _level(rows: Rows, shown: str) -> dict[str, Any]:
    mine: list[Any] = [row for row in rows if row["method"] == shown]
    rates = np.array([row["type_i"] for row in mine])
    weights = np.array([row["runs"] for row in mine])
    return {
        "type_i_pooled": mean([float((rates * weights).sum() / weights.sum())]),
        "type_i_smallest": mean([rates.min()]),
        "type_i_largest": mean([rates.max()]),
        "settings_within": int(np.count_nonzero((rates >= EACH[0]) & (rates <= EACH[1]))),
        "settings": {
            f"{row['mechanism']}, {row['table']}, epsilon {row['epsilon_each']:g}, "
            f"n={row['people']}": {"type_i": row["type_i"], "runs": row["runs"]}
            for row in mine
        },
    }


def level_chart(rows: Rows) -> Any:
    """Draw the rates by the size of the table, with the level that is promised."""
    alt = altair()
    shown = [
        {**row, "panel": f"{row['mechanism']}, {row['people']:,} reports",
         "epsilon": f"epsilon {row['epsilon_each']:g} each"}
        for row in rows if row["method"] == METHODS["default"]
    ]  # fmt: skip
    names = [f"epsilon {epsilon:g} each" for epsilon in LEVEL_EPSILONS]
    percent, range_ = alt.Axis(format="~%"), alt.Scale(domain=[0, 0.1])
    base = alt.Chart()
    lines = base.mark_line(point=True).encode(
        x=alt.X("answers:Q", title="answers of the second variable"),
        y=alt.Y("type_i:Q", title="rejected", axis=percent, scale=range_),
        color=alt.Color("epsilon:N", title=None, scale=colours(names)),
    )
    level = base.mark_rule(color=LOOK.muted, strokeDash=[5, 4]).encode(y=alt.datum(ALPHA))
    layers = alt.layer(lines, level, data=data_of(shown)).properties(width=280, height=190)
    subtitle = "dashed: 5%, what the test promises"
    return styled(
        facets(layers, "panel", columns=2), "Rejections of independent variables", subtitle
    )


def power_settings(options: Options) -> list[Named]:
    """Figure 15: variables that depend on each other by so much."""
    return settings_of(options, DISTRIBUTIONS, POWER_SECOND, POWER_EPSILONS)


def power_row(one: Named, options: Options, seed: np.random.SeedSequence) -> dict[str, Value]:
    """Return how often the test finds a dependence that is there."""
    name, setting = one
    return {
        "distribution": name,
        "added": DISTRIBUTIONS[name],
        "mechanism": KINDS[setting.kind],
        "table": f"{FIRST}x{setting.shape[1]}",
        **rejected(setting, "power", options.runs, seed, mass=DISTRIBUTIONS[name]),
    }


def power_summary(rows: Rows) -> dict[str, Any]:
    """Return the power by epsilon of each line, and of the setting that has a stated goal."""
    found: dict[str, Any] = {name: _power(rows, name) for name in DISTRIBUTIONS}
    fewest = min(int(str(row["people"])) for row in rows)
    found["6x6, epsilon 1.5 each, fewest reports"] = {
        f"{row['distribution']}, {row['mechanism']}": {
            "power": row["power"],
            "std_error": row["std_error"],
            "wanted": WANTED[str(row["distribution"])],
        }
        for row in rows
        if (row["table"], row["epsilon_each"], row["people"]) == ("6x6", 1.5, fewest)
    }
    return found


def _power(rows: Rows, name: str) -> dict[str, Any]:
    lines: dict[str, list[Any]] = {}
    for row in rows:
        if row["distribution"] == name:
            line = f"{row['mechanism']}, {row['table']}, n={row['people']}"
            lines.setdefault(line, []).append(row)
    return {
        line: {what: [row[what] for row in mine] for what in ("epsilon_each", "power", "hellinger")}
        for line, mine in lines.items()
    }


def power_chart(rows: Rows) -> Any:
    """Draw the power by epsilon."""
    alt = altair()
    shown = [
        {**row, "panel": f"{row['mechanism']}, {row['distribution']} (+{row['added']})",
         "series": f"{row['table']}, {row['people']:,} reports"}
        for row in rows
    ]  # fmt: skip
    names = list(dict.fromkeys(str(row["series"]) for row in shown))
    lines = (
        alt.Chart(data_of(shown), width=280, height=190)
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon_each:Q", title="epsilon of each variable"),
            y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("series:N", title=None, scale=colours(names), sort=names),
        )
    )
    title = "Power of the test of independence"
    return styled(facets(lines, "panel", columns=2), title, "at a level of 5%")


@dataclass(frozen=True)
class Sweep:
    """One figure of the family.

    Attributes:
        number, title, shows, runs, full_runs: as a `Figure` has them.
        settings: what is measured.
        row: the numbers of one setting.
        summary: our numbers, from all rows.
        chart: draws the rows.
        claim: what the paper says.
        notes: what we chose where the paper is silent.
    """

    number: int
    title: str
    shows: str
    runs: int
    full_runs: int
    settings: Callable[[Options], list[Named]]
    row: Callable[[Named, Options, np.random.SeedSequence], dict[str, Value]]
    summary: Callable[[Rows], dict[str, Any]]
    chart: Callable[[Rows], Any]
    claim: str
    notes: tuple[str, ...]

    def run(self, options: Options) -> Outcome:
        """Test crowds in every setting."""
        rows = swept(options, self.settings(options), self.row)
        tables, paper = {"settings": rows}, {"claim": self.claim}
        notes = (*self.notes, FITTED_NOTE)
        return Outcome(paper, self.summary(rows), tables, self.chart(rows), notes)


LEVEL = Sweep(
    14,
    "Type I error of the test of independence",
    "The test rejects independent variables as often as it says, 5%.",
    1_000,
    1_000,
    level_settings,
    level_row,
    level_summary,
    level_chart,
    "the rate is bounded by 0.05 and lower for larger tables, because cells are small",
    (
        "Each run draws both marginals uniformly from the simplex, anew; the variables are "
        "independent.",
        "epsilon is that of each variable. The paper's epsilons in its appendix A fit totals of "
        "both.",
        f"The test is ours ({METHODS['default']}); the paper's Wald test, with the corrected "
        f"covariance, is measured in a few settings of 10,000 reports with a {WALD_RUNS}th of the "
        "runs.",
        f"Wanted: {POOLED[0]:.0%} to {POOLED[1]:.0%} over all settings and {EACH[0]:.1%} to "
        f"{EACH[1]:.1%} in each of 1,000 runs; by chance alone one of 30 settings leaves the "
        "latter about once in 30 figures.",
        "The paper's rates fall with the size of the table; ours do not, since no cell is fitted.",
    ),
)
POWER = Sweep(
    15,
    "Power of the test of independence",
    "How strong a dependence must be to be found.",
    300,
    1_000,
    power_settings,
    power_row,
    power_summary,
    power_chart,
    "almost no power at epsilon 1.5 or less; low power for ten strings",
    (
        "Both marginals are drawn uniformly from the simplex in every run; 0.05 (Dist1) or 0.1 "
        "(Dist2) is added to each entry of the diagonal of their product, and all is scaled to sum "
        "to 1.",
        "epsilon is that of each variable. 'Almost no power at epsilon 1.5' fits the paper's Wald "
        "test and an epsilon for both variables together: 0.75 each.",
        f"Wanted for 6x6, epsilon 1.5 each and 10,000 reports: {WANTED['Dist1']} and "
        f"{WANTED['Dist2']}.",
    ),
)
FIGURES = tuple(
    Figure(
        id=f"fpe16-fig{sweep.number}",
        paper=f"[FPE16] figure {sweep.number}",
        title=sweep.title,
        shows=sweep.shows,
        run=sweep.run,
        runs=sweep.runs,
        full_runs=sweep.full_runs,
        people=100_000,
        full_people=100_000,
    )
    for sweep in (LEVEL, POWER)
)
