"""[KBR16] figure 3(b): O-RR and O-RAPPOR on known alphabets, by permutations."""

from __future__ import annotations

from deniable.papers.base import Figure, Options, Outcome
from deniable.papers.kbr16_fig3 import EPSILONS, run_figure

PAPER = {"S=256, n=1000000": {"orr_over_orappor": {"meets": [True] * len(EPSILONS)}}}


def run(options: Options) -> Outcome:
    """Measure all mechanisms with permutations."""
    return run_figure(options, closed=True, paper=PAPER)


FIGURE = Figure(
    id="kbr16-fig3b",
    paper="[KBR16] figure 3(b)",
    title="Known alphabets: O-RR against O-RAPPOR",
    shows="O-RR meets or beats O-RAPPOR at every epsilon, and auto meets or beats both.",
    run=run,
    runs=20,
    full_runs=50,
    people=1_000_000,
    full_people=1_000_000,
)
