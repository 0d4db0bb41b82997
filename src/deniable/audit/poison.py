"""Poisoning: reports that nobody drew, made to support one answer as much as a report can.

Model: the attacker runs fake clients, who may send any record that the collector admits. The record
that supports the target most is known: the target's own symbol, a point of its hyperplane, a
subset with it, the sign of its coefficient, or exactly its bits. What the server sees beside that
(cohort, seed, coefficient) is drawn as honest clients draw it.
"""

from __future__ import annotations

import numpy as np

from deniable.audit.reading import held_bits
from deniable.client.encoders.unary import pack_bits
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Answer,
    HadamardParameters,
    HCMSParameters,
    KRRParameters,
    NGramsParameters,
    OLHParameters,
    ORRParameters,
    Parameters,
    PGRParameters,
    PrefixesParameters,
    SubsetParameters,
)
from deniable.protocol.hadamard import sign_of
from deniable.protocol.olh import symbol_of
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.projective import inside_point, vector_of
from deniable.protocol.unary import UnaryParameters

Items = dict[str, int | bytes]


def crafted(
    parameters: Parameters,
    target: Answer,
    count: int,
    rng: np.random.Generator,
    *,
    hidden: bool = False,
) -> bytes:
    """Return so many records, one after the other, each supporting the target most.

    Guarantees: the collector admits each of them.

    Args:
        parameters: of the mechanism.
        target: the answer to be pushed.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        hidden: of mechanisms with bits, draw the other bits as honest clients do, so that the
            number of ones gives nobody away; it gains less where strings are fitted together.

    Raises:
        InvalidParameter: if there is no attack on the mechanism yet.
        InvalidReport: if the collector would refuse a record.
    """
    records = [_record(parameters, target, rng, hidden) for _ in range(count)]
    for record in records:
        parameters.check_record(record)
    return b"".join(records)


def _record(
    parameters: Parameters, target: Answer, rng: np.random.Generator, hidden: bool
) -> bytes:
    if isinstance(parameters, NGramsParameters):
        items = _parts(parameters, target, rng, hidden)
    elif isinstance(parameters, UnaryParameters):
        items = _bits(parameters, target, rng, hidden)
    elif isinstance(parameters, SubsetParameters):
        others = rng.choice(parameters.categories - 1, size=parameters.size - 1, replace=False)
        members = {int(i) + (int(i) >= target.code) for i in others} | {target.code}
        shown = (i in members for i in range(parameters.categories))
        items = {"bits": pack_bits(shown, parameters.categories)}
    elif isinstance(parameters, HadamardParameters | HCMSParameters):
        items = _sign(parameters, target, rng)
    else:
        items = _symbol(parameters, target, rng)
    return parameters.layout.pack(items)


def _bits(
    parameters: UnaryParameters, target: Answer, rng: np.random.Generator, hidden: bool
) -> Items:
    cohort = int(rng.integers(0, cohorts_of(parameters)))
    held = held_bits(parameters, target, cohort)
    noise = rng.random(parameters.bits) < float(parameters.p_star) * hidden
    shown = (bool(noise[i]) or i in held for i in range(parameters.bits))
    return {"cohort": cohort, "bits": pack_bits(shown, parameters.bits)}


def _parts(
    parameters: NGramsParameters, target: Answer, rng: np.random.Generator, hidden: bool
) -> Items:
    """Return the whole string and its n-grams at places that are drawn, in one cohort."""
    choice = int(rng.integers(0, parameters.choices))
    cohort = int(rng.integers(0, parameters.cohorts))
    items: Items = {"places": choice, "cohort": cohort}
    for i, part in enumerate(parameters.parts(target, parameters.chosen[choice])):
        shape = parameters.gram if i else parameters.whole
        held = held_bits(shape, part, cohort)
        noise = rng.random(shape.bits) < float(shape.p_star) * hidden
        shown = (bool(noise[bit]) or bit in held for bit in range(shape.bits))
        items[f"bits_{i}"] = pack_bits(shown, shape.bits)
    return items


def _sign(
    parameters: HadamardParameters | HCMSParameters, target: Answer, rng: np.random.Generator
) -> Items:
    if isinstance(parameters, HadamardParameters):
        coefficient = int(rng.integers(0, parameters.size))
        return {"coefficient": coefficient, "sign": sign_of(coefficient, target.code)}
    row, coefficient = int(rng.integers(0, parameters.rows)), int(rng.integers(0, parameters.width))
    sign = sign_of(coefficient, parameters.bucket(target, row))
    return {"row": row, "coefficient": coefficient, "sign": sign}


def _symbol(parameters: Parameters, target: Answer, rng: np.random.Generator) -> Items:
    if isinstance(parameters, KRRParameters):
        return {"symbol": target.code}
    if isinstance(parameters, OLHParameters):
        seed = int(rng.integers(0, parameters.seeds))
        return {"seed": seed, "symbol": symbol_of(target.words, seed, parameters.symbols)}
    if isinstance(parameters, PrefixesParameters):
        # Only the verification group decides the share of a whole string.
        group, number = parameters.verification, int(rng.integers(0, parameters.cohorts))
        own = vector_of(
            parameters.point(target, group, number), parameters.prime, parameters.dimension
        )
        choice = int(rng.integers(0, parameters.oracle.inner))
        point = inside_point(own, choice, parameters.prime)
        return {"group": group, "cohort": number, "point": point}
    cohort = int(rng.integers(0, cohorts_of(parameters)))
    if isinstance(parameters, ORRParameters):
        return {"cohort": cohort, "symbol": parameters.symbol(target, cohort)}
    if isinstance(parameters, PGRParameters):
        own = vector_of(parameters.point(target, cohort), parameters.prime, parameters.dimension)
        choice = int(rng.integers(0, parameters.inner))
        return {"cohort": cohort, "point": inside_point(own, choice, parameters.prime)}
    raise InvalidParameter(f"There is no attack on '{parameters.mechanism}' yet.")
