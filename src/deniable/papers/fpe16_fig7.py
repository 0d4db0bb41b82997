"""[FPE16] figure 7: how well n-grams learn a power law, by epsilon and people."""

from __future__ import annotations

from deniable.papers.base import Options, Outcome
from deniable.papers.fpe16_discovery import power_law
from deniable.papers.fpe16_learned import STRINGS, accuracy, accuracy_figure


def run(options: Options) -> Outcome:
    """Learn ten strings with the shares of a power law."""
    title = "Strings nobody listed, a power law"
    return accuracy(options, power_law(STRINGS), title, SUBTITLE)


SUBTITLE = "ten strings, shares proportional to (1 + i/10)^-5"
FIGURE = accuracy_figure(
    "fpe16-fig7",
    "[FPE16] figure 7",
    "Unknown strings of a power law",
    "How much of ten unknown strings is learned, by epsilon and number of people.",
    run,
)
