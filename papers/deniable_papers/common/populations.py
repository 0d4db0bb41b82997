"""Who holds what: the papers' populations, made up or from files of real data."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

LARGEST_FILE = 64 * 2**20


def exponential(present: int, absent: int, decay: float) -> Floats:
    """Return shares exp(-decay i / (present - 1)), scaled to sum to 1, then zeros."""
    weights = np.exp(-decay * np.arange(present) / max(1, present - 1))
    return np.concatenate([weights / weights.sum(), np.zeros(absent)])


def zipf(present: int, exponent: float = 1.0) -> Floats:
    """Return shares proportional to rank^-exponent."""
    weights = np.arange(1, present + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def numbered(count: int, rng: np.random.Generator | None = None) -> list[str]:
    """Return the names V1, V2, ... of the paper; with a generator, a random tag after each.

    The tag gives every run other Bloom bits: otherwise all runs would share the collisions of one
    set of names, and their mean would say something about these names only.
    """
    tag = "" if rng is None else f" {int(rng.integers(2**32)):08x}"
    return [f"V{i + 1}{tag}" for i in range(count)]


def domains(data: Path | None, count: int) -> list[str]:
    """Return domain names, most popular first: `domains.txt`, or made-up ones.

    Raises:
        InvalidParameter: if the file has too few.
    """
    if data is None:
        return [f"site{i + 1}.example" for i in range(count)]
    lines = read_text(data / "domains.txt").split("\n")
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(names) < count:
        raise InvalidParameter(f"domains.txt must have {count:,} names. It has {len(names):,}.")
    return names[:count]


def words(data: Path | None, count: int) -> tuple[list[str], Floats]:
    """Return words with their relative counts, most frequent first, without the most frequent.

    From `words.csv` (word, count), or made-up words by a law that fits English prose: the count
    of rank r is proportional to 1 / (r + 1). [BJ18] lists its most frequent
    words from "of" on: "the" is left out, and so it is here.

    Raises:
        InvalidParameter: if the file has too few words, or a line is not a word and a count.
    """
    if data is None:
        ranks = np.arange(2, count + 2, dtype=np.float64)
        return [f"word{int(rank)}" for rank in ranks], np.asarray(1 / (ranks + 1))
    rows = list(csv.reader(read_text(data / "words.csv").splitlines()))[2:]
    if len(rows) < count:
        raise InvalidParameter(f"words.csv must have {count + 1:,} words. It has too few.")
    try:
        return [row[0] for row in rows[:count]], np.array([float(row[1]) for row in rows[:count]])
    except (IndexError, ValueError):
        raise InvalidParameter("Every line of words.csv must be a word and a count.") from None


def read_text(path: Path) -> str:
    """Return the text of a file of real data.

    Raises:
        InvalidParameter: if it is too large, or not UTF-8.
    """
    if path.stat().st_size > LARGEST_FILE:
        raise InvalidParameter(f"{path.name} must be at most {LARGEST_FILE // 2**20} MB.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path.name} must be UTF-8 text.") from None
