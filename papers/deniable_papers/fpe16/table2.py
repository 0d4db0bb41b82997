"""[FPE16] tables 1 and 2 and figure 2: a joint distribution with and without "Other"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.associate import hellinger
from deniable.mechanisms.base import Floats
from deniable_papers.base import Figure, Options, Outcome, Rows, Value
from deniable_papers.common.charts import LOOK, altair, data_of, facets, styled
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.strings import BITS, COHORTS, HASHES, client, crowd, fitted, top
from deniable_papers.fpe16.tables import CATEGORIES, RATIO, TABLE_1, TABLE_2, collapsed, declining
from deniable_papers.fpe16.unlisted import UNLISTED, unlisted

TOP = 5
EPSILON = 3.0
UNLISTED_RUNS = 10
"""The bias of listed strings is measured over this multiple of the runs."""
PANELS = {
    "ignored joint": "Other ignored: joint",
    "ignored conditional": "Other ignored: given top 5",
    "modelled joint": "Other modelled: joint",
    "modelled conditional": "Other modelled: given top 5",
}


@dataclass(frozen=True)
class _Run:
    """One crowd: the true table of what was found most frequent, and both estimates."""

    truth: Floats
    modelled: Floats
    ignored: Floats
    inside: Floats
    gap: float

    @property
    def panels(self) -> dict[str, tuple[Floats, Floats]]:
        """The true and the estimated shares of the 25 cells in each panel of figure 2."""
        known, found = self.truth[:-1, :-1], self.modelled[:-1, :-1]
        return {
            "ignored joint": (known, self.ignored),
            "ignored conditional": (known / known.sum(), self.ignored),
            "modelled joint": (known, found),
            "modelled conditional": (known / known.sum(), found / found.sum()),
        }


def run(options: Options) -> Outcome:
    """Fit the top five strings of both variables in every run, with and without "Other"."""
    law = np.outer(declining(), declining())
    extra = max(2, UNLISTED_RUNS * options.runs)
    generators = options.generators(options.runs + extra)
    work = options.steps(generators)
    runs = [_one(law, options.people, next(work)) for _ in range(options.runs)]
    ours = {
        "epsilon_each": EPSILON,
        "table_1": _percent(collapsed(law, list(range(TOP)), list(range(TOP)))),
        "table_2": _percent(np.mean([one.modelled for one in runs], axis=0)),
        "hellinger": mean(hellinger(one.modelled, one.truth) for one in runs),
        "hellinger_of_the_mean": _mean_distance(runs),
        "rms_error_of_the_mean_percent": mean([_rms_of_mean(runs)]),
        "cells": {name: _scores(runs, name) for name in PANELS},
        "coverage": mean(float(one.inside.mean()) for one in runs),
        "largest_gap": mean([max(one.gap for one in runs)]),
        f"unlisted_{UNLISTED:.0%}": unlisted(EPSILON, options.people, list(work)),
    }
    rows = _rows(runs)
    return Outcome(_paper(), ours, {"cells": rows, "table": _table(runs)}, _chart(rows), NOTES)


def _one(law: Floats, people: int, rng: np.random.Generator) -> _Run:
    drawn = crowd(law, client(EPSILON), people, rng)
    rows, columns = top(drawn, 0, TOP), top(drawn, 1, TOP)
    truth = collapsed(law, rows, columns)
    joint = fitted(drawn, rows, columns, other=True)
    closed = fitted(drawn, rows, columns, other=False)
    inside = (joint.low <= truth) & (truth <= joint.high)
    return _Run(truth, joint.probability, closed.probability, inside.astype(np.float64), joint.gap)


def _percent(table: Floats) -> list[list[float]]:
    return [[float(f"{100 * cell:.4g}") for cell in row] for row in table]


def _mean_distance(runs: list[_Run]) -> float:
    tables = [np.mean([getattr(one, name) for one in runs], axis=0) for name in _TABLES]
    return mean([hellinger(*tables)])


_TABLES = ("modelled", "truth")


def _rms_of_mean(runs: list[_Run]) -> float:
    difference = np.mean([one.modelled - one.truth for one in runs], axis=0)
    return float(100 * np.sqrt(np.square(difference).mean()))


def _scores(runs: list[_Run], panel: str) -> dict[str, float]:
    """Return the bias and spread of a panel's cells, and the slope of estimate against truth."""
    true, found = (np.array([one.panels[panel][i] for one in runs]) for i in (0, 1))
    slope = np.polyfit(true.ravel(), found.ravel(), 1)[0]
    return {
        "mean_bias_percent": mean([100 * float((found - true).mean())]),
        "rms_error_percent": mean([100 * float(np.sqrt(np.square(found - true).mean()))]),
        "slope": mean([float(slope)]),
    }


def _paper() -> dict[str, Any]:
    """Return the printed tables, and how far apart they are."""
    true, found = np.array(TABLE_1), np.array(TABLE_2)
    return {
        "table_1": [list(row) for row in TABLE_1],
        "table_2": [list(row) for row in TABLE_2],
        "hellinger_of_the_mean": mean([hellinger(found / found.sum(), true / true.sum())]),
        "rms_error_of_the_mean_percent": mean([np.sqrt(np.square(found - true).mean())]),
    }


def _rows(runs: list[_Run]) -> Rows:
    rows: list[dict[str, Value]] = []
    for panel, shown in PANELS.items():
        pairs = [one.panels[panel] for one in runs]
        for number, (true, found) in enumerate(pairs):
            for place in np.ndindex(true.shape):
                rows.append(_point(shown, f"run {number + 1}", place, true, found))
        true, found = (np.mean([pair[i] for pair in pairs], axis=0) for i in (0, 1))
        rows += [_point(shown, "mean", place, true, found) for place in np.ndindex(true.shape)]
    return rows


def _point(
    panel: str, series: str, place: tuple[int, ...], true: Floats, found: Floats
) -> dict[str, Value]:
    return {
        "panel": panel,
        "series": series,
        "kind": "mean" if series == "mean" else "run",
        "x": place[0] + 1,
        "y": place[1] + 1,
        "truth": 100 * float(true[place]),
        "estimate": 100 * float(found[place]),
    }


def _table(runs: list[_Run]) -> Rows:
    """Return tables 1 and 2 cell by cell, the paper's and ours."""
    names = [*(str(i + 1) for i in range(TOP)), "Other"]
    ours = [np.mean([getattr(one, name) for one in runs], axis=0) for name in ("truth", "modelled")]
    return [
        {
            "x": names[i],
            "y": names[j],
            "paper_truth": TABLE_1[i][j],
            "paper_estimate": TABLE_2[i][j],
            "truth": 100 * float(ours[0][i, j]),
            "estimate": 100 * float(ours[1][i, j]),
        }
        for i, j in np.ndindex(TOP + 1, TOP + 1)
    ]


def _chart(rows: Rows) -> Any:
    alt = altair()
    largest = max(max(float(str(r["truth"])), float(str(r["estimate"]))) for r in rows)
    scale = alt.Scale(domain=[0, largest], nice=False)
    base = alt.Chart().encode(
        x=alt.X("truth:Q", title="true share, %", scale=scale),
        y=alt.Y("estimate:Q", title="estimate, %", scale=scale),
    )
    line = alt.Chart(alt.Data(values=[{"at": 0.0}, {"at": largest}])).mark_line(
        color=LOOK.muted, strokeWidth=1
    )
    layers = alt.layer(
        base.transform_filter("datum.kind == 'run'").mark_circle(color="#98a2b3", size=18),
        base.transform_filter("datum.kind == 'mean'").mark_circle(color="#d9480f", size=34),
        line.encode(x="at:Q", y="at:Q"),
        data=data_of(rows),
    ).properties(width=250, height=220)
    panels = facets(layers, "panel", sort=list(PANELS.values()), columns=2)
    return styled(
        panels, "A joint distribution with and without Other", "grey: one run, orange: the mean"
    )


NOTES = (
    f"The paper calls its {CATEGORIES} categories Zipfian, but the marginals of table 1 fall by "
    f"the same ratio of {RATIO} from one to the next: that is the law drawn here, both variables "
    "independent as in the table.",
    f"Bits, hash functions and cohorts are not stated: k = {BITS}, h = {HASHES}, m = {COHORTS}, "
    f"one report each with epsilon {EPSILON:g} per variable.",
    "'Other' is modelled as docs/associate.md says: the paper's formula prints N where N times the "
    "share of the known strings belongs, and fits the noise of every bit.",
    f"unlisted_{UNLISTED:.0%}: five listed strings per variable hold the rest; the bias of the 25 "
    "known cells is in units of their standard errors, with the noise of the mean taken off.",
    "Table 1 of the paper is a sample; ours is the law itself.",
)
FIGURE = Figure(
    id="fpe16-table2",
    paper="[FPE16] tables 1, 2 and figure 2",
    title="A joint distribution of strings, with and without Other",
    shows="Without Other all cells are wrong; with it they are unbiased.",
    run=run,
    runs=10,
    full_runs=100,
    people=100_000,
    full_people=100_000,
)
