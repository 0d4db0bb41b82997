"""Many made-up histories at once: counts of epochs from devices that come back, stay or go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.decode.lasting import lasting_of
from deniable.groups import Groups
from deniable.mechanisms import KRR, Counts, Mechanism, Rappor
from deniable.mechanisms.base import Floats
from deniable.protocol.channel import Bits, Symbol


@dataclass(frozen=True)
class Crowd:
    """People over epochs.

    Attributes:
        mechanism: basic RAPPOR or k-RR, with or without a permanent stage.
        shares: of the answers, in every epoch a row.
        sizes: the number of devices in each epoch.
        churn: the share of devices that others replace from an epoch to the next.
    """

    mechanism: Mechanism
    shares: Floats
    sizes: Sequence[int]
    churn: float = 0.0

    def draw(self, rng: np.random.Generator) -> list[Counts]:
        """Return the counts of every epoch of one history.

        People keep their answer for ever, as far as the shares let them: a device has one uniform
        number, which the shares of each epoch make an answer of.
        """
        most = max(self.sizes)
        place, permanent = rng.random(most), self._permanent(most, rng)
        counts = []
        for epoch, size in enumerate(self.sizes):
            gone = np.flatnonzero(rng.random(most) < self.churn) if epoch else np.empty(0, int)
            place[gone] = rng.random(gone.size)
            permanent[gone] = self._permanent(gone.size, rng)
            edges = np.cumsum(self.shares[epoch])[:-1]
            answers = np.searchsorted(edges, place[:size])
            counts.append(self._counted(answers, permanent[:size], rng))
        return counts

    def _permanent(self, people: int, rng: np.random.Generator) -> Floats:
        """Return uniform numbers that decide a device's permanent stage, whatever its answer."""
        return rng.random((people, self.shares.shape[1] + 1))

    def _counted(self, answers: np.ndarray, permanent: Floats, rng: np.random.Generator) -> Counts:
        k, n = self.shares.shape[1], answers.size
        rest = self.mechanism.parameters.channel.typical
        if isinstance(rest, Bits):
            first, then = rest.two if rest.two is not None else (None, rest)
            held = answers[:, None] == np.arange(k)
            if first is not None:
                held = permanent[:, :k] < np.where(held, float(first.one), float(first.zero))
            ones = rng.random((n, k)) < np.where(held, float(then.one), float(then.zero))
            return self._stamped(n, ones.sum(axis=0))
        assert isinstance(rest, Symbol)
        first, then = rest.two if rest.two is not None else (None, rest)
        symbol = answers
        if first is not None and first.keep < 1:
            # Each answer has a permanent symbol of its own: another one for every value.
            draw = permanent[np.arange(n), symbol]
            other = (symbol + 1 + (permanent[:, k] * (k - 1)).astype(int)) % k
            symbol = np.where(draw < float(first.keep), symbol, other)
        kept = rng.random(n) < float(then.keep)
        moved = (symbol + 1 + rng.integers(0, k - 1, n)) % k
        return self._stamped(n, np.bincount(np.where(kept, symbol, moved), minlength=k))

    def _stamped(self, n: int, table: np.ndarray) -> Counts:
        return Counts(np.array([n]), table[None, :].astype(np.int64), digest=self.mechanism.digest)


def groups_of(mechanism: Mechanism, counts: Sequence[Counts]) -> Groups:
    """Return the epochs of a history as the mathematics takes them."""
    whole = counts[0]
    for one in counts[1:]:
        whole = whole.merge(one)
    found = [mechanism.estimate(one) for one in counts]
    total = mechanism.estimate(whole)
    sizes = np.array([one.n for one in counts], dtype=float)
    shares = np.array([one.frequency for one in found])
    held = np.clip(shares, 0.0, 1.0)
    variance = np.array([one.variance for one in found]) + held * (1 - held) / sizes[:, None]
    assert total.covariance is not None
    return Groups(
        total.candidates,
        tuple(range(len(counts))),
        sizes,
        shares,
        variance,
        lasting_of(mechanism.parameters).ends,
        total.frequency,
        total.n * total.covariance,
        [(1.0, 1.0)] * len(counts),
        None if total.chances is None else total.chances.supported(np.clip(total.frequency, 0, 1)),
    )


def rappor(answers: int) -> Rappor:
    """Return basic RAPPOR with the probabilities of [EPK14]."""
    return Rappor.basic(answers=answers, f=0.5, p=0.5, q=0.75)


def krr(answers: int, epsilon: float, forever: float | None = None) -> KRR:
    """Return k-RR, with a permanent stage if `forever` is given."""
    return KRR(answers, epsilon=epsilon, epsilon_forever=forever)
