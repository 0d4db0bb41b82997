"""Many coins at once for simulation: exact to 64 bits, about one random byte each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.protocol.thresholds import BITS, ONE

_REST = BITS - 8


def nearest_threshold(probability: Fraction) -> int:
    """Return the threshold nearest to a probability, less than 2^-64 away.

    Two chained stages have probabilities in steps of 2^-128, so that one coin in place of two is
    off by at most this rounding: no simulation can see it. Clients never use it.
    """
    return round(probability * ONE)


def coins(rng: Generator, threshold: int, count: int) -> NDArray[np.bool_]:
    """Return `count` coins, each True with probability threshold / 2^64, exactly.

    A random byte decides against the threshold's upper byte in 255 of 256 cases; only on a tie
    are the remaining 56 bits drawn. It is the lazy comparison of the client, for arrays.

    Edge cases: threshold 0 gives only False, 2^64 only True; neither draws anything.

    Cost: time linear in `count`, two bytes of memory per coin.
    """
    if threshold in (0, ONE):
        return np.full(count, threshold == ONE)
    upper, rest = divmod(threshold, 2**_REST)
    first = np.frombuffer(rng.bytes(count), dtype=np.uint8)
    result = first < np.uint8(upper)
    ties = np.flatnonzero(first == np.uint8(upper))
    result[ties] = rng.integers(0, 2**_REST, size=ties.size, dtype=np.uint64) < np.uint64(rest)
    return result


def as_generator(rng: Generator | int) -> Generator:
    """Return a generator, or one that an integer seeds: the same seed, the same reports.

    Guarantees: no device comes here: clients draw from the operating system, and whoever knows the
    seed of a simulation can take its noise off.

    Raises:
        InvalidParameter: if it is neither.
    """
    if isinstance(rng, Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    got = f"the integer {rng}" if type(rng) is int else type(rng).__name__
    raise InvalidParameter(
        "The 'rng' of a simulation must be a NumPy generator, or an integer from 0 as its seed. "
        f"Got {got}.",
        "Write for example: rng = numpy.random.default_rng(7)",
    )
