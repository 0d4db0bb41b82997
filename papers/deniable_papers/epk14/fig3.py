"""[EPK14] figure 3: how many strings can be learned at all from N reports.

Basic one-time RAPPOR, p = 1/2, q = 3/4: an absent string's estimate has standard deviation
sqrt(N) / (2q - 1); x strings of frequency 1/x pass the corrected cut Q = Phi^-1(1 - 0.05/M) when

    N / x > Q sqrt(N) / (2q - 1),     so     x <= (2q - 1) sqrt(N) / Q.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, colours, data_of, styled
from deniable_papers.common.scoring import averaged

P, Q = 0.5, 0.75
ALPHA = 0.05
CANDIDATES = tuple(10**power for power in range(4, 10))
TYPICAL = 10**6
"""Candidates, where one number is given for all of them."""
SIMULATED = 10_000


def critical(candidates: int) -> float:
    """Return Q = Phi^-1(1 - 0.05 / M)."""
    return float(stats.norm.isf(ALPHA / candidates))


def most_strings(people: float, candidates: int, power: float = 0.5) -> float:
    """Return how many equally frequent strings are each detected with this probability.

    The paper's bound is that of power 1/2: an estimate whose mean is just at the cut passes it
    every second time.
    """
    wanted = critical(candidates) + float(stats.norm.ppf(power))
    return (2 * Q - 1) * math.sqrt(people) / wanted


def run(options: Options) -> Outcome:
    """Compute the lines, and simulate the bound at one place."""
    rows: Rows = [
        {"people": people, "candidates": _name(m), "strings": most_strings(people, m)}
        for m in CANDIDATES
        for people in np.geomspace(1e2, 1e10, 33).tolist()
    ]
    simulated = [_simulated(options.people, rng) for rng in options.steps(options.generators())]
    ours = {
        "strings_at_1e8": most_strings(1e8, TYPICAL),
        "strings_at_1e10": most_strings(1e10, TYPICAL),
        "people_for_frequency": {
            name: (critical(TYPICAL) / ((2 * Q - 1) * frequency)) ** 2
            for name, frequency in (("1%", 0.01), ("0.1%", 0.001), ("0.01%", 0.0001))
        },
        "simulated_at_the_bound": averaged(simulated),
        "strings_at_1e8_found_with_probability_0.95": most_strings(1e8, TYPICAL, 0.95),
    }
    return Outcome(PAPER_NUMBERS, ours, {"lines": rows}, _chart(rows), NOTES)


def _simulated(people: int, rng: np.random.Generator) -> dict[str, float]:
    """Return what is detected when as many strings as the bound allows are equally frequent."""
    strings = max(1, int(most_strings(people, SIMULATED)))
    totals = np.zeros(SIMULATED, dtype=np.int64)
    totals[:strings] = rng.multinomial(people, np.full(strings, 1 / strings))
    ones = rng.binomial(totals, Q) + rng.binomial(people - totals, P)
    found = (ones - P * people) / math.sqrt(P * (1 - P) * people) > critical(SIMULATED)
    return {
        "strings": float(strings),
        "detected_share": float(found[:strings].mean()),
        "false": float(found[strings:].sum()),
    }


def _name(candidates: int) -> str:
    return f"{candidates:,}"


def _chart(rows: Rows) -> Any:
    alt = altair()
    names = [_name(m) for m in CANDIDATES]
    log = alt.Scale(type="log")
    power = alt.Axis(format=".0e", tickCount=6)
    lines = (
        alt.Chart(data_of(rows), width=560, height=340)
        .mark_line()
        .encode(
            x=alt.X("people:Q", title="reports", scale=log, axis=power),
            y=alt.Y(
                "strings:Q",
                title="strings that can be found",
                scale=log,
                axis=alt.Axis(tickCount=6),
            ),
            color=alt.Color("candidates:N", scale=colours(names), title="candidates"),
        )
    )
    return styled(lines, "The limit of learning", "basic one-time RAPPOR, epsilon ln 3")


PAPER_NUMBERS = {
    "strings_at_1e8": 1_000,
    "strings_at_1e10": 10_000,
    "people_for_frequency": {"1%": 10**6, "0.1%": 10**8, "0.01%": 10**10},
}
NOTES = (
    "p = 0.5, q = 0.75, f = 0. The caption speaks of seven lines; the legend has the six drawn.",
    "The bound is where a string is found every second time (see simulated_at_the_bound): x that "
    "are found with probability 0.95 are a quarter fewer.",
    "The numbers are those of a million candidates; the lines of 10,000 and of 1e9 lie 20% above "
    "and 18% below.",
    "The sample sizes for 1%, 0.1% and 0.01% follow from the rule sqrt(N)/10; the formula itself "
    "asks for 13% more.",
)
FIGURE = Figure(
    id="epk14-fig3",
    paper="[EPK14] figure 3",
    title="The limit of learning",
    shows="How many strings N reports can reveal, by the number of candidates.",
    run=run,
    runs=20,
    full_runs=20,
    people=1_000_000,
    full_people=1_000_000,
)
