"""The number of reports, with the mark of simulated ones: for words, tables and pictures."""

from __future__ import annotations

from deniable._words import plural


def reports_text(n: int, simulated: int) -> str:
    """Return the number of reports as every heading says it.

    >>> reports_text(51, 0)
    '51 reports'
    >>> reports_text(20_000, 20_000)
    '20,000 simulated reports'
    >>> reports_text(20_051, 20_000)
    '20,051 reports, 20,000 of them simulated'
    """
    if not simulated:
        return plural(n, "report")
    if simulated == n:
        return plural(n, "simulated report")
    return f"{plural(n, 'report')}, {simulated:,} of them simulated"
