"""Hellinger distance and learned share by epsilon and people: figures 7, 17 and 18 of [FPE16]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Floats
from deniable.protocol import Strings
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.discovery import (
    LOWER,
    Crowd,
    by_ngrams,
    geometric,
    power_law,
    random_strings,
)

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


@dataclass(frozen=True)
class Distribution:
    """One of the three distributions that are learned.

    Attributes:
        figure: its number in the paper.
        name: with its article.
        shares: of the ten strings.
        described: the shares, in words.
    """

    figure: int
    name: str
    shares: Floats
    described: str

    def run(self, options: Options) -> Outcome:
        """Learn ten strings with these shares."""
        return accuracy(options, self.shares, f"Strings nobody listed, {self.name}", self.described)


DISTRIBUTIONS = (
    Distribution(
        7, "a power law", power_law(STRINGS), "ten strings, shares proportional to (1 + i/10)^-5"
    ),
    Distribution(
        17,
        "a geometric distribution",
        geometric(STRINGS, 0.7),
        "ten strings, shares proportional to 0.7^i",
    ),
    Distribution(
        18, "a uniform distribution", np.full(STRINGS, 1 / STRINGS), "ten strings of 10% each"
    ),
)
FIGURES = tuple(
    Figure(
        id=f"fpe16-fig{one.figure}",
        paper=f"[FPE16] figure {one.figure}",
        title=f"Unknown strings of {one.name}",
        shows="How much of ten unknown strings is learned, by epsilon and number of people.",
        run=one.run,
        runs=5,
        full_runs=20,
        people=100_000,
        full_people=1_000_000,
    )
    for one in DISTRIBUTIONS
)
