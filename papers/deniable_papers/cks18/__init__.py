"""[CKS18], tables of many attributes: a file for each figure or family of them."""

from deniable_papers.cks18 import fig3, fig7, fig8, sweeps, table2, table3

FIGURES = (
    table2.FIGURE,
    fig3.FIGURE,
    *sweeps.FIGURES,
    fig7.FIGURE,
    fig8.FIGURE,
    table3.FIGURE,
)
