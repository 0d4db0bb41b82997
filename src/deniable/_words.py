"""Numbers as people read them, the same everywhere: with their nouns, and epsilons."""

from __future__ import annotations

import math


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, which has an s for every number but one.

    >>> plural(1, "report"), plural(2_000, "report"), plural(0, "batch", "batches")
    ('1 report', '2,000 reports', '0 batches')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def crowd(people: int) -> str:
    """Return a number of people.

    >>> crowd(1), crowd(2_000)
    ('1 person', '2,000 people')
    """
    return plural(people, "person", "people")


def epsilon_text(epsilon: float) -> str:
    """Return an epsilon with at most three decimals, rounded up: a promise is not rounded down.

    >>> epsilon_text(1.074286), epsilon_text(1.0), epsilon_text(53_877.0001)
    ('1.075', '1', '53,877.001')
    """
    if not math.isfinite(epsilon):
        return str(epsilon)
    # What floats add to a number of micros is far below a millionth, and is no reason to round up.
    thousandths = math.ceil(round(epsilon * 1000, 6))
    return f"{thousandths / 1000:,.3f}".rstrip("0").rstrip(".")
