"""[EPK14] figure 4: learning a normal distribution by basic one-time RAPPOR."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from deniable.decode import smooth
from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Floats
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import COLOURS, LOOK, altair, data_of, styled
from deniable_papers.common.crowd import design_for, drawn, reported
from deniable_papers.common.scoring import averaged

BINS = 100
MEAN, DEVIATION = 50.0, 10.0
MECHANISM = Rappor.basic(BINS, p=0.5, q=0.75)


def normal_shares() -> Floats:
    """Return the shares of a rounded normal variable; both ends take what lies beyond them."""
    edges = stats.norm.cdf((np.arange(1, BINS) - 0.5 - MEAN) / DEVIATION)
    return np.diff(np.concatenate([[0.0], edges, [1.0]]))


def run(options: Options) -> Outcome:
    """Estimate the distribution from three sizes of crowds, raw and smoothed."""
    sizes = sorted({max(100, options.people // part) for part in (100, 10, 1)})
    runs, rows = [], []
    for number, rng in enumerate(options.steps(options.generators())):
        found = {}
        for people in sizes:
            truth, raw, smoothed = _one(people, rng)
            found[f"N={people}"] = {
                "total_variation": float(np.abs(raw - truth).sum() / 2),
                "total_variation_smoothed": float(np.abs(smoothed - truth).sum() / 2),
                "rms_error_of_a_count": float(people * np.sqrt(np.square(raw - truth).mean())),
            }
            if number == 0:
                rows += _rows(people, truth, raw, smoothed)
        runs.append(found)
    ours = averaged(runs)
    for people in sizes:
        ours[f"N={people}"]["std_error_of_a_count"] = 2 * float(np.sqrt(people))
    ours["epsilon"] = MECHANISM.epsilon
    return Outcome({"epsilon": float(np.log(3))}, ours, {"counts": rows}, _chart(rows), NOTES)


def _one(people: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    totals = drawn(normal_shares(), people, rng)
    labels = [str(i) for i in range(BINS)]
    counts = reported(MECHANISM, design_for(MECHANISM, labels), totals, rng)
    found = smooth(MECHANISM, counts)
    return totals / people, found.raw, found.frequency


def _rows(people: int, truth: Floats, raw: Floats, smoothed: Floats) -> list[dict[str, Any]]:
    return [
        {
            "people": people,
            "value": value,
            "truth": float(truth[value] * people),
            "estimate": float(raw[value] * people),
            "smoothed": float(smoothed[value] * people),
        }
        for value in range(BINS)
    ]


def _chart(rows: Rows) -> Any:
    alt = altair()
    panels = []
    for people in dict.fromkeys(row["people"] for row in rows):
        base = alt.Chart(
            data_of([row for row in rows if row["people"] == people]), width=240, height=200
        ).encode(x=alt.X("value:Q", title="value"))
        panels.append(
            alt.layer(
                base.mark_bar(color=LOOK.hidden, width=2).encode(
                    y=alt.Y("estimate:Q", title="people")
                ),
                base.mark_line(color=COLOURS[0], strokeWidth=2).encode(y="smoothed:Q"),
                base.mark_line(color=LOOK.text, strokeWidth=1).encode(y="truth:Q"),
            ).properties(title=f"{people:,} reports")
        )
    return styled(
        alt.hconcat(*panels),
        "A normal distribution through basic RAPPOR",
        "black: truth; grey bars: unbiased estimates; blue: smoothed",
    )


NOTES = (
    "p = 0.5, q = 0.75, f = 0, epsilon ln 3. The paper gives no range: 0 to 99 here, a bit each.",
    "The paper prints no numbers for this figure and says that smoothing would improve it: ours "
    "is shown beside the raw estimate.",
)
FIGURE = Figure(
    id="epk14-fig4",
    paper="[EPK14] figure 4",
    title="A normal distribution",
    shows="Noise hides the bell at 10,000 reports and traces it at a million.",
    run=run,
    runs=20,
    full_runs=20,
    people=1_000_000,
    full_people=1_000_000,
)
