"""[FPE16] figure 17: how well n-grams learn a geometric distribution, by epsilon and people."""

from __future__ import annotations

from deniable.papers.base import Options, Outcome
from deniable.papers.fpe16_discovery import geometric
from deniable.papers.fpe16_learned import STRINGS, accuracy, accuracy_figure


def run(options: Options) -> Outcome:
    """Learn ten strings with the shares of a geometric distribution."""
    title = "Strings nobody listed, a geometric distribution"
    return accuracy(options, geometric(STRINGS, 0.7), title, SUBTITLE)


SUBTITLE = "ten strings, shares proportional to 0.7^i"
FIGURE = accuracy_figure(
    "fpe16-fig17",
    "[FPE16] figure 17",
    "Unknown strings of a geometric distribution",
    "How much of ten unknown strings is learned, by epsilon and number of people.",
    run,
)
