"""Evidence for a beginning: posterior odds from all levels, not from the last one alone.

Model: a beginning has an unknown frequency f, from a grid of values, or 0. Its estimate e at a
level is normal around f with the level's variance at f. Of what it extends, with frequency f',
`EXPECTED` extensions are expected to go on: such a one has all of f' with probability 1/2, else any
value of the grid up to it; all others have 0. Bayes' rule level by level gives

    odds(f > 0 | all estimates so far),

by which beginnings are kept. It is a score for choosing what to look at next, never a test: false
discoveries are controlled by the verification group, which it does not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats

_ATOMS = 32
_EXPECTED = 2.0
"""Extensions of one beginning that are expected to be real."""
_TINY = 1e-300

Places = NDArray[np.int64]


class Noisy(Protocol):
    """The noise of a level's estimates; a `Table` provides it."""

    @property
    def noise(self) -> float:
        """The standard error of a beginning that nobody reports."""

    def variance(self, frequency: Floats | float) -> Floats:
        """Return the variance of estimates at given frequencies."""


@dataclass(frozen=True)
class Beliefs:
    """Posterior beliefs about frequencies: a row per beginning; column 0 is f = 0, then the grid.

    Attributes:
        grid: the positive frequencies, rising to 1.
        chances: rows that sum to 1.
    """

    grid: Floats
    chances: Floats

    @classmethod
    def first(cls, noise: float) -> Beliefs:
        """Return the belief before any level: everybody's string begins with nothing."""
        grid = np.geomspace(min(0.5 * noise, 0.5), 1.0, _ATOMS)
        chances = np.zeros((1, _ATOMS + 1))
        chances[0, -1] = 1.0
        return cls(grid, chances)

    @cached_property
    def _extended(self) -> Floats:
        """For each beginning the chances of an extension that goes on, along the grid."""
        atoms = self.grid.size
        # With probability 1/2 the whole frequency of the parent, else any atom up to it, uniformly.
        spread = np.tril(np.ones((atoms, atoms))) / np.arange(1, atoms + 1)[:, None]
        return np.asarray(self.chances[:, 1:] @ (0.5 * np.eye(atoms) + 0.5 * spread))

    def update(
        self, parents: Places, extensions: Places, estimates: Floats, table: Noisy
    ) -> tuple[Floats, Beliefs]:
        """Return the log odds of extensions, and the beliefs about them afterwards.

        Args:
            parents: for each extension the row of what it extends.
            extensions: how many extensions that row has; one that has a single one is the same
                string still, and keeps its frequency.
            estimates: of the extensions, from the level's reports.
            table: the level's.
        """
        single = (extensions == 1)[:, None]
        share = np.minimum(1.0, _EXPECTED / extensions)[:, None]
        before = np.where(single, self.chances[parents, 1:], self._extended[parents] * share)
        with np.errstate(divide="ignore"):
            # Bayes: prior times likelihood, in logarithms, relative to the likelihood of f = 0.
            joint = np.log(before) + self._likelihoods(estimates, table)
        top = joint.max(axis=1, keepdims=True)
        positive = np.exp(joint - top)
        some = np.log(positive.sum(axis=1)) + top[:, 0]
        none = np.log(np.maximum(1 - before.sum(axis=1), _TINY))
        # ln P(f > 0 | e) - ln P(f = 0 | e), and P(f > 0) is its logistic function.
        odds = some - none
        real = 1 / (1 + np.exp(np.clip(-odds, -700, 700)))
        chances = np.empty((len(odds), self.grid.size + 1))
        chances[:, 0] = 1 - real
        chances[:, 1:] = positive / positive.sum(axis=1, keepdims=True) * real[:, None]
        return odds, Beliefs(self.grid, chances)

    def _likelihoods(self, estimates: Floats, table: Noisy) -> Floats:
        """Return the log likelihood of each frequency of the grid, less that of 0."""
        spread, noise = table.variance(self.grid), table.noise**2
        e = estimates[:, None]
        # ln N(e; f, spread) - ln N(e; 0, noise).
        above: Floats = -((e - self.grid) ** 2) / (2 * spread) - 0.5 * np.log(spread / noise)
        return above + e**2 / (2 * noise)

    def rows(self, kept: Places) -> Beliefs:
        """Return the beliefs of some of the beginnings."""
        return Beliefs(self.grid, self.chances[kept])
