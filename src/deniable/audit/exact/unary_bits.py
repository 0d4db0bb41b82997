"""The exact law of every bit of a unary encoder, read off the encoder itself at full size.

Model: a report of k bits is a function of its coins. The encoder is run on random outcomes of all
coins, and each bit's and each threshold's history over the runs is compared with the coins': a bit
that always equals one coin is decided by that coin, and a threshold that always follows one coin
of the permanent stage depends on that one. Two of n coins have the same history of 64 runs by
chance with probability below n^2 / 2^65. If every bit has coins of its own, bits are independent,

    P(bit = 1) = a t_1 + (1 - a) t_0

with a the permanent coin's probability and t the fresh coin's given it, and the worst ratio of two
reports is the product over the bits in which two answers can differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product, repeat

import numpy as np
from numpy.typing import NDArray

from deniable.audit.exact.tracing import Scripted
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, RapporParameters
from deniable.protocol.thresholds import as_fraction
from deniable.protocol.unary import UnaryParameters

RUNS = 64


@dataclass(frozen=True)
class BitLaw:
    """The probabilities of one bit.

    Attributes:
        permanent: P(the permanent bit is 1); None where the fresh coin depends on none.
        chance: P(the reported bit is 1).
    """

    permanent: Fraction | None
    chance: Fraction


def read_bits(field: Field, answer: Answer, cohort: int, rng: np.random.Generator) -> list[BitLaw]:
    """Return the law of every bit of the reports of an answer.

    Cost: 64 runs of the encoder.

    Raises:
        InvalidParameter: if bits share a coin, or one is not decided by coins of its own.
    """
    parameters = field.parameters
    if not isinstance(parameters, UnaryParameters):
        raise InvalidParameter(f"{parameters.mechanism} does not report a bit per place.")
    runs = [_run(field, answer, cohort, parameters.bits, rng) for _ in range(RUNS)]
    bits = np.array([run.bits for run in runs])
    fresh = _owners(bits, table_of([run.fresh for run in runs]), "bit")
    permanent = histories(table_of([run.permanent for run in runs]))
    laws, used = [], set[int]()
    for place in fresh:
        asked = [run.fresh.asked[place] for run in runs]
        laws.append(_law(asked, permanent, runs[0].permanent.asked, used))
    return laws


@dataclass(frozen=True)
class _Run:
    bits: NDArray[np.bool_]
    permanent: Scripted
    fresh: Scripted


def _run(field: Field, answer: Answer, cohort: int, bits: int, rng: np.random.Generator) -> _Run:
    def script() -> Scripted:
        outcomes = rng.integers(0, 2, size=2 * bits).astype(bool).tolist()
        return Scripted(chain(outcomes, repeat(False)))

    permanent, fresh = script(), script()
    record = encode_drawn(field, answer, Scripted(repeat(False), [cohort]), permanent, fresh)
    packed = field.parameters.layout.unpack(record)["bits"]
    sent = np.unpackbits(
        np.frombuffer(packed if isinstance(packed, bytes) else b"", dtype=np.uint8),
        count=bits,
        bitorder="little",
    )
    return _Run(sent.astype(bool), permanent, fresh)


def table_of(scripts: Sequence[Scripted]) -> NDArray[np.bool_]:
    """Return the outcomes of all coins, a row per run."""
    if len({len(script.tossed) for script in scripts}) > 1:
        raise InvalidParameter("How many coins an encoder tosses depends on their outcomes.")
    return np.array([script.tossed for script in scripts], dtype=bool)


def histories(tossed: NDArray[np.bool_]) -> dict[bytes, int]:
    """Return the place of each coin by its history; coins that cannot vary are left out."""
    varying = {column.tobytes(): i for i, column in enumerate(np.packbits(tossed, axis=0).T)}
    return {
        history: i for history, i in varying.items() if 0 < int(tossed[:, i].sum()) < len(tossed)
    }


def _owners(shown: NDArray[np.bool_], tossed: NDArray[np.bool_], what: str) -> list[int]:
    """Return the place of the coin that each column equals, all of them different."""
    known = histories(tossed)
    owners = [known.get(column.tobytes(), -1) for column in np.packbits(shown, axis=0).T]
    if -1 in owners:
        raise InvalidParameter(f"No single coin decides {what} {owners.index(-1)} of a report.")
    if len(set(owners)) < len(owners):
        raise InvalidParameter(f"One coin decides more than one {what} of a report.")
    return owners


def _law(
    asked: Sequence[int], permanent: dict[bytes, int], first: Sequence[int], used: set[int]
) -> BitLaw:
    """Return the law of a bit whose fresh coin was asked for these thresholds."""
    levels = sorted(set(asked))
    if len(levels) == 1:
        return BitLaw(None, as_fraction(levels[0]))
    rising = np.packbits(np.array([[t == levels[-1]] for t in asked]), axis=0).tobytes()
    place = permanent.get(rising, -1)
    if len(levels) > 2 or place in used or place < 0:
        raise InvalidParameter("A fresh coin depends on more than one permanent coin of its own.")
    used.add(place)
    kept = as_fraction(first[place])
    low, high = as_fraction(levels[0]), as_fraction(levels[1])
    return BitLaw(kept, kept * high + (1 - kept) * low)


def most_held(parameters: UnaryParameters) -> int:
    """Return the largest number of bits that an answer sets."""
    if isinstance(parameters, RapporParameters) and parameters.form != "basic":
        return parameters.hashes
    return parameters.members or 1


def worst_of(chances: Sequence[Fraction], parameters: UnaryParameters) -> Fraction | None:
    """Return the worst ratio of two answers, given the probabilities that bits can have.

    Bits that an answer sets have one probability, all others the other. Two answers differ in up
    to a bits one way and b the other, with a and b at most `most_held` and together at most k.

    Raises:
        InvalidParameter: if there are more than two probabilities.
    """
    levels = sorted(set(chances))
    if len(levels) > 2:
        raise InvalidParameter("The bits of a report have more than two probabilities.")
    low, high = levels[0], levels[-1]
    if low == 0 or high == 1:
        return None if low != high else Fraction(1)
    # A bit that only one answer sets has the ratio `up` at 1; one of the other's has `down` at 0
    # (docs/mathematics.md, section 1).
    up, down = high / low, (1 - low) / (1 - high)
    most = most_held(parameters)
    pairs = product(range(most + 1), repeat=2)
    ratios = [max(up**a * down**b, up**b * down**a) for a, b in pairs if a + b <= parameters.bits]
    return max(ratios)
