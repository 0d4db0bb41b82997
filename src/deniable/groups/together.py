"""The estimates of several groups of reports, and how much of their error they share.

Model: one report has the noise covariance `noise`, given its sender's answer, and the sample's
`sample` = diag(f) - f f'. Of the noise a share `lasting` is kept by the device. A group of n_t
reports has

    Var(f_t) = (noise + sample) / n_t
    Cov(f_s, f_t) = (lasting noise + sample) o_st / (n_s n_t)

with o_st people in both, at most min(n_s, n_t), if people who are in both have not changed their
answer. Differences have the largest variance where nobody is in both, as long as a person's answers
at two times are not negatively related.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats

_RANK = 1e-9
"""Eigenvalues below this share of the largest are none."""


@dataclass(frozen=True)
class Groups:
    """Shares of the same answers in several groups.

    Attributes:
        labels: the answers.
        times: the number of each group's epoch; all alike where groups are not epochs.
        sizes: the number of reports of each group.
        shares: a row per group, a column per answer; NaN where nothing is known.
        variance: of every share, of the population, a row per group.
        lasting: the least and the largest share of the noise that devices keep.
        pooled: the shares of all groups together.
        noise: the noise covariance of one report, at the pooled shares; None where answers have
            to be tested one by one.
        factors: of each group, by how much its noise and its sample count more than once, where
            the same people report in several epochs of it.
        supported: the share of reports that support each answer, at the pooled shares; None where
            reports are not counted by answer.
        precision: where groups mix levels or versions: 1 over the variance of every share, at the
            shares of all groups together, a row per group.
        repeated: there, the part of each answer's variance that the same people repeat.
        covariances: there, of every group's shares; empty where answers were pooled one by one.
    """

    labels: tuple[str, ...]
    times: tuple[int, ...]
    sizes: Floats
    shares: Floats
    variance: Floats
    lasting: tuple[float, float]
    pooled: Floats
    noise: Floats | None = None
    factors: Sequence[tuple[float, float]] = ()
    supported: Floats | None = None
    precision: Floats | None = None
    repeated: Floats | None = None
    covariances: Sequence[Floats] = ()

    @property
    def sample(self) -> Floats:
        """The covariance of one person's answer, at the pooled shares."""
        f = np.clip(np.nan_to_num(self.pooled), 0.0, 1.0)
        return np.asarray(np.diag(f) - np.outer(f, f))

    def one_report(self, lasting: float) -> tuple[Floats, Floats]:
        """Return the fresh and the repeated part of the variance of one report, by answer.

        Args:
            lasting: the share of the noise that is repeated.
        """
        held, f = (np.clip(np.nan_to_num(x), 0.0, 1.0) for x in (self.shares, self.pooled))
        # Of every epoch the noise alone: its own share differs from that of all epochs by chance,
        # and the sample's part must not, where it is to cancel.
        alone = self.variance * self.sizes[:, None] - held * (1 - held)
        noise = np.maximum(np.nanmean(alone, axis=0), 1e-12)
        return (1 - lasting) * noise, lasting * noise + f * (1 - f)

    @property
    def kept(self) -> Floats:
        """The part of each answer's variance that the same people repeat, from 0 to 1."""
        if self.repeated is not None:
            return self.repeated
        fresh, repeated = self.one_report(self.lasting[1])
        return np.asarray(repeated / np.maximum(fresh + repeated, 1e-300))

    def overlap(self, back: float, n: Floats) -> Floats:
        """Return o_st / sqrt(n_s n_t) for s != t, 0 on the diagonal.

        Args:
            back: the share of people who come back from one epoch to the next.
            n: the reports of each epoch.
        """
        when = np.array(self.times, dtype=float)
        lag = np.abs(when[:, None] - when[None, :])
        shared = np.minimum(n[:, None], n[None, :]) / np.sqrt(np.outer(n, n)) * back**lag
        np.fill_diagonal(shared, 0.0)
        return np.asarray(shared)


def whitened(total: Floats, shared: Floats) -> tuple[Floats, Floats]:
    """Return directions in which a covariance is the identity and its shared part is diagonal.

    Returns:
        A matrix with a row per direction, W total W' = I, and the diagonal of W shared W', each
        from 0 to 1.
    """
    value, vector = np.linalg.eigh(total)
    kept = value > _RANK * max(float(value[-1]), 1e-300)
    root = (vector[:, kept] / np.sqrt(value[kept])).T
    share, turn = np.linalg.eigh(root @ shared @ root.T)
    return turn.T @ root, np.clip(share, 0.0, 1.0)


def without_mean(matrix: Floats, weights: Floats) -> NDArray[np.float64]:
    """Return the eigenvalues of a matrix on the space across the square roots of the weights."""
    root = np.sqrt(weights / weights.sum())
    across = np.eye(root.size) - np.outer(root, root)
    return np.asarray(np.linalg.eigvalsh(across @ matrix @ across + np.outer(root, root) * 1e6))[
        :-1
    ]
