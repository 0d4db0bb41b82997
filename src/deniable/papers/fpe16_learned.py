"""Hellinger distance and learned share by epsilon and people: figures 7, 17 and 18 of [FPE16]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Floats
from deniable.papers.base import Figure, Options, Outcome, Rows
from deniable.papers.charts import altair, colours, data_of, styled
from deniable.papers.fpe16_discovery import LOWER, Crowd, by_ngrams, random_strings
from deniable.papers.scoring import mean
from deniable.protocol import Strings

EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
STRINGS, LENGTH = 10, 6
KEPT = ("hellinger", "learned", "found", "false", "candidates")
Z = 1.96


def accuracy(options: Options, shares: Floats, title: str, subtitle: str) -> Outcome:
    """Return the outcome for one distribution: every epsilon with three sizes of crowds."""
    sizes = sorted({max(100, options.people // part) for part in (100, 10, 1)})
    settings = [(people, epsilon) for people in sizes for epsilon in EPSILONS]
    rows = []
    for people, epsilon in options.steps(settings):
        mechanism = NGrams(alphabet=LOWER, length=LENGTH, epsilon=epsilon)
        runs = [_one(mechanism, shares, people, run, options.seed) for run in range(options.runs)]
        rows.append({"people": people, "epsilon": epsilon, **_summary(runs)})
    ours = {
        f"N={people}": {
            f"{row['epsilon']:g}": {name: row[name] for name in KEPT}
            for row in rows
            if row["people"] == people
        }
        for people in sizes
    }
    chart = _chart(rows, title, subtitle)
    return Outcome({}, {"epsilon": ours}, {"accuracy": rows}, chart, NOTES)


def _one(mechanism: NGrams, shares: Floats, people: int, run: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, run])  # every setting has the same strings
    strings = random_strings(STRINGS, LENGTH, rng)
    domain = Strings(LOWER, LENGTH)
    crowd = Crowd.of(domain, strings, shares, people, rng)
    return by_ngrams(mechanism, crowd, rng)[1]


def _summary(runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return means over the runs, and the half widths of their 95% intervals."""
    found: dict[str, Any] = {name: mean(run[name] for run in runs) for name in KEPT}
    for name in ("hellinger", "learned"):
        spread = np.std([run[name] for run in runs], ddof=1) if len(runs) > 1 else 0.0
        half = float(f"{Z * float(spread) / np.sqrt(len(runs)):.9g}")
        found |= {f"{name}_low": found[name] - half, f"{name}_high": found[name] + half}
    return found


def _chart(rows: Rows, title: str, subtitle: str) -> Any:
    alt = altair()
    named = [{**row, "N": f"{row['people']:,}"} for row in rows]
    names = list(dict.fromkeys(str(row["N"]) for row in named))
    colour = alt.Color("N:N", scale=colours(names), title="reports")

    def panel(name: str, label: str) -> Any:
        base = alt.Chart(data_of(named), width=300, height=260).encode(
            x=alt.X("epsilon:Q", title="epsilon of all three reports"), color=colour
        )
        scale = alt.Scale(domain=[0, 1])
        lines = base.mark_line(point=True).encode(y=alt.Y(f"{name}:Q", title=label, scale=scale))
        whiskers = base.mark_rule().encode(y=alt.Y(f"{name}_low:Q", title=label), y2=f"{name}_high")
        return alt.layer(lines, whiskers)

    both = alt.hconcat(
        panel("hellinger", "Hellinger distance"), panel("learned", "share of strings learned")
    )
    return styled(both, title, subtitle)


NOTES = (
    "epsilon is that of all three reports, as in the paper: a third each for the string and two "
    "bigrams. Ten random strings of six letters; k = 128, m = 64, h = 1, and p and q tuned for the "
    "epsilon (q* = 1/2), where the paper does not say which client it ran.",
    "The paper prints no numbers for these curves. Learned means discovered by Holm, at most 5% "
    "of the runs with any false string; mass that was not learned counts in the distance.",
    "Whiskers are 95% intervals of the means over the runs.",
)


def accuracy_figure(
    name: str, paper: str, title: str, shows: str, run: Callable[[Options], Outcome]
) -> Figure:
    """Return a figure of this kind."""
    return Figure(
        id=name,
        paper=paper,
        title=title,
        shows=shows,
        run=run,
        runs=5,
        full_runs=20,
        people=100_000,
        full_people=1_000_000,
    )
