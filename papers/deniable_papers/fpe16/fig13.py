"""[FPE16] figure 13: are p-values of independent variables uniform?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from deniable.mechanisms.base import Floats
from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.accuracy import Setting
from deniable_papers.fpe16.independence import ALPHA, METHODS, many_tests
from deniable_papers.fpe16.pairs import KINDS

SHAPE = (6, 6)
WALD_RUNS = 10
"""The Wald test fits every table: it has fewer runs, by this factor."""


@dataclass(frozen=True)
class Series:
    """One line of the figure."""

    method: str
    kind: str
    epsilon: float = 1.5
    equal: bool = False

    @property
    def name(self) -> str:
        """Its name in the figure."""
        shares = "equal shares" if self.equal else "random shares"
        return f"{METHODS[self.method]}, {KINDS[self.kind]}, epsilon {self.epsilon:g}, {shares}"


SERIES = (
    Series("default", "krr"),
    Series("default", "rappor"),
    Series("wald", "krr"),
    Series("wald", "krr", epsilon=3.0, equal=True),
)


def run(options: Options) -> Outcome:
    """Test independent variables and sort the p-values."""
    seeds = np.random.SeedSequence(options.seed).spawn(len(SERIES))
    rows: list[dict[str, Value]] = []
    ours: dict[str, Any] = {}
    for one, seed in zip(options.steps(SERIES), seeds, strict=True):
        runs = options.runs if one.method == "default" else max(2, options.runs // WALD_RUNS)
        setting = Setting(one.kind, SHAPE, one.epsilon, options.people)
        found = many_tests(setting, 0.0, runs, seed, method=one.method, equal=one.equal)
        ours[one.name] = {**_uniform(found.p_values), "hellinger": mean([found.hellinger])}
        rows += _quantiles(one.name, found.p_values)
    return Outcome(PAPER_NUMBERS, ours, {"quantiles": rows}, _chart(rows, list(ours)), NOTES)


def _uniform(p_values: Floats) -> dict[str, Any]:
    """Return how far sorted p-values are from the line through 0 and 1."""
    expected = _expected(len(p_values))
    slope, intercept = np.polyfit(expected, np.sort(p_values), 1)
    kolmogorov = stats.kstest(p_values, "uniform")
    return {
        "runs": len(p_values),
        "slope": mean([slope]),
        "intercept": mean([intercept]),
        "kolmogorov_smirnov": mean([kolmogorov.statistic]),
        "kolmogorov_smirnov_p": mean([kolmogorov.pvalue]),
        "below_5_percent": mean([(p_values < ALPHA).mean()]),
    }


def _expected(count: int) -> Floats:
    return np.asarray((np.arange(count) + 0.5) / count)


def _quantiles(name: str, p_values: Floats) -> list[dict[str, Value]]:
    """Return at most 200 points: more would not be seen."""
    places = np.unique(np.linspace(0, len(p_values) - 1, 200).astype(int))
    ordered, expected = np.sort(p_values), _expected(len(p_values))
    return [
        {"series": name, "expected": float(expected[i]), "observed": float(ordered[i])}
        for i in places
    ]


def _chart(rows: Rows, names: list[str]) -> Any:
    alt = altair()
    points = (
        alt.Chart(data_of(rows), width=420, height=380)
        .mark_circle(size=22, opacity=0.8)
        .encode(
            x=alt.X("expected:Q", title="expected quantile"),
            y=alt.Y("observed:Q", title="observed p-value"),
            color=alt.Color(
                "series:N",
                title=None,
                scale=colours(names),
                sort=names,
                legend=alt.Legend(orient="bottom", columns=1),
            ),
        )
    )
    line = (
        alt.Chart(alt.Data(values=[{"at": 0}, {"at": 1}]))
        .mark_line(color=LOOK.muted, strokeWidth=1)
        .encode(x="at:Q", y="at:Q")
    )
    title = "p-values of independent variables"
    return styled(alt.layer(line, points), title, "on the line: uniform, as they should be")


PAPER_NUMBERS = {"slope": 1, "intercept": 0, "runs": 100, "people": 10_000}
NOTES = (
    f"The paper states 10,000 reports and 100 trials, neither the size of the table nor epsilon: "
    f"here {SHAPE[0]} x {SHAPE[1]} and epsilon per variable; 'random shares' are marginals drawn "
    "uniformly from the simplex in every run.",
    "The Wald test is the paper's, with the covariance of the contrasts instead of that of the "
    f"table, in a {WALD_RUNS}th of the runs. Its p-values are uniform only where no estimated cell "
    "is 0: products of random marginals are often too small for that, equal shares at a large "
    "epsilon are not.",
    "hellinger: of the estimated joint distributions of the first runs, to the true ones.",
)
FIGURE = Figure(
    id="fpe16-fig13",
    paper="[FPE16] figure 13",
    title="p-values of independent variables",
    shows="Under independence the test's p-values are uniform.",
    run=run,
    runs=1_000,
    full_runs=10_000,
    people=10_000,
    full_people=10_000,
)
