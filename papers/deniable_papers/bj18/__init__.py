"""[BJ18], RAPPOR on words: its figures, and what they share."""

from deniable_papers.bj18 import hash_function, sweeps, words

FIGURES = (
    *sweeps.FIGURES,
    words.FIGURE,
    hash_function.FIGURE,
)
