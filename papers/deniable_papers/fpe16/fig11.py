"""[FPE16] figure 11: the threshold of pairs, between too many edges and too few."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.decode import decode
from deniable.discover.ngrams.discovery import THRESHOLD, Search, candidates_of
from deniable.discover.ngrams.marginals import common_grams
from deniable.discover.ngrams.pairs import all_pairs
from deniable.protocol import Strings
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import altair, data_of, styled
from deniable_papers.common.scoring import averaged
from deniable_papers.fpe16.discovery import (
    LOWER,
    Crowd,
    detections,
    power_law,
    random_strings,
    scored,
)
from deniable_papers.fpe16.fig8 import LENGTH, STRINGS, client

THRESHOLDS = (0.0, 0.01, THRESHOLD, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def run(options: Options) -> Outcome:
    """Put strings together with every threshold, from the same reports."""
    runs, points = [], []
    for number, rng in enumerate(options.steps(options.generators())):
        found = _one(options.people, rng)
        runs.append(found)
        points += [
            {"run": number, "threshold": threshold, **found[_name(threshold)]}
            for threshold in THRESHOLDS
        ]
    ours = averaged(runs)
    mechanism = client(4)
    more = {"epsilon_per_report": mechanism.whole.epsilon, "epsilon": mechanism.epsilon}
    tables = {"thresholds": points}
    return Outcome({}, {"threshold": ours, **more}, tables, _chart(points), NOTES)


def _name(threshold: float) -> str:
    return f"{threshold:g} delta"


def _one(people: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    mechanism, domain = client(4), Strings(LOWER, LENGTH)
    strings = random_strings(STRINGS, LENGTH, rng)
    crowd = Crowd.of(domain, strings, power_law(STRINGS), people, rng)
    reports = crowd.reports(mechanism, rng)
    counts = mechanism.accumulate(reports)
    common = common_grams(mechanism, counts, LOWER)
    pairs = all_pairs(mechanism, reports, common)
    found = {}
    for threshold in THRESHOLDS:
        graph = pairs.graph(threshold)
        listed = candidates_of(graph, mechanism.parameters, Search(threshold=threshold))
        shares: dict[str, float] = {}
        if listed.strings:
            whole = mechanism.whole_counts(counts)
            shares = detections(decode(mechanism.whole, whole, list(listed.strings)))
        numbers = {"edges": float(graph.edges), "candidates": float(len(listed.strings))}
        found[_name(threshold)] = {**numbers, **scored(shares, crowd)}
    return found


def _chart(points: Rows) -> Any:
    alt = altair()
    shown = [{**row, "delta": f"{row['threshold']:g}"} for row in points]
    order = [f"{threshold:g}" for threshold in THRESHOLDS]
    chart = (
        alt.Chart(data_of(shown), width=560, height=300)
        .mark_circle(size=60)
        .encode(
            x=alt.X("edges:Q", title="edges of the graph", scale=alt.Scale(type="symlog")),
            y=alt.Y("hellinger:Q", title="Hellinger distance", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "delta:O",
                sort=order,
                title="threshold, times delta",
                scale=alt.Scale(domain=order, scheme="viridis"),
            ),
        )
    )
    return styled(
        chart, "The threshold of pairs", "a point per run; epsilon 8.79 in each of three reports"
    )


NOTES = (
    "The strings, shares and client of figure 8 with four hash functions: epsilon 8.79 in each of "
    "the three reports. delta is sqrt(p2 (1 - p2)/N)/(q2 - p2) with N the people of a pair of "
    "places: equation 2 as printed has lost a power.",
    "A threshold of 0 joins every two n-grams that fit together; the number of candidates is "
    "bounded at 2,000, and the search says so.",
    "The likeliest joint distribution has most absent pairs at exactly 0, so that thresholds far "
    "below delta add few edges.",
)
FIGURE = Figure(
    id="fpe16-fig11",
    paper="[FPE16] figure 11",
    title="The threshold of pairs",
    shows="Few edges lose strings, many edges cost tests: in between it matters little.",
    run=run,
    runs=5,
    full_runs=20,
    people=100_000,
    full_people=100_000,
)
