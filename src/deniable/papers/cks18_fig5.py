"""[CKS18] figure 5: the effect of the order k, from 1 to 7 of 8 attributes."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.cks18_charts import lines
from deniable.papers.cks18_people import taxi
from deniable.papers.cks18_scores import LN3, PEOPLE, Setting, errors_of, reasons_of
from deniable.papers.cks18_sweep import COMMON, MADE_UP, sweep

ATTRIBUTES = 8
ORDERS = (1, 2, 3, 4, 5, 6, 7)


def run(options: Options) -> Outcome:
    """Score every method for every order."""
    settings = [(Setting(ATTRIBUTES, k, LN3, options.people), options.runs) for k in ORDERS]
    rows, found = sweep(options, taxi(options.data), settings)
    ours = {f"k={setting.order}": errors_of(scored) for setting, scored in found}
    paper = {"k <= 4": "inp_ht is best", "k = 5": {"inp_ht": 0.125}}
    chart = lines(rows, "Tables of taxi trips by order", "k", "order k")
    notes = (*COMMON, MADE_UP, *reasons_of([scored for _, scored in found]))
    return Outcome(paper, ours, {"errors": rows}, chart, notes)


FIGURE = Figure(
    id="cks18-fig5",
    paper="[CKS18] figure 5",
    title="The effect of the order k",
    shows="How fast errors grow with the number of attributes in a table; d = 8, epsilon ln 3.",
    run=run,
    runs=10,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
