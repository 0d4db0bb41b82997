"""[KBR16], discrete distributions: a file for each figure."""

from deniable_papers.kbr16 import fig1, fig2, fig3, sweep

FIGURES = (
    fig1.FIGURE,
    fig1.SQUARED,
    fig2.FIGURE,
    fig2.SQUARED,
    *fig3.FIGURES,
    sweep.FIGURE,
)
