"""k-RR and k-RAPPOR with every decoder of [KBR16] section 4.4, many runs at once.

Rows are runs, columns answers. Each function is the twin of one in `decode`, for whole tables:
tests compare the two row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats
from deniable_papers.kbr16.shapes import Shape

Table = NDArray[np.int64]
_CELLS = 2**21
"""Numbers of one table that are held at once."""

KRR = ("projected", "normalised", "likely")
KRAPPOR = ("projected", "normalised", "empirical")


def krr_counts(held: Table, epsilon: float, rng: np.random.Generator) -> Table:
    """Return how often each symbol is reported through k-RR, given how many hold it.

    Model: with probability a = (E - 1)/(E + k - 1) the report is the value, else uniform over all
    k symbols: this is k-RR, and both parts can be drawn for all people at once.
    """
    k = held.shape[-1]
    kept = rng.binomial(held, np.expm1(epsilon) / (np.exp(epsilon) + k - 1))
    rest = (held - kept).sum(axis=-1)
    return np.asarray(kept + rng.multinomial(rest, np.full(k, 1 / k)), dtype=np.int64)


def krappor_counts(
    held: Table, people: Any, epsilon: float, rng: np.random.Generator, hashes: int = 1
) -> Table:
    """Return how often each bit is reported, given how many people set it.

    Model: each bit is kept with probability s/(s + 1), s = e^(epsilon / 2h), where an answer sets
    h bits; all bits of all reports are independent.
    """
    keep = 1 / (1 + np.exp(-epsilon / (2 * hashes)))
    ones = rng.binomial(held, keep) + rng.binomial(people - held, 1 - keep)
    return np.asarray(ones, dtype=np.int64)


def krr_empirical(counts: Table, epsilon: float) -> Floats:
    """Return the unbiased frequencies, [KBR16] equation 6."""
    k, share = counts.shape[1], counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(((np.exp(epsilon) + k - 1) * share - 1) / np.expm1(epsilon))


def krappor_empirical(counts: Table, people: int, epsilon: float) -> Floats:
    """Return the unbiased frequencies, [KBR16] equation 11."""
    s = np.exp(epsilon / 2)
    return np.asarray(((s + 1) * counts / people - 1) / (s - 1))


def normalised(frequency: Floats) -> Floats:
    """Clip every row at 0 and divide it by its sum; uniform if nothing is positive."""
    clipped = np.maximum(frequency, 0.0)
    total = clipped.sum(axis=1, keepdims=True)
    uniform = np.full_like(clipped, 1 / clipped.shape[1])
    return np.asarray(np.divide(clipped, total, out=uniform, where=total > 0))


def projected(frequency: Floats) -> Floats:
    """Return the nearest distribution to every row (Wang and Carreira-Perpinan, algorithm 1)."""
    ordered = -np.sort(-frequency, axis=1)
    levels = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, ordered.shape[1] + 1)
    last = (ordered > levels).sum(axis=1) - 1
    return np.asarray(np.maximum(frequency - levels[np.arange(len(levels)), last, None], 0.0))


def krr_likely(counts: Table, epsilon: float) -> Floats:
    """Return the maximum-likelihood distribution of every row of k-RR counts.

    Model: symbol y is reported with probability r_y = q + (p - q) f_y. At the maximum r_y = c_y/mu
    for the answers with f_y > 0, and those are the most frequent ones; if they are the first j,
    sum f = 1 gives mu = (c_(1) + ... + c_(j)) / (p - q + j q), and j is the largest with
    c_(j) > mu q.
    """
    k = counts.shape[1]
    q = 1 / (np.exp(epsilon) + k - 1)
    gap = np.expm1(epsilon) * q
    ordered = -np.sort(-counts, axis=1)
    slopes = np.cumsum(ordered, axis=1) / (gap + q * np.arange(1, k + 1))
    last = (ordered > slopes * q).sum(axis=1) - 1
    slope = slopes[np.arange(len(slopes)), last, None]
    return np.asarray(np.maximum(counts / slope - q, 0.0) / gap)


@dataclass(frozen=True)
class Losses:
    """Mean loss of every decoder of both mechanisms, with its standard error.

    Attributes:
        krr: by decoder.
        krappor: by decoder.
        uniform: the mean loss of guessing the uniform distribution without any report.
    """

    krr: dict[str, tuple[float, float]]
    krappor: dict[str, tuple[float, float]]
    uniform: float


def losses(
    shape: Shape,
    answers: int,
    epsilon: float,
    people: int,
    runs: int,
    rng: np.random.Generator,
    metric: str = "l1",
) -> Losses:
    """Return the losses against the sample's own frequencies, as the paper measures them.

    The metric is "l1", or "l2" for the square of the l2 distance, as in the paper's supplement.

    Cost: linear in runs times answers, with a sort; memory of a few tables of 16 MB.
    """
    rows = max(1, _CELLS // answers)
    krr: list[Floats] = []
    krappor: list[Floats] = []
    uniform: list[float] = []
    for start in range(0, runs, rows):
        size = min(rows, runs - start)
        held = np.asarray(rng.multinomial(people, shape(answers, size, rng)), dtype=np.int64)
        truth = held / people
        uniform += list(_loss((np.full_like(truth, 1 / answers),), truth, metric)[0])
        counts = krr_counts(held, epsilon, rng)
        plain = krr_empirical(counts, epsilon)
        found = (projected(plain), normalised(plain), krr_likely(counts, epsilon))
        krr.append(_loss(found, truth, metric))
        bits = krappor_counts(held, people, epsilon, rng)
        plain = krappor_empirical(bits, people, epsilon)
        three = (projected(plain), normalised(plain), plain)
        krappor.append(_loss(three, truth, metric))
    return Losses(_summary(KRR, krr), _summary(KRAPPOR, krappor), float(np.mean(uniform)))


def _loss(found: tuple[Floats, ...], truth: Floats, metric: str) -> Floats:
    size = np.square if metric == "l2" else np.abs
    return np.array([size(one - truth).sum(axis=1) for one in found])


def _summary(names: tuple[str, ...], parts: list[Floats]) -> dict[str, tuple[float, float]]:
    table = np.concatenate(parts, axis=1)
    errors = table.std(axis=1) / np.sqrt(table.shape[1])
    return {
        name: (float(mean), float(error))
        for name, mean, error in zip(names, table.mean(axis=1), errors, strict=True)
    }


def as_good(found: dict[str, tuple[float, float]], decoder: str) -> bool:
    """Tell whether a decoder's mean loss is at most two standard errors above the least."""
    least, error = min(found.values())
    loss, own = found[decoder]
    return bool(loss - least <= 2 * np.hypot(error, own) + 1e-12)
