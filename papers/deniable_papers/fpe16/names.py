"""Names for [FPE16] figure 12: the most popular domains of a list, or made-up ones like them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deniable.protocol import Strings
from deniable_papers.common.populations import domains

LETTERS = "-.0123456789abcdefghijklmnopqrstuvwxyz"
DOMAIN = Strings(LETTERS, 20)
NAMES, TRAINED = 100, 10_000
_STARTS = [*"bcdfghjklmnprstvw", "st", "tr", "ch", "sh", "pl"]
_VOWELS = [*"aeiou", "ea", "oo"]
_ENDS = ["", "", "", *"nrstl", "ng"]
_TOPS, _ODDS = (".com", ".net", ".org", ".ru", ".de", ".io"), (0.55, 0.15, 0.1, 0.1, 0.06, 0.04)


def names(data: Path | None, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return the names that people hold, and other ones for training a coding model.

    From `domains.txt` the 100 most popular, and the 10,000 after them; all cut off after 20
    characters, as the domain does. Without it, made-up ones.
    """
    if data is None:
        found = made_up(NAMES + TRAINED, rng)
    else:
        listed = domains(data, NAMES + TRAINED)
        found = list(dict.fromkeys(DOMAIN.fitted(name) for name in listed))
    return found[:NAMES], found[NAMES:]


def made_up(count: int, rng: np.random.Generator) -> list[str]:
    """Return distinct names of two to four syllables, some with a hyphen or digits."""
    found: dict[str, None] = {}
    while len(found) < count:
        size = int(rng.integers(2, 5))
        parts = [
            str(rng.choice(_STARTS)) + str(rng.choice(_VOWELS)) + str(rng.choice(_ENDS))
            for _ in range(size)
        ]
        joint = "-" if rng.random() < 0.08 else ""
        digits = str(rng.integers(1, 1000)) if rng.random() < 0.06 else ""
        stem = parts[0] + joint + "".join(parts[1:]) + digits
        top = str(rng.choice(_TOPS, p=_ODDS))
        found[stem[: DOMAIN.length - len(top)] + top] = None
    return list(found)
