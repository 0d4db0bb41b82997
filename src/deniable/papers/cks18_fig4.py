"""[CKS18] figure 4: total variation of 1, 2, 3-way tables as the number of people varies."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.cks18_charts import lines
from deniable.papers.cks18_people import movielens
from deniable.papers.cks18_scores import LN3, PEOPLE, Setting, errors_of, reasons_of
from deniable.papers.cks18_sweep import COMMON, MADE_UP, in_panels, sweep

GRID = tuple((d, k) for d in (4, 8, 16) for k in (1, 2, 3))
FACTORS = (0.25, 0.5, 1.0, 2.0)
"""The paper's 2^16 to 2^19 people, relative to `--people`."""
FEWER = 10
"""The other numbers of people get so many times fewer runs in a default run."""


def run(options: Options) -> Outcome:
    """Score every method for every d, k and number of people."""
    settings = []
    for d, k in GRID:
        for factor in FACTORS:
            runs = options.runs if factor == 1 or options.full else max(1, options.runs // FEWER)
            settings.append((Setting(d, k, LN3, int(options.people * factor)), runs))
    rows, found = sweep(options, movielens(options.data), settings)
    ours = {
        f"{setting.attributes},{setting.order}": errors_of(scored)
        for setting, scored in found
        if setting.people == options.people
    }
    paper = {
        "lowest or near lowest": "inp_ht, in every panel",
        "k = 1": "marg_ps, marg_rr, marg_ht and inp_ht hardly differ",
        "d = 16": "inp_ps and inp_rr have very large errors",
    }
    rows = in_panels(rows)
    chart = lines(rows, "Tables of movielens by number of people", "people", "people", "panel",
                  log=True)  # fmt: skip
    notes = (*COMMON, MADE_UP, *reasons_of([scored for _, scored in found]))
    return Outcome(paper, ours, {"errors": rows}, chart, notes)


FIGURE = Figure(
    id="cks18-fig4",
    paper="[CKS18] figure 4",
    title="Total variation of 1, 2 and 3-way tables by number of people",
    shows="Which method has the best tables for d attributes and order k; epsilon ln 3.",
    run=run,
    runs=10,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
