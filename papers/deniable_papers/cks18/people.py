"""[CKS18] section 5.1: the people of the experiments, as rows of yes/no attributes.

Real tables come from `taxi.csv` and `movielens.csv` in the directory of `--data`; without it,
made-up people of the same shape stand in for them. As in the paper, N people are drawn from the
rows with replacement, and more attributes than there are come from repeating columns.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Codes, Floats
from deniable_papers.common.populations import read_text

TAXI = ("CC", "Toll", "Far", "Night_pick", "Night_drop", "M_pick", "M_drop", "Tip")
GENRES = (
    *("Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Horror", "Musical", "Mystery", "Romance", "SciFi", "Thriller", "War", "Western"),
)
MADE_UP = 20_000
"""Rows of a made-up table."""
MADE_UP_SEED = 2018
"""Made-up tables are always the same: `--seed` decides what is drawn from them."""

Bits = NDArray[np.int64]


@dataclass(frozen=True)
class People:
    """A table of yes/no attributes.

    Attributes:
        names: of the attributes.
        rows: a row per person, a column per attribute.
    """

    names: tuple[str, ...]
    rows: Bits

    def widened(self, attributes: int) -> People:
        """Return a number of attributes from the first on, beginning again where they run out."""
        chosen = [i % len(self.names) for i in range(attributes)]
        names = tuple(
            self.names[c] if i == c else f"{self.names[c]}_{i // len(self.names) + 1}"
            for i, c in enumerate(chosen)
        )
        return People(names, self.rows[:, chosen])

    def drawn(self, people: int, rng: np.random.Generator) -> Crowd:
        """Return people drawn with replacement, in the order of the rows."""
        counts = rng.multinomial(people, np.full(len(self.rows), 1 / len(self.rows)))
        return Crowd(self.rows, counts)


@dataclass(frozen=True)
class Crowd:
    """People drawn from rows: how often each row was drawn.

    Attributes:
        rows: the distinct (or not) rows.
        counts: how many people have each.
    """

    rows: Bits
    counts: Codes

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def codes(self) -> Bits:
        """A row per person."""
        return np.repeat(self.rows, self.counts, axis=0)

    def marginal(self, attributes: Sequence[int]) -> Floats:
        """Return the true table of some attributes, an axis each."""
        place = np.zeros(len(self.rows), dtype=np.int64)
        for attribute in attributes:
            place = 2 * place + self.rows[:, attribute]
        cells = 2 ** len(attributes)
        counted = np.bincount(place, weights=self.counts, minlength=cells)
        return np.asarray(counted / self.n).reshape((2,) * len(attributes))


def taxi(data: Path | None) -> People:
    """Return trips: `taxi.csv`, or made-up ones with dependences like its.

    The made-up trips: a tip needs a card; tolls go with long trips and with one end outside
    Manhattan; the rest is nearly independent, M_drop and CC exactly.
    """
    if data is not None:
        return _read(data / "taxi.csv", TAXI)
    rng = np.random.default_rng(MADE_UP_SEED)
    card = rng.random(MADE_UP) < 0.73
    tip = card & (rng.random(MADE_UP) < 0.59)
    toll = rng.random(MADE_UP) < 0.057
    far = rng.random(MADE_UP) < np.where(toll, 0.67, 0.012)
    outside = rng.random(MADE_UP) < np.where(toll, 0.6, 0.025)
    drop = rng.random(MADE_UP) < np.where(toll & ~outside, 0.2, np.where(outside, 0.999, 0.94))
    night = rng.random(MADE_UP) < 0.21
    late = rng.random(MADE_UP) < np.where(night, 0.042, 0.088)
    columns = (card, toll, far, night, late, ~outside, drop, tip)
    return People(TAXI, np.column_stack(columns).astype(np.int64))


def movielens(data: Path | None) -> People:
    """Return users by the genres they rated: `movielens.csv`, or made-up ones.

    The made-up users: one liking for films per user behind all genres (a Gaussian copula), so that
    all pairs are positively correlated.
    """
    if data is not None:
        return _read(data / "movielens.csv", GENRES)
    rng = np.random.default_rng(MADE_UP_SEED)
    loading = np.linspace(0.35, 0.85, len(GENRES))[rng.permutation(len(GENRES))]
    shares = np.linspace(0.36, 0.97, len(GENRES))[rng.permutation(len(GENRES))]
    return People(GENRES, copula(shares, loading, rng))


def dependent(attributes: int) -> People:
    """Return made-up people whose attributes depend strongly: a chain, each mostly as the last."""
    rng = np.random.default_rng(MADE_UP_SEED)
    rows = np.empty((MADE_UP, attributes), dtype=np.int64)
    rows[:, 0] = rng.random(MADE_UP) < 0.45
    for i in range(1, attributes):
        same = rng.random(MADE_UP) < 0.9 - 0.02 * (i % 5)
        rows[:, i] = np.where(same, rows[:, i - 1], 1 - rows[:, i - 1])
    return People(tuple(f"x{i + 1}" for i in range(attributes)), rows)


def skewed(attributes: int) -> People:
    """Return made-up people of appendix B.2: attributes lightly skewed and lightly correlated."""
    rng = np.random.default_rng(MADE_UP_SEED)
    loading, shares = np.full(attributes, 0.3), np.linspace(0.25, 0.5, attributes)
    names = tuple(f"x{i + 1}" for i in range(attributes))
    return People(names, copula(shares, loading, rng))


def copula(shares: Floats, loading: Floats, rng: np.random.Generator) -> Bits:
    """Return rows of yes/no attributes with given shares of yes, correlated by one factor."""
    common = rng.standard_normal((MADE_UP, 1))
    own = rng.standard_normal((MADE_UP, len(shares)))
    latent = loading * common + np.sqrt(1 - loading**2) * own
    cut = np.array(
        [np.quantile(latent[:, i], 1 - share) for i, share in enumerate(shares.tolist())]
    )
    return (latent > cut).astype(np.int64)


def _read(path: Path, names: tuple[str, ...]) -> People:
    """Read a table of zeros and ones with a line of names above it."""
    if not path.is_file():
        raise InvalidParameter(f"The data directory must hold {path.name}. Leave --data out.")
    lines = [line for line in csv.reader(read_text(path).splitlines()) if line]
    if not lines or tuple(lines[0]) != names or len(lines) < 2:
        raise InvalidParameter(f"{path.name} must begin with the names {', '.join(names)}.")
    try:
        rows = np.array(lines[1:], dtype=np.int64)
    except ValueError:
        rows = np.empty(0, dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != len(names) or not np.isin(rows, (0, 1)).all():
        raise InvalidParameter(f"Every line of {path.name} must be {len(names)} zeros and ones.")
    return People(names, rows)
