"""[FPE16] figure 18: how well n-grams learn a uniform distribution, by epsilon and people."""

from __future__ import annotations

import numpy as np

from deniable.papers.base import Options, Outcome
from deniable.papers.fpe16_learned import STRINGS, accuracy, accuracy_figure


def run(options: Options) -> Outcome:
    """Learn ten strings with the shares of a uniform distribution."""
    title = "Strings nobody listed, a uniform distribution"
    return accuracy(options, np.full(STRINGS, 1 / STRINGS), title, SUBTITLE)


SUBTITLE = "ten strings of 10% each"
FIGURE = accuracy_figure(
    "fpe16-fig18",
    "[FPE16] figure 18",
    "Unknown strings of a uniform distribution",
    "How much of ten unknown strings is learned, by epsilon and number of people.",
    run,
)
