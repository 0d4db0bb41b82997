"""[EPK14] figure 8: what the two bits of a string in a report say about its sender."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.mechanisms import Rappor
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.epk14.attack import observed_posterior, posterior

MECHANISM = Rappor(bits=128, hashes=2, cohorts=32, f=0.5, p=0.5, q=0.75)
SEEN = {2: "11", 1: "01", 0: "00"}
SIMULATED = (0.01, 0.1, 0.5)


def run(options: Options) -> Outcome:
    """Compute the posterior for each pair of bits, and check points on it by simulated reports."""
    grid = np.linspace(0, 1, 101)
    rows: Rows = [
        {"bits": bits, "frequency": float(x), "held": float(y), "not_held": float(1 - y)}
        for ones, bits in SEEN.items()
        for x, y in zip(grid, posterior(MECHANISM, grid, ones), strict=True)
    ]
    points = []
    work = [(share, rng) for rng in options.generators() for share in SIMULATED]
    for share, rng in options.steps(work):
        found = observed_posterior(MECHANISM, share, options.people, rng)
        points += [
            {"bits": bits, "frequency": share, "held": found[ones]} for ones, bits in SEEN.items()
        ]
    ours = {
        f"bits {bits}": {
            f"frequency {share}": {
                "formula": float(posterior(MECHANISM, np.array([share]), ones)[0]),
                "simulated": _mean(points, bits, share),
            }
            for share in SIMULATED
        }
        for ones, bits in SEEN.items()
    }
    return Outcome(
        PAPER_NUMBERS, ours, {"lines": rows, "simulated": points}, _chart(rows, points), NOTES
    )


def _mean(points: list[dict[str, Any]], bits: str, share: float) -> float | None:
    found = [
        one["held"]
        for one in points
        if (one["bits"], one["frequency"]) == (bits, share) and one["held"] is not None
    ]
    return float(np.mean(found)) if found else None


def _chart(rows: Rows, points: Rows) -> Any:
    alt = altair()
    title = "probability, given the two bits"
    encoding = {
        "x": alt.X("frequency:Q", title="share of people who hold the string"),
        "color": alt.Color("bits:N", scale=colours(list(SEEN.values())), title="bits seen"),
    }
    lines = alt.Chart(data_of(rows), width=520, height=320).encode(**encoding)
    dots = alt.Chart(data_of(points)).mark_point(size=50).encode(**encoding)
    layers = alt.layer(
        lines.mark_line().encode(y=alt.Y("held:Q", title=title)),
        lines.mark_line(strokeDash=[4, 3]).encode(y=alt.Y("not_held:Q", title=title)),
        dots.encode(y=alt.Y("held:Q", title=title)),
    )
    return styled(
        layers,
        "What the two bits of a string say about its sender",
        "solid: holds it; dashed: does not; rings: simulated",
    )


PAPER_NUMBERS = {
    "f, p and q": "not given",
    "claim": "below 10% frequency a report with both bits is much likelier from somebody else",
}
NOTES = (
    "The paper gives neither f, p nor q for this figure: f = 0.5, p = 0.5, q = 0.75 here, h = 2.",
    "Bits 01 stand for either order; both have the same probabilities.",
)
FIGURE = Figure(
    id="epk14-fig8",
    paper="[EPK14] figure 8",
    title="What a report says about its sender",
    shows="Even both bits of a rare string leave its holder unlikely.",
    run=run,
    runs=1,
    full_runs=10,
    people=500_000,
    full_people=1_000_000,
)
