"""[BJ18] figure 5: precision and recall by the number of cohorts."""

from __future__ import annotations

from deniable.papers import bj18
from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.sweeping import Setting

COHORTS = (4, 8, 16, 32, 64)


def run(options: Options) -> Outcome:
    """Vary m, with k = 48 and h = 2 as in the paper."""
    settings = [Setting({"m": m}, bj18.client(cohorts=m)) for m in COHORTS]
    return bj18.swept(options, settings, "m", "cohorts m", PAPER_NUMBERS, NOTES)


PAPER_NUMBERS = {
    "paper_decoder": {
        "4": {"precision": "> 0.9", "recall": 0.52},
        "8": {"precision": "> 0.9", "recall": 0.56},
        "16": {"precision": "> 0.9", "recall": "below 0.56"},
    }
}
NOTES = (
    "The fall of recall beyond 8 cohorts is not reproducible: more cohorts tell more strings "
    "apart, and the noise of a string's mean does not depend on m.",
)
FIGURE = Figure(
    id="bj18-cohorts",
    paper="[BJ18] figure 5",
    title="Words by the number of cohorts",
    shows="More cohorts never hurt, and a few are too few.",
    run=run,
    runs=10,
    full_runs=50,
    people=bj18.PEOPLE,
    full_people=bj18.PEOPLE,
)
