"""Crafted reports: records that support one answer as much, or as little, as a record can.

Model: the attacker runs fake clients, who may send any record that the collector admits. The record
that supports the target most is known: the target's own symbol, a point of its hyperplane, a
subset with it, the sign of its coefficient, or exactly its bits. The record that takes the most
away is any other symbol, point or subset, the other sign, or all bits but its own. The public items
beside that (cohort, seed, coefficient) are drawn as honest clients draw them.
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
from deniable.protocol.projective import inside_point, outside_point, vector_of
from deniable.protocol.unary import UnaryParameters

Items = dict[str, int | bytes]


def crafted(
    parameters: Parameters,
    target: Answer,
    count: int,
    rng: np.random.Generator,
    *,
    hidden: bool = False,
    down: bool = False,
) -> bytes:
    """Return `count` crafted records, one after the other, each supporting the target most.

    Guarantees: the collector admits each of them.

    Args:
        parameters: of the mechanism.
        target: the answer to be pushed.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        hidden: with bits, draw the other bits as honest clients do, so that the number of ones
            gives nobody away; it gains less where strings are fitted together.
        down: support the target least instead.

    Raises:
        InvalidParameter: if there is no attack on the mechanism yet.
        InvalidReport: if the collector would refuse a record.
    """
    records = [_record(parameters, target, rng, hidden, down) for _ in range(count)]
    for record in records:
        parameters.check_record(record)
    return b"".join(records)


def _record(
    parameters: Parameters, target: Answer, rng: np.random.Generator, hidden: bool, down: bool
) -> bytes:
    if isinstance(parameters, NGramsParameters):
        items = _parts(parameters, target, rng, hidden, down)
    elif isinstance(parameters, UnaryParameters):
        items = _bits(parameters, target, rng, hidden, down)
    elif isinstance(parameters, SubsetParameters):
        free = parameters.size - (not down)
        others = rng.choice(parameters.categories - 1, size=free, replace=False)
        members = {int(i) + (int(i) >= target.code) for i in others}
        members |= set() if down else {target.code}
        shown = (i in members for i in range(parameters.categories))
        items = {"bits": pack_bits(shown, parameters.categories)}
    elif isinstance(parameters, HadamardParameters | HCMSParameters):
        items = _sign(parameters, target, rng, down)
    else:
        items = _symbol(parameters, target, rng, down)
    return parameters.layout.pack(items)


def _bits(
    parameters: UnaryParameters,
    target: Answer,
    rng: np.random.Generator,
    hidden: bool,
    down: bool,
) -> Items:
    cohort = int(rng.integers(0, cohorts_of(parameters)))
    held = held_bits(parameters, target, cohort)
    return {"cohort": cohort, "bits": _chosen_bits(parameters, held, rng, hidden, down)}


def _chosen_bits(
    parameters: UnaryParameters,
    held: frozenset[int],
    rng: np.random.Generator,
    hidden: bool,
    down: bool,
) -> bytes:
    """Return a filter with the target's bits as wished; the others 0 (up), 1 (down) or honest."""
    if hidden:
        others = rng.random(parameters.bits) < float(parameters.p_star)
    else:
        others = np.full(parameters.bits, down)
    shown = (not down if i in held else bool(others[i]) for i in range(parameters.bits))
    return pack_bits(shown, parameters.bits)


def _parts(
    parameters: NGramsParameters,
    target: Answer,
    rng: np.random.Generator,
    hidden: bool,
    down: bool,
) -> Items:
    """Return the whole string and its n-grams at places that are drawn, in one cohort."""
    choice = int(rng.integers(0, parameters.choices))
    cohort = int(rng.integers(0, parameters.cohorts))
    items: Items = {"places": choice, "cohort": cohort}
    for i, part in enumerate(parameters.parts(target, parameters.chosen[choice])):
        shape = parameters.gram if i else parameters.whole
        held = held_bits(shape, part, cohort)
        items[f"bits_{i}"] = _chosen_bits(shape, held, rng, hidden, down)
    return items


def _sign(
    parameters: HadamardParameters | HCMSParameters,
    target: Answer,
    rng: np.random.Generator,
    down: bool,
) -> Items:
    if isinstance(parameters, HadamardParameters):
        coefficient = int(rng.integers(0, parameters.size))
        return {"coefficient": coefficient, "sign": sign_of(coefficient, target.code) ^ down}
    row, coefficient = int(rng.integers(0, parameters.rows)), int(rng.integers(0, parameters.width))
    sign = sign_of(coefficient, parameters.bucket(target, row)) ^ down
    return {"row": row, "coefficient": coefficient, "sign": sign}


def _symbol(parameters: Parameters, target: Answer, rng: np.random.Generator, down: bool) -> Items:
    def chosen(own: int, count: int) -> int:
        return (own + int(rng.integers(1, count))) % count if down else own

    if isinstance(parameters, KRRParameters):
        return {"symbol": chosen(target.code, parameters.categories)}
    if isinstance(parameters, OLHParameters):
        seed = int(rng.integers(0, parameters.seeds))
        own = symbol_of(target.words, seed, parameters.symbols)
        return {"seed": seed, "symbol": chosen(own, parameters.symbols)}
    if isinstance(parameters, PrefixesParameters):
        # Only the verification group decides the share of a whole string.
        group, number = parameters.verification, int(rng.integers(0, parameters.cohorts))
        own = parameters.point(target, group, number)
        return {
            "group": group,
            "cohort": number,
            "point": _point(parameters.oracle, own, rng, down),
        }
    cohort = int(rng.integers(0, cohorts_of(parameters)))
    if isinstance(parameters, ORRParameters):
        own = parameters.symbol(target, cohort)
        return {"cohort": cohort, "symbol": chosen(own, parameters.symbols)}
    if isinstance(parameters, PGRParameters):
        own = parameters.point(target, cohort)
        return {"cohort": cohort, "point": _point(parameters, own, rng, down)}
    raise InvalidParameter(f"There is no attack on '{parameters.mechanism}' yet.")


def _point(parameters: PGRParameters, own: int, rng: np.random.Generator, down: bool) -> int:
    """Return a point of the hyperplane of one's own, or one outside of it."""
    vector = vector_of(own, parameters.prime, parameters.dimension)
    if down:
        return outside_point(vector, int(rng.integers(0, parameters.outer)), parameters.prime)
    return inside_point(vector, int(rng.integers(0, parameters.inner)), parameters.prime)
