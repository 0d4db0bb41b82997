"""The exact worst ratio of encoders of profiles, whatever the number of attributes.

Model: first the encoder draws the public part of a report (its coefficient, table, view, row or
seed), then the rest, given the profile. It is run on all outcomes of its coins, with uniform draws
chosen from outside. The draws of the public part must be the same for every profile, and lead to
the same public numbers; the draws of the rest must give another report on every outcome. Then a
report has, given its public part, the probability of its coins divided by the number of uniform
outcomes, its *level*. No two profiles differ by more than the largest level over the smallest,
among reports with the same public part.

Where there are many public parts, those of both ends and some spread between are looked at, and one
of every size of table, because thresholds depend on the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb, prod

import numpy as np

from deniable.audit.exact.profile_bits import row_of_bits
from deniable.audit.exact.symbols import LOOKS, place_of
from deniable.audit.exact.tracing import PublicFirst
from deniable.audit.profile_reading import BITS, Public, items_of, room, shown_by
from deniable.client.encode import encode_drawn
from deniable.client.encoders import Draws
from deniable.errors import InvalidParameter
from deniable.privacy import enumerate_outputs
from deniable.protocol import (
    Answer,
    Field,
    InpHTCMSParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.thresholds import as_fraction

FEW = 4
"""The number of outcomes of the rest that are looked at; 256 for one table of every size."""
TABLES_OF_BITS = 8
"""The number of tables of bits that are looked at, besides one of every size."""


@dataclass(frozen=True)
class Path:
    """One path of an encoder through its coins, uniform draws chosen from outside.

    Attributes:
        first: the draws that decide the public part, as (kind, number, outcome).
        public: the public part.
        coins: the outcomes of the coins after that.
        chance: the probability of these coins.
        outcomes: the number of outcomes of the uniform draws after that.
        record: the report.
    """

    first: tuple[tuple[str, int, int], ...]
    public: Public
    coins: tuple[bool, ...]
    chance: Fraction
    outcomes: int
    record: bytes


def profile_ratio(
    field: Field, answers: Sequence[Answer], rng: np.random.Generator
) -> tuple[Fraction, str]:
    """Return the worst ratio of two profiles, and the argument.

    Cost: some thousand runs of the encoder; 72 runs where it tosses a coin per cell.

    Args:
        field: of a question about a profile.
        answers: profiles to look at, the first two different in every bit of their codes.
        rng: of the outcomes on which coins of bits are told apart.

    Raises:
        InvalidParameter: if the argument does not hold for this encoder.
    """
    parameters = field.parameters
    if not isinstance(parameters, ProfileParameters):
        raise InvalidParameter(f"{parameters.mechanism} does not report profiles.")
    items = items_of(parameters)
    given = f", given the {' and the '.join(items)}" if items else ""
    if isinstance(parameters, BITS):
        chosen = [(number,) for number in _looked(parameters, TABLES_OF_BITS)] if items else [()]
        worst = max(row_of_bits(field, answers, public, rng) for public in chosen)
        argument = f"per bit{given}: each bit of a report has a coin of its own, so that ratios "
        return worst, argument + "multiply over the bits in which two profiles differ"
    sized = set(_one_of_each_size(parameters))
    worst = Fraction(1)
    for look in _looked(parameters, LOOKS) if items else [0]:
        looks = LOOKS if look in sized or not items else FEW
        worst = max(worst, _worst(field, parameters, answers, look, looks))
    argument = f"per symbol{given}: what a report is about is drawn alike for every profile, and "
    return worst, argument + "after it every outcome of the draws gives another report"


def _worst(
    field: Field, parameters: ProfileParameters, answers: Sequence[Answer], look: int, looks: int
) -> Fraction:
    """Return the worst ratio of reports with the public parts that one look gives."""
    first: dict[tuple[tuple[str, int, int], ...], Public] = {}
    levels: dict[Public, set[Fraction]] = {}
    for place, answer in enumerate(answers):
        found = list(_paths(field, parameters, answer, look, looks))
        drawn = {path.first: path.public for path in found}
        if place == 0:
            first = drawn
        if drawn != first or len(set(drawn.values())) < len(drawn):
            raise InvalidParameter("What a report is about is not drawn alike for every profile.")
        for public in drawn.values():
            about = [path for path in found if path.public == public]
            levels.setdefault(public, set()).update(_levels(parameters, public, about))
    return max(max(found) / min(found) for found in levels.values())


def _levels(
    parameters: ProfileParameters, public: Public, paths: Sequence[Path]
) -> Iterator[Fraction]:
    """Yield the level of each path of one answer, after checking its reports."""
    if len({path.record for path in paths}) < len(paths):
        raise InvalidParameter("Two outcomes of the draws give one report.")
    ways = {path.coins: path.outcomes for path in paths}
    if sum(ways.values()) != room(parameters, public):
        raise InvalidParameter("Some report can be sent for some profiles, and not for others.")
    for path in paths:
        parameters.check_record(path.record)
        yield path.chance / path.outcomes


def _paths(
    field: Field, parameters: ProfileParameters, answer: Answer, look: int, looks: int
) -> Iterator[Path]:
    """Yield the different paths of some looks at the uniform draws of the rest."""
    widest, step = 1, 0
    seen: set[Path] = set()
    while step < min(looks, widest):
        run = partial(_run, field, parameters, answer, look, step)
        for path in enumerate_outputs(run):
            widest = max(widest, path.outcomes)
            if path not in seen:
                seen.add(path)
                yield path
        step += 1


def _run(
    field: Field, parameters: ProfileParameters, answer: Answer, look: int, step: int, draws: Draws
) -> Path:
    traced = PublicFirst(
        draws,
        len(items_of(parameters)),
        lambda place, bound: look % bound if place else min(look, bound - 1),
        lambda bound: place_of(step, bound),
    )
    record = encode_drawn(field, answer, traced, traced, traced)
    public, _ = shown_by(parameters, parameters.layout.unpack(record))
    chance = prod(
        (as_fraction(t) if heads else 1 - as_fraction(t) for t, heads in traced.coins),
        start=Fraction(1),
    )
    coins = tuple(heads for _, heads in traced.coins)
    return Path(tuple(traced.first), public, coins, chance, prod(traced.bounds), record)


def _looked(parameters: ProfileParameters, most: int) -> list[int]:
    """Return the outcomes of the first draw that are looked at."""
    count = _things(parameters)
    spread = {place_of(look * LOOKS // most, count) for look in range(min(most, count))}
    if count <= most:
        spread = set(range(count))
    return sorted(spread | set(_one_of_each_size(parameters)))


def _things(parameters: ProfileParameters) -> int:
    """Return the number of different public parts, by their first number at least."""
    if isinstance(parameters, InpHTCMSParameters):
        return parameters.rows * parameters.width
    for name in ("marginals", "coefficients", "seeds"):
        found = getattr(parameters, name, None)
        if isinstance(found, int):
            return found
    return len(parameters.views) if isinstance(parameters, ViewsParameters) else 1


def _one_of_each_size(parameters: ProfileParameters) -> list[int]:
    """Return the number of a table, or view, of every size that occurs."""
    if isinstance(parameters, ViewsParameters):
        return list({parameters.cells(i): i for i in range(len(parameters.views))}.values())
    if not isinstance(parameters, MarginalParameters):
        return [0]
    kinds = sorted(range(len(parameters.bits)), key=lambda i: parameters.bits[i])
    found: dict[tuple[int, int], tuple[int, ...]] = {(0, 0): ()}
    for i in kinds:
        for (taken, bits), subset in list(found.items()):
            if taken < parameters.order:
                found.setdefault((taken + 1, bits + parameters.bits[i]), (*subset, i))
    whole = (subset for (taken, _), subset in found.items() if taken == parameters.order)
    return [rank_of(tuple(sorted(subset)), len(parameters.bits)) for subset in whole]


def rank_of(subset: Sequence[int], among: int) -> int:
    """Return the number of a rising subset among all of its size, in lexicographic order."""
    size, rank, before = len(subset), 0, -1
    for place, i in enumerate(subset):
        rank += sum(comb(among - 1 - skipped, size - 1 - place) for skipped in range(before + 1, i))
        before = i
    return rank
