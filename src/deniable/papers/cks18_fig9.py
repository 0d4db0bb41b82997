"""[CKS18] figure 9: total variation of 1, 2, 3-way tables as epsilon varies."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.cks18_charts import lines
from deniable.papers.cks18_people import movielens
from deniable.papers.cks18_scores import PEOPLE, Setting, errors_of, reasons_of
from deniable.papers.cks18_sweep import COMMON, MADE_UP, in_panels, sweep

GRID = tuple((d, k) for d in (4, 8, 16) for k in (1, 2, 3))
EPSILONS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
FEW_EPSILONS = (0.4, 0.8, 1.4)
"""Of a default run."""


def run(options: Options) -> Outcome:
    """Score every method for every d, k and epsilon."""
    epsilons = EPSILONS if options.full else FEW_EPSILONS
    settings = [
        (Setting(d, k, epsilon, options.people), options.runs)
        for d, k in GRID
        for epsilon in epsilons
    ]
    rows, found = sweep(options, movielens(options.data), settings)
    ours: dict[str, dict[str, dict[str, float | None]]] = {}
    for setting, scored in found:
        cell = ours.setdefault(f"{setting.attributes},{setting.order}", {})
        cell[f"epsilon={setting.epsilon:g}"] = errors_of(scored)
    paper = {
        "best": "inp_ht, in every panel",
        "k >= 2": "inp_ps, inp_rr and marg_rr are unfavourable",
        "marg_ps": "overtakes marg_ht as epsilon grows",
    }
    rows = in_panels(rows)
    chart = lines(rows, "Tables of movielens by epsilon", "epsilon", "epsilon", "panel")
    notes = (*COMMON, MADE_UP, *reasons_of([scored for _, scored in found]))
    return Outcome(paper, ours, {"errors": rows}, chart, notes)


FIGURE = Figure(
    id="cks18-fig9",
    paper="[CKS18] figure 9",
    title="Total variation of 1, 2 and 3-way tables by epsilon",
    shows="Errors fall with epsilon for every method; which one is best hardly changes.",
    run=run,
    runs=3,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
