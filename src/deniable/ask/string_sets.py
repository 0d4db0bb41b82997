"""Sets of strings: from shares of draws to shares of people.

A device draws one of its `most` places, so that P(v is drawn | v is in the set) = 1 / most. The
share of people who hold v is `most` times the share of draws, and its error as many times as large
(docs/mathematics.md, section 2). An empty place is the absent answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.protocol import Domain, StringSets
from deniable.results.table.columns import Cell

Rows = list[Sequence[Cell]]
_SCALED = (1, 2, 3, 9)
"""The cells of `answer_row` that are shares: estimate, error, and the two intervals."""


def has_absent(domain: Domain, absent: bool) -> bool:
    """Tell whether reports may hold the absent answer: of a set of strings they always may."""
    return absent or isinstance(domain, StringSets)


def of_people(rows: Sequence[Sequence[Cell]], domain: Domain) -> tuple[Rows, list[str]]:
    """Return rows of shares of people, without the absent one, and notes about the sets.

    Of any other domain the rows stay as they are. The absent row is the last one.
    """
    if not isinstance(domain, StringSets):
        return list(rows), []
    most = domain.most
    *listed, absent = rows
    scaled: Rows = [
        tuple(_times(cell, most) if i in _SCALED else cell for i, cell in enumerate(row))
        for row in listed
    ]
    return scaled, _notes(most, absent)


def _times(cell: Cell, factor: int) -> Cell:
    if isinstance(cell, tuple):
        return factor * cell[0], factor * cell[1]
    return factor * cell if isinstance(cell, float) else cell


def _notes(most: int, absent: Sequence[Cell]) -> list[str]:
    notes = [
        f"Each device reports one of {most:,} places: shares are {most:,} times those of draws, "
        f"their variances {most**2:,} times, and together they may exceed 100%.",
        f"A device with more than {most:,} strings shows each of them less often: shares are "
        "biased down then. Devices count that (counter 'larger'); no report tells.",
    ]
    empty = absent[1]
    if isinstance(empty, float) and empty == empty:  # not NaN
        notes.append(
            f"About {100 * empty:.1f}% of the places were empty: sets filled "
            f"{max(0.0, most * (1 - empty)):.1f} of {most:,} places on average."
        )
    return notes
