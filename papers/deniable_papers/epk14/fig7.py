"""[EPK14] figure 7: how often an attacker who targets holders of a string is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.mechanisms import Rappor
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.epk14.attack import false_discovery_rate, observed_posterior

NOISE = (0.25, 0.5, 0.75)
MECHANISMS = {f: Rappor(bits=128, hashes=2, cohorts=32, f=f, p=0.5, q=0.75) for f in NOISE}
SIMULATED = (0.01, 0.1, 0.5)


def run(options: Options) -> Outcome:
    """Compute the three lines, and check points on them by simulated reports."""
    grid = np.linspace(0, 1, 101)
    rows: Rows = [
        {"f": f"f = {f}", "frequency": float(x), "false_discovery_rate": float(y)}
        for f, mechanism in MECHANISMS.items()
        for x, y in zip(grid, false_discovery_rate(mechanism, grid), strict=True)
    ]
    work = [(f, share, rng) for rng in options.generators() for f in NOISE for share in SIMULATED]
    points = [
        {
            "f": f"f = {f}",
            "frequency": share,
            "false_discovery_rate": _wrong(options, f, share, rng),
        }
        for f, share, rng in options.steps(work)
    ]
    ours = {
        f"f={f}": {
            f"frequency {share}": {
                "formula": float(false_discovery_rate(MECHANISMS[f], np.array([share]))[0]),
                "simulated": _mean(points, f"f = {f}", share),
            }
            for share in SIMULATED
        }
        for f in NOISE
    }
    tables = {"lines": rows, "simulated": points}
    return Outcome(PAPER_NUMBERS, ours, tables, _chart(rows, points), NOTES)


def _wrong(options: Options, f: float, share: float, rng: np.random.Generator) -> float | None:
    found = observed_posterior(MECHANISMS[f], share, options.people, rng)[-1]
    return None if found is None else 1 - found


def _mean(points: list[dict[str, Any]], name: str, share: float) -> float | None:
    rates = [
        one["false_discovery_rate"]
        for one in points
        if (one["f"], one["frequency"]) == (name, share) and one["false_discovery_rate"] is not None
    ]
    return float(np.mean(rates)) if rates else None


def _chart(rows: Rows, points: Rows) -> Any:
    alt = altair()
    scale = colours([f"f = {f}" for f in NOISE])
    encoding = {
        "x": alt.X("frequency:Q", title="share of people who hold the string"),
        "y": alt.Y("false_discovery_rate:Q", title="wrongly targeted"),
        "color": alt.Color("f:N", scale=scale, title=None),
    }
    lines = alt.Chart(data_of(rows), width=520, height=320).mark_line().encode(**encoding)
    dots = alt.Chart(data_of(points)).mark_point(size=50).encode(**encoding)
    return styled(
        alt.layer(lines, dots),
        "An attacker who targets holders of a rare string is wrong",
        "share of people without the string among reports with both its bits; rings: simulated",
    )


PAPER_NUMBERS = {"p and q": "not given", "claim": "most targeted people do not hold a rare string"}
NOTES = (
    "The paper gives neither p nor q nor k: p = 0.5, q = 0.75, k = 128, 32 cohorts here; h = 2.",
    "The caption calls the rate proportional to f. It grows with f, but not in proportion: for a "
    "string that 10% hold it is 0.83, 0.86 and 0.88 at f = 0.25, 0.5 and 0.75.",
    "The formula neglects that other strings may set the same bits; with k = 128 the simulated "
    "rate is higher by less than 0.01.",
)
FIGURE = Figure(
    id="epk14-fig7",
    paper="[EPK14] figure 7",
    title="False discoveries of an attacker",
    shows="Who targets the holders of a rare string mostly hits others.",
    run=run,
    runs=1,
    full_runs=10,
    people=200_000,
    full_people=1_000_000,
)
