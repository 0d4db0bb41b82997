"""The exact law of every bit of a report, read off the encoder itself at full size.

Model: a row of bits is a function of its coins. The encoder is run on random outcomes of all coins,
the numbers in clear chosen from outside, and each bit's and each threshold's history over the runs
is compared with the coins': a bit that always equals one fresh coin, or its opposite, is decided by
that coin, and a threshold that always follows one coin of the permanent stage depends on that one.
Two of n coins have the same history of 64 runs by chance with probability below n^2 / 2^65. If
every bit has coins of its own, bits are independent,

    P(bit = 1) = a t_1 + (1 - a) t_0

with a the permanent coin's probability and t the fresh coin's given it, and ratios multiply over
the bits in which two answers can differ, and over the rows of a report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, repeat
from math import prod

import numpy as np
from numpy.typing import NDArray

from deniable.audit.exact.declared_channel import check_bits, check_records
from deniable.audit.exact.tracing import Scripted
from deniable.audit.reading import bit_table
from deniable.client.encode import encode_drawn
from deniable.errors import InvalidParameter
from deniable.protocol import Answer, Field
from deniable.protocol.channel import Bits, Product, Public, Rest, several, unknown_kind
from deniable.protocol.epsilon import within
from deniable.protocol.thresholds import as_fraction

RUNS, FEWER_RUNS = 64, 8
"""The number of runs for the first answer, which finds every bit's coins, and for further ones."""
MANY_BITS = 1_024
"""Reports with more bits are read for two answers instead of a few: the others differ in place."""
DEPENDS = "A fresh coin depends on more than one permanent coin of its own."

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class BitLaw:
    """The probabilities of one bit.

    Attributes:
        permanent: P(the permanent bit is 1); None where the fresh coin depends on none.
        chance: P(the reported bit is 1).
    """

    permanent: Fraction | None
    chance: Fraction


@dataclass(frozen=True)
class Coins:
    """The places of the coins that decide a bit: the fresh one, and the permanent one if any."""

    fresh: int
    permanent: int | None


@dataclass(frozen=True)
class Run:
    """One run of an encoder: the bits that it sent, and its draws."""

    bits: Bools
    permanent: Scripted
    fresh: Scripted


def rows_of(field: Field, public: Public) -> tuple[Bits, ...]:
    """Return the rows of bits of a report.

    Raises:
        InvalidParameter: if the mechanism reports something else.
    """
    rest = field.parameters.channel.rest(public)
    parts: tuple[Rest, ...] = rest.parts if isinstance(rest, Product) else (rest,)
    rows = tuple(part for part in parts if isinstance(part, Bits))
    if len(rows) < len(parts):
        raise unknown_kind("proof per bit", rest)
    return rows


def bits_ratio(
    field: Field,
    answers: Sequence[Answer],
    publics: Sequence[Public],
    forever: bool,
    rng: np.random.Generator,
) -> Fraction | None:
    """Return the worst ratio of two answers, of one report or of all; None if it is infinite.

    Cost: 64 runs of the encoder for each public part, and eight for each further answer.

    Raises:
        InvalidParameter: if bits share a coin, one is not decided by coins of its own, or an answer
            sets more of them than its channel says.
    """
    ratios = []
    for public in publics:
        rows = rows_of(field, public)
        looked = answers[:2] if sum(row.width for row in rows) > MANY_BITS else answers
        coins: list[Coins] = []
        seen: list[list[list[Fraction]]] = [[] for _ in rows]
        for answer in looked:
            laws, coins = read_bits(field, answer, public, rng, coins)
            chances = iter([_wanted(law, forever) for law in laws])
            for row, found in zip(rows, seen, strict=True):
                found.append([next(chances) for _ in range(row.width)])
        each = [_ratio(row, found) for row, found in zip(rows, seen, strict=True)]
        known = [ratio for ratio in each if ratio is not None]
        ratios.append(prod(known, start=Fraction(1)) if len(known) == len(each) else None)
        if not forever and ratios[-1] and within(ratios[-1], field.parameters.epsilon_once):
            for place, answer in enumerate(looked):  # else the ratio is the finding
                check_bits(field, answer, public, [found[place] for found in seen])
    return None if None in ratios else max(ratio for ratio in ratios if ratio is not None)


def _wanted(law: BitLaw, forever: bool) -> Fraction:
    if not forever:
        return law.chance
    if law.permanent is None:
        raise InvalidParameter("A bit has no permanent coin: nothing bounds its reports.")
    return law.permanent


def _ratio(row: Bits, laws: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """Return the worst ratio of a row whose bits have these probabilities, by answer."""
    levels = sorted({chance for law in laws for chance in law})
    if len(levels) > 2:
        raise InvalidParameter("The bits of a report have more than two probabilities.")
    most = max(list(law).count(levels[-1]) for law in laws)
    if len(levels) > 1 and most > row.most:
        must = f"at most {row.most}" if row.most > 1 else "one bit of its own"
        raise InvalidParameter(f"An answer sets {most} bits of a report. Its form has {must}.")
    return replace(row, one=levels[-1], zero=levels[0]).worst


def read_bits(
    field: Field,
    answer: Answer,
    public: Public,
    rng: np.random.Generator,
    known: Sequence[Coins] = (),
) -> tuple[list[BitLaw], list[Coins]]:
    """Return the law of every bit of the reports of an answer, and the coins that decide them.

    Where the coins are known from another answer, the same ones must decide.
    """
    rows = rows_of(field, public)
    # A permanent coin shows in both thresholds of a fresh one only after some runs.
    few = known and all(coin.permanent is None for coin in known)
    runs = [_run(field, answer, public, rows, rng) for _ in range(FEWER_RUNS if few else RUNS)]
    bits = np.array([run.bits for run in runs])
    fresh, permanent = (
        table_of([getattr(run, name) for run in runs]) for name in ("fresh", "permanent")
    )
    asked = [[run.fresh.asked[place] for run in runs] for place in range(fresh.shape[1])]
    coins = list(known) or _coins(bits, fresh, permanent, asked)
    laws = []
    for place, coin in enumerate(coins):
        turned = bits[:, place] != fresh[:, coin.fresh]
        if turned.any() != turned.all():
            raise InvalidParameter(f"Another coin decides bit {place} for another answer.")
        levels = [as_fraction(threshold) for threshold in sorted(set(asked[coin.fresh]))]
        if turned[0]:
            levels = [1 - level for level in levels]
        if coin.permanent is None:
            laws.append(_law(None, levels))
            continue
        high = np.array(asked[coin.fresh], dtype=object) == max(asked[coin.fresh])
        if not (high == permanent[:, coin.permanent]).all():
            raise InvalidParameter(DEPENDS)
        laws.append(_law(as_fraction(runs[0].permanent.asked[coin.permanent]), levels))
    return laws, coins


def _run(
    field: Field, answer: Answer, public: Public, rows: Sequence[Bits], rng: np.random.Generator
) -> Run:
    channel, count = field.parameters.channel, sum(row.width for row in rows)
    kept, drawn = (
        [n for n, number in zip(public, channel.numbers, strict=True) if number.permanent == is_it]
        for is_it in (True, False)
    )

    def script(uniform: Sequence[int]) -> Scripted:
        outcomes = rng.integers(0, 2, size=2 * count).astype(bool).tolist()
        return Scripted(chain(outcomes, repeat(False)), uniform)

    permanent, fresh, cohort = script(()), script(drawn), Scripted(repeat(False), kept)
    record = encode_drawn(field, answer, cohort, permanent, fresh)
    check_records(field, [record])
    sent, value = channel.read(channel.layout.unpack(record))
    if sent != public or len(fresh.bounds) != len(drawn) or permanent.bounds:
        raise InvalidParameter("A public item of the record is not what was drawn.")
    values = several(value) if len(rows) > 1 else (value,)
    shown = [bit_table(row.width, [each])[0] for row, each in zip(rows, values, strict=True)]
    return Run(np.concatenate(shown), permanent, fresh)


def table_of(scripts: Sequence[Scripted]) -> Bools:
    """Return the outcomes of all coins, a row per run."""
    if len({len(script.tossed) for script in scripts}) > 1:
        raise InvalidParameter("How many coins an encoder tosses depends on their outcomes.")
    return np.array([script.tossed for script in scripts], dtype=bool)


def histories(tossed: Bools) -> dict[bytes, int]:
    """Return the place of each coin by its history; coins that cannot vary are left out."""
    varying = {column.tobytes(): i for i, column in enumerate(np.packbits(tossed, axis=0).T)}
    return {
        history: i for history, i in varying.items() if 0 < int(tossed[:, i].sum()) < len(tossed)
    }


def _coins(
    bits: Bools, fresh: Bools, permanent: Bools, asked: Sequence[Sequence[int]]
) -> list[Coins]:
    """Return the coins of every bit, all of them different."""
    equal, opposite, kept = histories(fresh), histories(~fresh), histories(permanent)
    found: list[Coins] = []
    for place, column in enumerate(np.packbits(bits, axis=0).T):
        history = column.tobytes()
        coin = equal.get(history, opposite.get(history, -1))
        if coin < 0:
            raise InvalidParameter(f"No single coin decides bit {place} of a report.")
        levels = sorted(set(asked[coin]))
        rising = np.packbits(np.array([[t == levels[-1]] for t in asked[coin]]), axis=0).tobytes()
        found.append(Coins(coin, kept.get(rising, -1) if len(levels) > 1 else None))
    for name in ("fresh", "permanent"):
        used = [p for coin in found if (p := getattr(coin, name)) is not None]
        if len(set(used)) < len(used) or -1 in used:
            raise InvalidParameter(
                "One coin decides more than one bit of a report." if name == "fresh" else DEPENDS
            )
    return found


def _law(permanent: Fraction | None, levels: Sequence[Fraction]) -> BitLaw:
    """Return the law of a bit from its permanent coin and the levels of its fresh one."""
    if len(levels) != (1 if permanent is None else 2):
        raise InvalidParameter(DEPENDS)
    if permanent is None:
        return BitLaw(None, levels[0])
    return BitLaw(permanent, permanent * levels[1] + (1 - permanent) * levels[0])
