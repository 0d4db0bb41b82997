"""The exact worst ratio of reports about profiles that are a row of bits, read off the encoder.

Model: each bit is a coin of its own, or its opposite, so that bits are independent given the public
part of the report. The encoder is run on random outcomes of all coins, and each bit's history is
compared with the coins', as in `unary_bits`; for further profiles a few runs show that the same
coin decides the same bit. Two shapes occur. With a bit per cell one bit is the profile's own and
has another probability than all others: two profiles differ in two bits. With a coin per bit of the
code every bit has one of two probabilities: two profiles can differ in all bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, repeat
from math import prod

import numpy as np
from numpy.typing import NDArray

from deniable.audit.exact.tracing import Scripted
from deniable.audit.exact.unary_bits import RUNS, histories, table_of
from deniable.audit.profile_reading import Public, room, shown_by
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, InpEMParameters, ProfileParameters
from deniable.protocol.thresholds import as_fraction

FEWER_RUNS = 8
MOST_BITS = 4_096
"""Reports with more bits are read for two profiles only."""

Bools = NDArray[np.bool_]
Owner = tuple[int, bool]
"""The place of the coin that decides a bit, and True if the bit is its opposite."""


def row_of_bits(
    field: Field, answers: Sequence[Answer], public: Public, rng: np.random.Generator
) -> Fraction:
    """Return the worst ratio of two profiles, given the public part of a report.

    Cost: 64 runs of the encoder, and eight for each further profile.

    Raises:
        InvalidParameter: if bits share a coin, or one is not decided by a coin of its own.
    """
    parameters = field.parameters
    if not isinstance(parameters, ProfileParameters):
        raise InvalidParameter(f"{parameters.mechanism} does not report profiles.")
    count = room(parameters, public)
    owners: list[Owner] = []
    laws: list[list[Fraction]] = []
    for answer in answers[:2] if count > MOST_BITS else answers:
        runs = [
            _run(field, parameters, answer, public, rng)
            for _ in range(FEWER_RUNS if owners else RUNS)
        ]
        bits = np.array([sent for sent, _ in runs])
        tossed = table_of([draws for _, draws in runs])
        owners = owners or owners_of(bits, tossed)
        laws.append(law_of(bits, tossed, owners, runs[0][1].asked))
    return _every_bit(laws) if isinstance(parameters, InpEMParameters) else _own_bit(laws)


def _run(
    field: Field,
    parameters: ProfileParameters,
    answer: Answer,
    public: Public,
    rng: np.random.Generator,
) -> tuple[Bools, Scripted]:
    count = room(parameters, public)
    outcomes = rng.integers(0, 2, size=count).astype(bool).tolist()
    fresh = Scripted(chain(outcomes, repeat(False)), public)
    nothing = Scripted(repeat(False))
    record = encode_drawn(field, answer, nothing, nothing, fresh)
    parameters.check_record(record)
    unpacked = parameters.layout.unpack(record)
    if shown_by(parameters, unpacked)[0] != public or len(fresh.bounds) != len(public):
        raise InvalidParameter("What a report is about is not what was drawn.")
    packed = unpacked["bits"]
    raw = np.frombuffer(packed if isinstance(packed, bytes) else b"", dtype=np.uint8)
    return np.unpackbits(raw, count=count, bitorder="little").astype(bool), fresh


def owners_of(bits: Bools, tossed: Bools) -> list[Owner]:
    """Return the coin that each bit equals, or is the opposite of; all of them different."""
    equal, opposite = histories(tossed), histories(~tossed)
    owners: list[Owner] = []
    for place, column in enumerate(np.packbits(bits, axis=0).T):
        history = column.tobytes()
        if history not in equal and history not in opposite:
            raise InvalidParameter(f"No single coin decides bit {place} of a report.")
        owners.append((equal[history], False) if history in equal else (opposite[history], True))
    if len({coin for coin, _ in owners}) < len(owners):
        raise InvalidParameter("One coin decides more than one bit of a report.")
    return owners


def law_of(
    bits: Bools, tossed: Bools, owners: Sequence[Owner], asked: Sequence[int]
) -> list[Fraction]:
    """Return P(bit is 1) of every bit, after checking that the same coins decide the bits."""
    law = []
    for place, (coin, _) in enumerate(owners):
        turned = bits[:, place] != tossed[:, coin]
        if turned.any() != turned.all():
            raise InvalidParameter(f"Another coin decides bit {place} for another profile.")
        heads = as_fraction(asked[coin])
        law.append(1 - heads if turned[0] else heads)
    return law


def _own_bit(laws: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the worst ratio where one bit of each profile differs from all others."""
    levels = sorted({chance for law in laws for chance in law})
    if len(levels) != 2 or any(list(law).count(levels[1]) != 1 for law in laws):
        raise InvalidParameter("A profile must have one bit of its own, and all others alike.")
    zero, one = levels
    if zero == 0 or one == 1:
        raise InvalidParameter("A bit is certain: some report can come from one profile only.")
    # Two profiles differ in two bits: the one's own bit at 1, and the other's own bit at 0.
    return one / zero * ((1 - zero) / (1 - one))


def _every_bit(laws: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the worst ratio where two profiles may differ in every bit."""
    ratios = []
    for chances in zip(*laws, strict=True):
        low, high = min(chances), max(chances)
        if low == 0 or high == 1:
            raise InvalidParameter("A bit is certain: some report can come from one profile only.")
        ratios.append(max(high / low, (1 - low) / (1 - high)))
    return prod(ratios, start=Fraction(1))
