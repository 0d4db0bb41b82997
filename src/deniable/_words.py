"""Numbers with their nouns: the one place that knows of one and many."""

from __future__ import annotations


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, which has an s for every number but one.

    >>> plural(1, "report"), plural(2_000, "report"), plural(0, "batch", "batches")
    ('1 report', '2,000 reports', '0 batches')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
