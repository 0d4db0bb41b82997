"""[CKS18] figure 10: frequency oracles (InpOLH, InpHTCMS) as the number of attributes grows."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.cks18_charts import lines
from deniable.papers.cks18_people import skewed
from deniable.papers.cks18_scores import LN3, PEOPLE, Setting, errors_of, reasons_of
from deniable.papers.cks18_sweep import COMMON, sweep

SIZES = (4, 6, 8, 10, 12, 16)
ORDER = 2
CHOICES = (
    "Lightly skewed people: shares of 25% to 50%, correlated by one factor of loading 0.3. The "
    "paper says neither how skewed nor which k: k = 2 here.",
    "The paper's inp_olh ran out of 12 hours at d = 12 and 16.",
)


def run(options: Options) -> Outcome:
    """Score every method for every number of attributes."""
    people = skewed(max(SIZES))
    settings = [(Setting(d, ORDER, LN3, options.people), options.runs) for d in SIZES]
    rows, found = sweep(options, people, settings)
    ours = {f"d={setting.attributes}": errors_of(scored) for setting, scored in found}
    paper = {
        "small d": "inp_olh is as good as inp_ht",
        "inp_olh": "no result at d = 12 and 16",
        "inp_ht_cms": "not competitive",
    }
    chart = lines(rows, "Pairs by number of attributes", "d", "attributes d")
    notes = (*COMMON, *CHOICES, *reasons_of([scored for _, scored in found]))
    return Outcome(paper, ours, {"errors": rows}, chart, notes)


FIGURE = Figure(
    id="cks18-fig10",
    paper="[CKS18] figure 10",
    title="Frequency oracles by number of attributes",
    shows="Oracles over all 2^d cells fall behind as attributes are added.",
    run=run,
    runs=5,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
