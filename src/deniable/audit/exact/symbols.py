"""The exact worst ratio of encoders that send one symbol, whatever the size of their alphabet.

Model: first the encoder draws the public part of a report (its cohort, seed, row, coefficient,
table, view or group), then the rest, given the answer: a symbol, a sign or a point. It is run on
all outcomes of its coins, with uniform draws chosen from outside. The draws of the public part must
be the same for every answer and lead to the numbers that they say; the draws of the rest must give
another record on every outcome. Then a record has, given its public part, the probability of its
coins divided by the number of uniform outcomes, its *level*. No two answers differ by more than the
largest level over the smallest, among records with the same public part.

Where there are many public parts, those of both ends and some spread between are looked at, and one
for every different rest, because thresholds depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod

from deniable.audit.exact.declared_channel import check_chance, check_records
from deniable.audit.exact.tracing import Keeps, PublicFirst
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws
from deniable.errors import InvalidParameter
from deniable.privacy import enumerate_outputs
from deniable.protocol import Answer, Field
from deniable.protocol.channel import Channel, Number, Public, Rest
from deniable.protocol.epsilon import within
from deniable.protocol.thresholds import as_fraction

LOOKS = 256
"""The number of outcomes of uniform draws that are looked at, at both ends and spread between."""
COMPARED = 8
"""The number of public parts, at both ends, whose chances are compared with the channel's."""
FEW = 4
"""The number of outcomes of the rest that are looked at, where the rest was seen already."""


@dataclass(frozen=True)
class Stage:
    """The stages of an encoder that are enumerated; the others keep their input."""

    permanent: bool = True
    fresh: bool = True


BOTH = Stage()


@dataclass(frozen=True)
class Path:
    """One path of an encoder through its coins, uniform draws chosen from outside.

    Attributes:
        first: the draws that decide the public part, as (kind, number, outcome).
        public: the public part.
        coins: the outcomes of the coins after that.
        chance: the probability of these coins.
        outcomes: the number of outcomes of the uniform draws after that.
        record: the record.
    """

    first: tuple[tuple[str, int, int], ...]
    public: Public
    coins: tuple[bool, ...]
    chance: Fraction
    outcomes: int
    record: bytes


def symbol_ratio(field: Field, answers: Sequence[Answer], stage: Stage = BOTH) -> Fraction:
    """Return the worst ratio of two answers.

    Cost: some thousand runs of the encoder.

    Raises:
        InvalidParameter: if the argument does not hold for this encoder.
    """
    channel = field.parameters.channel
    sized = {public[0] for public in channel.examples or ((0,),) if public}
    every, worst, compared = looked(channel), Fraction(1), list[tuple[Answer, Path]]()
    for look in every:
        looks = LOOKS if look in sized or not channel.numbers else FEW
        seen: list[tuple[Answer, Path]] = []
        levels = _levels(field, channel, answers, look, looks, stage, seen)
        compared += seen if look in (*sized, *every[:COMPARED], *every[-COMPARED:]) else []
        worst = max(worst, *(max(found) / min(found) for found in levels.values()))
    if stage == BOTH and within(worst, field.parameters.epsilon_once):
        for answer, path in compared:  # else the ratio is the finding
            _, value = channel.read(channel.layout.unpack(path.record))
            check_chance(field, answer, path.public, value, path.chance / path.outcomes)
    return worst


def keep_and_move(field: Field, answers: Sequence[Answer], stage: Stage) -> tuple[Fraction, ...]:
    """Return P(a stage keeps its symbol), and P(it moves to one given other).

    Raises:
        InvalidParameter: if the stage is no toss of one coin that keeps or moves, for all alike.
    """
    channel = field.parameters.channel
    found = {
        (path.coins, path.chance / path.outcomes)
        for answer in answers
        for path in _paths(field, channel, answer, 0, LOOKS, stage)
    }
    levels = dict(found)
    if len(found) > 2 or set(levels) != {(True,), (False,)}:
        raise InvalidParameter("A stage must toss one coin and keep what it shows.")
    return levels[True,], levels[False,]


def chained(one: Sequence[Fraction], two: Sequence[Fraction], symbols: int) -> Fraction:
    """Return the worst ratio of two stages one after the other, each (keep, one other symbol).

    keep = k1 k2 + (n - 1) m1 m2 and move = k1 m2 + m1 k2 + (n - 2) m1 m2.
    """
    # docs/mathematics.md, section 6: chains of k-RR.
    (k1, m1), (k2, m2) = one, two
    keep = k1 * k2 + (symbols - 1) * m1 * m2
    move = k1 * m2 + m1 * k2 + (symbols - 2) * m1 * m2
    return max(keep / move, move / keep)


def looked(channel: Channel, most: int = LOOKS) -> list[int]:
    """Return the first public numbers that are looked at, about `most` of them.

    A device draws a permanent number once, often at some cost: its two ends, and one of each block.
    """
    if not channel.numbers:
        return [0]
    blocks = channel.numbers[0].given(())
    count = sum(size for size, _ in blocks)
    if channel.numbers[0].permanent:
        starts = [sum(size for size, _ in blocks[:i]) for i in range(len(blocks))]
        return sorted({*starts, count - 1})
    if len(channel.numbers) > 1:  # one look chooses all numbers: spread over their pairs
        count *= sum(size for size, _ in channel.numbers[1].given((0,)))
    spread = {place_of(look * LOOKS // most, count) for look in range(min(most, count))}
    if count <= most:
        spread = set(range(count))
    return sorted(spread | {public[0] for public in channel.examples})


def _levels(
    field: Field,
    channel: Channel,
    answers: Sequence[Answer],
    look: int,
    looks: int,
    stage: Stage,
    seen: list[tuple[Answer, Path]],
) -> dict[Public, set[Fraction]]:
    """Return the levels of the records with the public parts that one look gives.

    One path for every outcome of the coins is added to `seen`.
    """
    first: dict[tuple[tuple[str, int, int], ...], Public] = {}
    levels: dict[Public, set[Fraction]] = {}
    for place, answer in enumerate(answers):
        found = list(_paths(field, channel, answer, look, looks, stage))
        drawn = {path.first: path.public for path in found}
        if place == 0:
            first = drawn
        if drawn != first or len(set(drawn.values())) < len(drawn):
            raise InvalidParameter("What a report is about is not drawn alike for every answer.")
        for public in drawn.values():
            about = [path for path in found if path.public == public]
            _check(field, channel.rest(public), about)
            seen += [(answer, path) for path in {path.coins: path for path in about}.values()]
            levels.setdefault(public, set()).update(p.chance / p.outcomes for p in about)
    return levels


def _check(field: Field, rest: Rest, paths: Sequence[Path]) -> None:
    """Check the records of one answer: all different, as many as can be, and admitted."""
    if len({path.record for path in paths}) < len(paths):
        raise InvalidParameter("Two outcomes of the draws give one record.")
    ways = {path.coins: path.outcomes for path in paths}
    if sum(ways.values()) != rest.count:
        raise InvalidParameter("Some record can be sent for some answers, and not for others.")
    check_records(field, [path.record for path in paths])


def _paths(
    field: Field, channel: Channel, answer: Answer, look: int, looks: int, stage: Stage
) -> Iterator[Path]:
    """Yield the different paths of some looks at the uniform draws of the rest."""
    widest, step = 1, 0
    seen: set[Path] = set()
    while step < min(looks, widest):
        run = partial(_run, field, channel, answer, look, step, stage)
        for path in enumerate_outputs(run):
            widest = max(widest, path.outcomes)
            if path not in seen:
                seen.add(path)
                yield path
        step += 1


def _run(
    field: Field, channel: Channel, answer: Answer, look: int, step: int, stage: Stage, draws: Draws
) -> Path:
    traced = PublicFirst(
        draws,
        len(channel.numbers),
        lambda place, bound: _outcome(channel.numbers[place], place, look, bound),
        lambda bound: place_of(step, bound),
    )
    permanent: Draws = traced if stage.permanent else Keeps()
    fresh: Draws = traced if stage.fresh else Keeps()
    record = encode_drawn(field, answer, traced, permanent, fresh)
    public, _ = channel.read(channel.layout.unpack(record))
    _check_public(channel, public, [d[1:] for d in traced.first if d[0] == "below"], look)
    chance = prod(
        (as_fraction(t) if heads else 1 - as_fraction(t) for t, heads in traced.coins),
        start=Fraction(1),
    )
    coins = tuple(heads for _, heads in traced.coins)
    return Path(tuple(traced.first), public, coins, chance, prod(traced.bounds), record)


def _outcome(number: Number, place: int, look: int, bound: int) -> int:
    """Return the outcome of a public draw: the number wanted, or one that stands for it."""
    blocks = number.blocks
    if place == 0 and blocks and len(blocks) > 1 and bound > sum(size for size, _ in blocks):
        # Drawn by weights: the first outcome of the block.
        return int(bound * sum(chance for _, chance in blocks[:look]))
    return look % bound if place else min(look, bound - 1)


def _check_public(
    channel: Channel, public: Public, drawn: Sequence[tuple[int, int]], look: int
) -> None:
    """Check that each number is the outcome of its draw, counted from the start of a block."""
    for place, (number, (bound, outcome)) in enumerate(zip(channel.numbers, drawn, strict=True)):
        starts, first = [], 0
        for size, _ in number.given(public[:place]):
            starts += [first] if size == bound else []
            first += size
        expected = [start + outcome for start in starts] or [look]
        if public[place] not in expected:
            raise InvalidParameter("A public item of the record is not what was drawn.")


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
