"""[EPK14] figures 7 and 8: what a report tells an attacker who looks for holders of a string.

Figure 7 has the share of wrongly targeted people, by f; figure 8 the probability that the sender
holds the string, by its bits in the report. Both are lines of a formula with simulated points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.mechanisms import Rappor
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.epk14.attack import false_discovery_rate, observed_posterior, posterior

NOISE = (0.25, 0.5, 0.75)
MECHANISMS = {f: Rappor(bits=128, hashes=2, cohorts=32, f=f, p=0.5, q=0.75) for f in NOISE}
MECHANISM = MECHANISMS[0.5]
SEEN = {2: "11", 1: "01", 0: "00"}
SIMULATED = (0.01, 0.1, 0.5)
GRID = np.linspace(0, 1, 101)
TITLE = "share of people who hold the string"


def wrongly_targeted(options: Options) -> Outcome:
    """Compute the line of each f, and check points on it by simulated reports."""
    rows: Rows = [
        {"f": f"f = {f}", "frequency": float(x), "false_discovery_rate": float(y)}
        for f, mechanism in MECHANISMS.items()
        for x, y in zip(GRID, false_discovery_rate(mechanism, GRID), strict=True)
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
                "simulated": _mean(points, "false_discovery_rate", ("f", f"f = {f}"), share),
            }
            for share in SIMULATED
        }
        for f in NOISE
    }
    tables = {"lines": rows, "simulated": points}
    paper = {"p and q": "not given", "claim": "most targeted people do not hold a rare string"}
    return Outcome(paper, ours, tables, _rate_chart(rows, points), RATE_NOTES)


def _wrong(options: Options, f: float, share: float, rng: np.random.Generator) -> float | None:
    found = observed_posterior(MECHANISMS[f], share, options.people, rng)[-1]
    return None if found is None else 1 - found


def told_by_bits(options: Options) -> Outcome:
    """Compute the posterior for each pair of bits, and check points on it by simulated reports."""
    rows: Rows = [
        {"bits": bits, "frequency": float(x), "held": float(y), "not_held": float(1 - y)}
        for ones, bits in SEEN.items()
        for x, y in zip(GRID, posterior(MECHANISM, GRID, ones), strict=True)
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
                "simulated": _mean(points, "held", ("bits", bits), share),
            }
            for share in SIMULATED
        }
        for ones, bits in SEEN.items()
    }
    paper = {
        "f, p and q": "not given",
        "claim": "below 10% frequency a report with both bits is much likelier from somebody else",
    }
    tables = {"lines": rows, "simulated": points}
    return Outcome(paper, ours, tables, _bits_chart(rows, points), BITS_NOTES)


def _mean(
    points: Sequence[dict[str, Any]], what: str, line: tuple[str, str], share: float
) -> float | None:
    """Return the mean of the simulated points of a line at a share; None where there is none."""
    name, value = line
    at = [one[what] for one in points if (one[name], one["frequency"]) == (value, share)]
    known = [number for number in at if number is not None]
    return float(np.mean(known)) if known else None


def _rate_chart(rows: Rows, points: Rows) -> Any:
    alt = altair()
    scale = colours([f"f = {f}" for f in NOISE])
    encoding = {
        "x": alt.X("frequency:Q", title=TITLE),
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


def _bits_chart(rows: Rows, points: Rows) -> Any:
    alt = altair()
    title = "probability, given the two bits"
    encoding = {
        "x": alt.X("frequency:Q", title=TITLE),
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


RATE_NOTES = (
    "The paper gives neither p nor q nor k: p = 0.5, q = 0.75, k = 128, 32 cohorts here; h = 2.",
    "The caption calls the rate proportional to f. It grows with f, but not in proportion: for a "
    "string that 10% hold it is 0.83, 0.86 and 0.88 at f = 0.25, 0.5 and 0.75.",
    "The formula neglects that other strings may set the same bits; with k = 128 the simulated "
    "rate is higher by less than 0.01.",
)
BITS_NOTES = (
    "The paper gives neither f, p nor q for this figure: f = 0.5, p = 0.5, q = 0.75 here, h = 2.",
    "Bits 01 stand for either order; both have the same probabilities.",
)
FIGURES = (
    Figure(
        id="epk14-fig7",
        paper="[EPK14] figure 7",
        title="False discoveries of an attacker",
        shows="Who targets the holders of a rare string mostly hits others.",
        run=wrongly_targeted,
        runs=1,
        full_runs=10,
        people=200_000,
        full_people=1_000_000,
    ),
    Figure(
        id="epk14-fig8",
        paper="[EPK14] figure 8",
        title="What a report says about its sender",
        shows="Even both bits of a rare string leave its holder unlikely.",
        run=told_by_bits,
        runs=1,
        full_runs=10,
        people=500_000,
        full_people=1_000_000,
    ),
)
