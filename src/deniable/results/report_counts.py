"""The number of reports, with the mark of simulated ones: for words, tables and pictures."""

from __future__ import annotations


def reports_text(n: int, simulated: int) -> str:
    """Return the number of reports as every heading says it.

    >>> reports_text(51, 0)
    '51 reports'
    >>> reports_text(20_000, 20_000)
    '20,000 simulated reports'
    >>> reports_text(20_051, 20_000)
    '20,051 reports, 20,000 of them simulated'
    """
    word = "report" if n == 1 else "reports"
    if not simulated:
        return f"{n:,} {word}"
    return (
        f"{n:,} simulated {word}"
        if simulated == n
        else f"{n:,} {word}, {simulated:,} of them simulated"
    )
