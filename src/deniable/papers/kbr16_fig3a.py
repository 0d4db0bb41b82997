"""[KBR16] figure 3(a): O-RR and O-RAPPOR on unknown alphabets, by hash functions."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.kbr16_fig3 import EPSILONS, run_figure

PAPER = {"S=256, n=1000000": {"orr_over_orappor": {"meets": [True] * len(EPSILONS)}}}


def run(options: Options) -> Outcome:
    """Measure all mechanisms with hash functions."""
    return run_figure(options, closed=False, paper=PAPER)


FIGURE = Figure(
    id="kbr16-fig3a",
    paper="[KBR16] figure 3(a)",
    title="Unknown alphabets: O-RR against O-RAPPOR",
    shows="O-RR meets or beats O-RAPPOR at every epsilon, and auto meets or beats both.",
    run=run,
    runs=20,
    full_runs=50,
    people=1_000_000,
    full_people=1_000_000,
)
