"""[EPK14], RAPPOR: a file for each figure, table or family of them."""

from deniable_papers.epk14 import fig1, fig2, fig3, fig4, fig6, posteriors, table1, table2

FIGURES = (
    fig1.FIGURE,
    fig2.FIGURE,
    fig3.FIGURE,
    fig4.FIGURE,
    table1.FIGURE,
    table2.FIGURE,
    fig6.FIGURE,
    *posteriors.FIGURES,
)
