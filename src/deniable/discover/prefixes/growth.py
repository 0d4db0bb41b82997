"""Grow strings from their beginnings: extend, estimate, keep the best, and again.

    kept beginnings x all extensions -> estimates from the level's reports -> the most credible kept

Extensions are made and estimated in blocks; of each beginning only those that look best are kept
until the level's frequent ones have been peeled and the evidence of all levels is weighed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.discover.extensions import Branches, Symbols
from deniable.discover.group_estimates import Table
from deniable.discover.prefixes.evidence import Beliefs, Places
from deniable.mechanisms.base import Floats
from deniable.mechanisms.hashing import Words
from deniable.protocol.prefixes import chained

MAX_BEAM = 100_000
_BLOCK = 2**18
"""Extensions that are held at once, but for those of a single beginning."""
_PER_BEGINNING = 60
_LOOKED_AT = 20
"""Extensions whose evidence is weighed: the first number of each beginning, or, if that is more,
the second number times the beam in all."""

Progress = Callable[[int, int], None]
"""Called with the number of levels done and the number of levels."""


@dataclass(frozen=True)
class Beginning:
    """A beginning that was kept at a level.

    Attributes:
        symbols: as they are reported.
        estimate: its frequency by the level's own reports.
        odds: log odds that somebody's string begins so, by the evidence of all levels so far.
        parent: its place among the kept ones of the level before.
    """

    symbols: Symbols
    estimate: float
    odds: float
    parent: int


@dataclass(frozen=True)
class Level:
    """The beginnings that one level kept, the most credible first.

    Attributes:
        kept: the beginnings.
        tested: how many extensions were estimated.
        noise: the standard error of an extension that nobody reports.
        n: the level's reports.
    """

    kept: tuple[Beginning, ...]
    tested: int
    noise: float
    n: int


@dataclass(frozen=True)
class _Found:
    """The best extensions, in order of their parents, then of their numbers."""

    parents: Places
    extensions: Places
    words: Words
    estimates: Floats
    symbols: Callable[[int], Symbols]
    tested: int


def grow(
    branches: Branches,
    tables: Iterator[Table],
    levels: int,
    *,
    beam: int = BEAM,
    progress: Progress | None = None,
) -> list[Level]:
    """Return the beginnings that every level kept.

    Guarantees: deterministic; ties are broken by the order of the extensions.

    Cost: per level `beam` times the number of extensions, each a hash and a look-up per cohort;
    memory for a block of extensions and one level's table.

    Edge cases: a level without reports keeps what looks best by the levels before. Growth ends
    early where nothing is possible any more.

    Args:
        branches: how beginnings go on.
        tables: one per level, made when it is asked for.
        levels: how many there are.
        beam: how many beginnings each level keeps.
        progress: called after every level.
    """
    beam = _validate.integer("beam", "grow", beam, 1, MAX_BEAM)
    kept: tuple[Beginning, ...] = (Beginning((), 1.0, np.inf, -1),)
    beliefs: Beliefs | None = None
    grown = []
    for level in range(levels):
        table = next(tables)
        if beliefs is None:
            beliefs = Beliefs.first(table.noise)
        found = _best(
            branches, table, kept, level, max(_PER_BEGINNING, _LOOKED_AT * beam // len(kept))
        )
        estimates = table.peel(found.words, found.estimates) if table.n else found.estimates
        odds, after = beliefs.update(found.parents, found.extensions, estimates, table)
        order = np.argsort(-odds, kind="stable")[:beam]
        kept = tuple(
            Beginning(found.symbols(i), float(estimates[i]), float(odds[i]), int(found.parents[i]))
            for i in order.tolist()
        )
        beliefs = after.rows(order)
        grown.append(Level(kept, found.tested, table.noise, table.n))
        if progress is not None:
            progress(level + 1, levels)
        if not kept:
            break
    return grown


def _best(
    branches: Branches, table: Table, kept: tuple[Beginning, ...], level: int, most: int
) -> _Found:
    """Return the extensions of each beginning that look best, at most `most` of each."""
    going, fixed = list[int](), list[tuple[int, Symbols]]()
    for place, beginning in enumerate(kept):
        listed = branches.listed(beginning.symbols, level) if level else None
        if listed is None:
            going.append(place)
        else:
            fixed += [(place, symbols) for symbols in listed]
    words = np.array([chained(s) for _, s in fixed], dtype=np.uint64).reshape(-1, 2)
    places = np.array([place for place, _ in fixed], dtype=np.int64)
    numbers = np.full(len(fixed), -1, dtype=np.int64)
    parts = [_Part(places, numbers, words, table.estimate(words))]
    parts += _in_blocks(branches, table, kept, going, level, most)
    parents, number, words, estimates = (np.concatenate(part) for part in zip(*parts, strict=True))

    def symbols(place: int) -> Symbols:
        if number[place] < 0:
            return fixed[place][1]
        return branches.symbols(kept[parents[place]].symbols, int(number[place]), level)

    count = branches.count(level)
    extensions = np.where(number < 0, 1, count)
    tested = len(fixed) + len(going) * count
    return _Found(parents, extensions, words, estimates, symbols, tested)


class _Part(NamedTuple):
    """Some extensions: their parents, numbers (-1: listed), words and estimates."""

    parents: Places
    numbers: Places
    words: Words
    estimates: Floats


def _in_blocks(
    branches: Branches,
    table: Table,
    kept: tuple[Beginning, ...],
    going: list[int],
    level: int,
    most: int,
) -> Iterator[_Part]:
    """Yield the best extensions of the beginnings that can go on in every way."""
    starts = np.array([chained(kept[place].symbols) for place in going], dtype=np.uint64)
    places, step = np.array(going, dtype=np.int64), max(1, _BLOCK // branches.count(level))
    for start in range(0, len(going), step):
        block = branches.words(starts[start : start + step].reshape(-1, 2), level)
        values = table.estimate(block.reshape(-1, 2)).reshape(block.shape[:2])
        best = _largest(values, most)
        rows = np.repeat(np.arange(len(block)), best.shape[1])
        columns = best.ravel()
        owners = places[start : start + step][rows]
        yield _Part(owners, columns, block[rows, columns], values[rows, columns])


def _largest(values: Floats, most: int) -> Places:
    """Return the columns of the largest values of each row, rising."""
    if values.shape[1] <= most:
        return np.tile(np.arange(values.shape[1]), (len(values), 1))
    return np.sort(np.argpartition(-values, most - 1, axis=1)[:, :most], axis=1)
