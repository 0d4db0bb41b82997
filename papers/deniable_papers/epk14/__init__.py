"""[EPK14], RAPPOR: its figures and tables, one file each."""

from deniable_papers.epk14 import fig1, fig2, fig3, fig4, fig6, fig7, fig8, table1, table2

FIGURES = (
    fig1.FIGURE,
    fig2.FIGURE,
    fig3.FIGURE,
    fig4.FIGURE,
    table1.FIGURE,
    table2.FIGURE,
    fig6.FIGURE,
    fig7.FIGURE,
    fig8.FIGURE,
)
