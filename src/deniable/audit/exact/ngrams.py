"""The exact worst ratio of reports of n-grams: a row of bits for each part, read off the encoder.

Model: places and cohort are drawn without regard to the string, and sent in clear. After them every
bit of every part has a coin of its own, so that bits are independent; in each part a string sets at
most h bits, and ratios multiply over the bits and over the r + 1 parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, repeat

import numpy as np

from deniable.audit.exact.profile_bits import Bools, Owner, law_of, owners_of
from deniable.audit.exact.tracing import Scripted
from deniable.audit.exact.unary_bits import RUNS, table_of, worst_of
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field, NGramsParameters

FEWER_RUNS = 8


def ngrams_ratio(
    field: Field, parameters: NGramsParameters, answers: Sequence[Answer], rng: np.random.Generator
) -> tuple[Fraction | None, str]:
    """Return the worst ratio of two strings, and the argument; None if it is infinite.

    Cost: 64 runs of the encoder for the first string and places, eight for each further one.

    Raises:
        InvalidParameter: if bits share a coin, or one is not decided by a coin of its own.
    """
    parts = parameters.grams + 1
    chances: list[set[Fraction]] = [set() for _ in range(parts)]
    owners: list[Owner] = []
    last = (parameters.choices - 1, parameters.cohorts - 1)
    for public in dict.fromkeys(((0, 0), last)):
        for answer in answers:
            number = FEWER_RUNS if owners else RUNS
            runs = [_run(field, parameters, answer, public, rng) for _ in range(number)]
            bits = np.array([sent for sent, _ in runs])
            tossed = table_of([draws for _, draws in runs])
            owners = owners or owners_of(bits, tossed)
            law = law_of(bits, tossed, owners, runs[0][1].asked)
            for part in range(parts):
                own = law[part * parameters.bits : (part + 1) * parameters.bits]
                if len(set(own)) > 1 and own.count(max(own)) > parameters.hashes:
                    raise InvalidParameter("An answer sets more bits than its form allows.")
                chances[part].update(own)
    worst = Fraction(1)
    for part, found in enumerate(chances):
        ratio = worst_of(list(found), parameters.gram if part else parameters.whole)
        if ratio is None:
            return None, "none"
        worst *= ratio
    argument = (
        f"per bit, given the places and the cohort: each of {parameters.bits:,} bits of "
        f"{parts} parts has a coin of its own, so that ratios multiply over bits and parts"
    )
    return worst, argument


def _run(
    field: Field,
    parameters: NGramsParameters,
    answer: Answer,
    public: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Bools, Scripted]:
    count = parameters.bits * (parameters.grams + 1)
    fresh = Scripted(chain(rng.integers(0, 2, size=count).astype(bool).tolist(), repeat(False)))
    drawn = Scripted(repeat(False), public)
    record = encode_drawn(field, answer, drawn, Scripted(repeat(False)), fresh)
    parameters.check_record(record)
    sent = parameters.layout.unpack(record)
    if (sent["places"], sent["cohort"]) != public or fresh.bounds:
        raise InvalidParameter("A public item of the record is not what was drawn.")
    rows = [sent[f"bits_{part}"] for part in range(parameters.grams + 1)]
    unpacked = [
        np.unpackbits(
            np.frombuffer(row if isinstance(row, bytes) else b"", dtype=np.uint8),
            count=parameters.bits,
            bitorder="little",
        )
        for row in rows
    ]
    return np.concatenate(unpacked).astype(bool), fresh
