"""The exact probabilities of encoders that send a symbol, whatever the size of the alphabet.

Model: the public items of a report, which do not depend on the answer (cohort, seed, row,
coefficient), are drawn first and kept fixed. After them come coins and uniform draws, and every
outcome of those gives another record. So a record that a path of coins of probability w reaches
with uniform draws of n outcomes in all has probability w / n: its *level*. No two answers differ by
more than the largest level over the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import prod

from deniable.audit.exact.tracing import Partly
from deniable.audit.reading import PUBLIC
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws
from deniable.errors import InvalidParameter
from deniable.privacy import enumerate_outputs
from deniable.protocol import Answer, Field, PrefixesParameters

LOOKS = 256
"""The number of outcomes of uniform draws that are looked at, at both ends and spread between."""

Path = tuple[tuple[bool, ...], bytes, tuple[int, ...]]


@dataclass(frozen=True)
class Stage:
    """The stages of an encoder that are enumerated; the others keep their input."""

    permanent: bool = True
    fresh: bool = True


class Keeps:
    """Draws that change nothing: every coin is heads."""

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True."""
        return True

    def below(self, bound: int) -> int:
        """Return the first outcome."""
        return 0


def public_items(field: Field) -> list[str]:
    """Return the names of a record's items that do not depend on the answer."""
    known = {*PUBLIC, "group"}
    return [item.name for item in field.parameters.layout.items if item.name in known]


def public_choices(field: Field) -> list[list[int]]:
    """Return the outcomes of the public draws that are looked at; with groups, one in each."""
    parameters = field.parameters
    if isinstance(parameters, PrefixesParameters):
        firsts = [0, *accumulate(parameters.weights)][:-1]
        return [[first, group % 2] for group, first in enumerate(firsts)]
    count = len(public_items(field))
    return [[0] * count, [1] * count]


def levels_of(
    field: Field, answer: Answer, public: Sequence[int], stage: Stage
) -> dict[tuple[bool, ...], Fraction]:
    """Return the probability of a record, given its public items, by the coins that lead to it.

    Raises:
        InvalidParameter: if two outcomes give one record, or a public item is not sent as drawn.
    """
    levels: dict[tuple[bool, ...], Fraction] = {}
    records: dict[bytes, tuple[tuple[bool, ...], int]] = {}
    widest = 1
    for look in range(LOOKS):
        if look >= widest:
            break  # every outcome was seen
        for (coins, record, bounds), weight in _paths(field, answer, public, stage, look).items():
            outcomes = prod(bounds)
            widest = max(widest, outcomes)
            levels[coins] = weight / outcomes
            here = (coins, place_of(look, outcomes))
            if records.setdefault(record, here) != here:
                raise InvalidParameter("Two outcomes of the draws give one record.")
    return levels


def _paths(
    field: Field, answer: Answer, public: Sequence[int], stage: Stage, look: int
) -> dict[Path, Fraction]:
    def run(draws: Draws) -> Path:
        partly = Partly(draws, public, lambda bound: place_of(look, bound))
        permanent: Draws = partly if stage.permanent else Keeps()
        fresh: Draws = partly if stage.fresh else Keeps()
        record = encode_drawn(field, answer, partly, permanent, fresh)
        _check_public(field, record, partly.shown)
        return tuple(partly.tossed), record, tuple(partly.bounds)

    return enumerate_outputs(run)


def place_of(look: int, bound: int) -> int:
    """Return the outcome of a look: half of them from the ends, half spread over all."""
    if bound <= LOOKS:
        return look % bound
    quarter = LOOKS // 4
    if look < quarter:
        return look
    if look < 2 * quarter:
        return bound - 1 - (look - quarter)
    return quarter + (bound - 2 * quarter) * (look - 2 * quarter) // (2 * quarter)


def _check_public(field: Field, record: bytes, shown: Sequence[int]) -> None:
    values, sent = field.parameters.layout.unpack(record), list(shown)
    if isinstance(field.parameters, PrefixesParameters):
        sent[0] = field.parameters.group_of(sent[0])
    if [values[name] for name in public_items(field)] != sent:
        raise InvalidParameter("A public item of the record is not what was drawn.")


def worst_level(levels: dict[tuple[bool, ...], Fraction]) -> Fraction:
    """Return the largest level over the smallest."""
    return max(levels.values()) / min(levels.values())


def chained(one: Sequence[Fraction], two: Sequence[Fraction], symbols: int) -> Fraction:
    """Return the worst ratio of two stages one after the other, each (keep, one other symbol).

    keep = k1 k2 + (n - 1) m1 m2 and move = k1 m2 + m1 k2 + (n - 2) m1 m2.
    """
    # docs/mathematics.md, section 6: chains of k-RR.
    (k1, m1), (k2, m2) = one, two
    keep = k1 * k2 + (symbols - 1) * m1 * m2
    move = k1 * m2 + m1 * k2 + (symbols - 2) * m1 * m2
    return max(keep / move, move / keep)
