"""[CKS18] figure 3: the correlations of the taxi attributes, exact and private."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.correlation import correlation
from deniable.mechanisms.base import Floats
from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.cks18.charts import heat
from deniable_papers.cks18.methods import EVERY, OURS, method
from deniable_papers.cks18.people import People, taxi
from deniable_papers.cks18.scores import LN3, PEOPLE
from deniable_papers.cks18.sweep import MADE_UP
from deniable_papers.common.scoring import mean

RAW = "default_raw"
STRONG = (("Night_pick", "Night_drop"), ("Toll", "Far"), ("CC", "Tip"))
NOTES = (
    "mean_error: mean distance of the private correlations from those of the people drawn; the "
    "nine methods from raw tables clipped to distributions, ours from smoothed ones, and "
    "'default_raw' from its raw ones as they are.",
    "The paper prints the map without numbers, and names the three pairs as strongly positive. "
    "taxi.csv is another sample: Night_pick and Night_drop correlate by -0.08 there.",
    MADE_UP,
)


def run(options: Options) -> Outcome:
    """Compare every method's correlations with the exact ones."""
    people = taxi(options.data)
    pairs = list(combinations(range(len(people.names)), 2))
    generators = options.generators()
    errors: dict[str, list[float]] = {name: [] for name in EVERY}
    reasons: dict[str, str] = {}
    shown: dict[str, Floats] = {}
    for rng in options.steps(generators):
        crowd = people.drawn(options.people, rng)
        exact = _correlations([crowd.marginal(pair) for pair in pairs])
        shown.setdefault("exact", exact)
        for name in EVERY:
            try:
                one = method(name, people, 2, LN3, options.people)
            except InvalidParameter as error:
                reasons[name] = str(error)
                continue
            counts = one.counts(crowd, rng)
            found = {name: _correlations(one.distributions(counts, pairs))}
            if name == OURS:
                raw = [one.mechanism.marginal(counts, pair)[0] for pair in pairs]
                found[RAW] = _correlations(raw)
            for key, values in found.items():
                shown.setdefault(key, values)
                errors.setdefault(key, []).append(float(np.nanmean(np.abs(values - exact))))
    panels = {"exact": shown["exact"], "ours, raw": shown[RAW], "ours, smoothed": shown[OURS]}
    rows = _rows(people, pairs, panels)
    chart = heat(rows, people.names, "Correlations of taxi attributes", columns=3)
    notes = (*NOTES, *(f"{name}: {reason}" for name, reason in reasons.items()))
    return Outcome(PAPER, _ours(people, pairs, shown, errors), {"correlations": rows}, chart, notes)


def _correlations(tables: list[Floats]) -> Floats:
    return np.array([correlation(table).value for table in tables])


def _ours(
    people: People,
    pairs: list[tuple[int, int]],
    shown: Mapping[str, Floats],
    errors: Mapping[str, list[float]],
) -> dict[str, Any]:
    names = [f"{people.names[i]}-{people.names[j]}" for i, j in pairs]
    strong = [names.index(f"{one}-{other}") for one, other in STRONG]
    return {
        "mean_error": {name: mean(found) if found else None for name, found in errors.items()},
        "exact": {names[i]: mean([shown["exact"][i]]) for i in strong},
        "private": {names[i]: mean([shown[OURS][i]]) for i in strong},
    }


def _rows(
    people: People, pairs: list[tuple[int, int]], panels: Mapping[str, Floats]
) -> list[dict[str, Value]]:
    rows: list[dict[str, Value]] = []
    for panel, values in panels.items():
        for (i, j), value in zip(pairs, values.tolist(), strict=True):
            shown = None if np.isnan(value) else value
            for one, other in ((i, j), (j, i)):
                first, second = people.names[one], people.names[other]
                rows.append(
                    {"panel": panel, "first": first, "second": second, "correlation": shown}
                )
    return rows


PAPER = {"exact": {f"{one}-{other}": "strongly positive" for one, other in STRONG}}
FIGURE = Figure(
    id="cks18-fig3",
    paper="[CKS18] figure 3",
    title="Correlations of the taxi attributes",
    shows="The heat map of correlations survives privacy; epsilon ln 3.",
    run=run,
    runs=5,
    full_runs=20,
    people=PEOPLE,
    full_people=PEOPLE,
)
