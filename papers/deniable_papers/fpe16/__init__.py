"""[FPE16], joint distributions and unknown strings: a file for each figure or family of them."""

from deniable_papers.fpe16 import (
    distances,
    fig4,
    fig8,
    fig9,
    fig11,
    fig12,
    fig13,
    learned,
    rejections,
    table2,
)

FIGURES = (
    distances.BY_EPSILON,
    fig4.FIGURE,
    table2.FIGURE,
    *learned.FIGURES,
    fig8.FIGURE,
    fig9.FIGURE,
    fig11.FIGURE,
    fig12.FIGURE,
    fig13.FIGURE,
    *rejections.FIGURES,
    distances.BY_ANSWERS,
)
