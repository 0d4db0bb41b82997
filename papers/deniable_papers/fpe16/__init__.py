"""[FPE16], joint distributions and unknown strings: a file for each figure or family of them."""

from deniable_papers.fpe16 import (
    fig3,
    fig4,
    fig8,
    fig9,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    learned,
    table2,
)

FIGURES = (
    fig3.FIGURE,
    fig4.FIGURE,
    table2.FIGURE,
    *learned.FIGURES,
    fig8.FIGURE,
    fig9.FIGURE,
    fig11.FIGURE,
    fig12.FIGURE,
    fig13.FIGURE,
    fig14.FIGURE,
    fig15.FIGURE,
    fig16.FIGURE,
)
