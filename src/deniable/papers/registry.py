"""Every figure and table that a command makes, in the order of the papers."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable.papers import (
    bj18_bits,
    bj18_cohorts,
    bj18_hash,
    bj18_hashes,
    bj18_words,
    cks18_fig3,
    cks18_fig4,
    cks18_fig5,
    cks18_fig6,
    cks18_fig7,
    cks18_fig8,
    cks18_fig9,
    cks18_fig10,
    cks18_table2,
    cks18_table3,
    epk14_fig1,
    epk14_fig2,
    epk14_fig3,
    epk14_fig4,
    epk14_fig6,
    epk14_fig7,
    epk14_fig8,
    epk14_table1,
    epk14_table2,
    fpe16_fig3,
    fpe16_fig4,
    fpe16_fig7,
    fpe16_fig8,
    fpe16_fig9,
    fpe16_fig11,
    fpe16_fig12,
    fpe16_fig13,
    fpe16_fig14,
    fpe16_fig15,
    fpe16_fig16,
    fpe16_fig17,
    fpe16_fig18,
    fpe16_table2,
    kbr16_fig1,
    kbr16_fig2,
    kbr16_fig3a,
    kbr16_fig3b,
    kbr16_sweep,
    oracles,
)
from deniable.papers.base import Figure

FIGURES: tuple[Figure, ...] = (
    epk14_fig1.FIGURE,
    epk14_fig2.FIGURE,
    epk14_fig3.FIGURE,
    epk14_fig4.FIGURE,
    epk14_table1.FIGURE,
    epk14_table2.FIGURE,
    epk14_fig6.FIGURE,
    epk14_fig7.FIGURE,
    epk14_fig8.FIGURE,
    fpe16_fig7.FIGURE,
    fpe16_fig8.FIGURE,
    fpe16_fig9.FIGURE,
    fpe16_fig11.FIGURE,
    fpe16_fig12.FIGURE,
    fpe16_fig17.FIGURE,
    fpe16_fig18.FIGURE,
    bj18_bits.FIGURE,
    bj18_hashes.FIGURE,
    bj18_cohorts.FIGURE,
    bj18_words.FIGURE,
    bj18_hash.FIGURE,
    kbr16_fig1.FIGURE,
    kbr16_fig2.FIGURE,
    kbr16_fig3a.FIGURE,
    kbr16_fig3b.FIGURE,
    kbr16_sweep.FIGURE,
    oracles.FIGURE,
    fpe16_table2.FIGURE,
    fpe16_fig3.FIGURE,
    fpe16_fig4.FIGURE,
    fpe16_fig13.FIGURE,
    fpe16_fig14.FIGURE,
    fpe16_fig15.FIGURE,
    fpe16_fig16.FIGURE,
    cks18_table2.FIGURE,
    cks18_fig3.FIGURE,
    cks18_fig4.FIGURE,
    cks18_fig5.FIGURE,
    cks18_fig6.FIGURE,
    cks18_fig7.FIGURE,
    cks18_fig8.FIGURE,
    cks18_fig9.FIGURE,
    cks18_fig10.FIGURE,
    cks18_table3.FIGURE,
)


def figure(name: str) -> Figure:
    """Return the figure with this id.

    Raises:
        InvalidParameter: if there is none; the message lists all.
    """
    for one in FIGURES:
        if one.id == name:
            return one
    raise InvalidParameter(
        f"There is no figure {name!r:.40}. There are: {', '.join(one.id for one in FIGURES)}."
    )
