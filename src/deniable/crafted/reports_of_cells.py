"""Crafted reports about profiles: records that push an answer or a cell of attributes most.

Model: a crafted report also chooses what it is about: a table or view with the attributes, of the
size with the most leverage, or a coefficient of the attributes alone. The rest names the answers: a
cell with them, all cells with them, the sign that they have, their bits. Other attributes are drawn
uniformly. Of hashed profiles it is the symbol that most profiles with the answers share, over a few
seeds; or the coefficient that all profiles share. To push a cell down the rest says the opposite: a
cell with another answer, the other sign, a symbol that few profiles share.

The share of a cell is a sum over the coefficients of its attributes, each with a weight and a share
of the honest reports: crafted ones spread over them so that the sum shifts most
(`crafted/spread.py`), and give each the sign that it has in the cell, or the other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import reduce

import numpy as np

from deniable.crafted.parts import (
    HASHED,
    cells_of,
    in_contrasts,
    of_one_coefficient,
    told_by,
    views_of,
)
from deniable.crafted.reports import joined, said
from deniable.crafted.spread import best_spread
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, walsh_matrix
from deniable.mechanisms.moments import Subset, subsets_of
from deniable.mechanisms.profile_numbering import CoefficientNumbers
from deniable.protocol import ProfileParameters
from deniable.protocol.channel import Public
from deniable.protocol.profile_domain import profile_answer
from deniable.protocol.profile_marginals import rank_of
from deniable.protocol.profile_selection import Selection
from deniable.protocol.rest import Bits, Sign, Value, as_mask

_SEEDS = 32
_SAMPLED = 256
"""The number of seeds that are tried, and of profiles of the cell that they are tried on."""
SHARE = 0.01
"""The share of crafted reports for which their spread over the coefficients is the best."""

Profiles = Callable[[], Subset]
"""Draws a profile with the answers of the cell."""
Chosen = Callable[[], tuple[Public, Value]]
"""Chooses what one report is about, and what it says of it."""


def crafted_cells(
    parameters: ProfileParameters,
    attributes: Subset,
    answers: Subset,
    count: int,
    rng: np.random.Generator,
    *,
    down: bool = False,
) -> bytes:
    """Return `count` crafted records, one after the other, each pushing a cell most.

    Guarantees: the collector admits each of them.

    Args:
        parameters: of the mechanism.
        attributes: by number, rising, at most as many as were collected together.
        answers: of the cell, one per attribute.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        down: push the cell down instead of up.

    Raises:
        InvalidParameter: if there are no crafted reports about what the mechanism draws.
        InvalidReport: if the collector would refuse a record.
    """
    told, rest = told_by(parameters), parameters.channel.typical
    if down and not (isinstance(rest, Sign) or told in HASHED):
        # A code that differs in one bit takes the most away where every bit has its own coin.
        near = answers[0] ^ 1
        answers = (
            near if near < parameters.answers[attributes[0]] else answers[0] - 1,
            *answers[1:],
        )
    fixed = dict(zip(attributes, answers, strict=True))

    def profile() -> Subset:
        free = [int(rng.integers(0, most)) for most in parameters.answers]
        return tuple(fixed.get(i, one) for i, one in enumerate(free))

    if told == "seed":
        best = _best_seed(parameters, profile, rng, down)
        return joined(parameters, lambda: best, count)
    if told == "row":  # coefficient 0 is +1 for every profile
        rows = parameters.channel.numbers[0].given(())[0][0]
        return joined(parameters, lambda: ((int(rng.integers(0, rows)), 0), int(down)), count)
    if told == "coefficient":
        return joined(
            parameters, _coefficients(parameters, attributes, profile(), rng, down), count
        )
    return joined(parameters, _about_tables(parameters, attributes, profile, rng, down), count)


def _about_tables(
    parameters: ProfileParameters,
    attributes: Subset,
    profile: Profiles,
    rng: np.random.Generator,
    down: bool,
) -> Chosen:
    """Return a choice of tables with the attributes; without a drawn table, all of the profile."""
    channel, tables = parameters.channel, _tables_with(parameters, attributes)
    signed, every = isinstance(channel.typical, Sign), dict[int, int]()
    numbers = np.array([*tables])
    if isinstance(channel.typical, Bits) and channel.typical.drawn:  # a bit for each cell
        one = profile()
        every = {t: _all_cells(parameters, among, attributes, one) for t, among in tables.items()}

    def choose() -> tuple[Public, Value]:
        table = int(rng.choice(numbers)) if channel.numbers else 0
        public: Public = (table,) if channel.numbers else ()
        if signed:
            public = (table, _coefficient_in(parameters, tables[table], attributes, rng))
        if every:
            return public, every[table]
        own = channel.own(profile_answer(profile()), public)
        return public, said(channel.rest(public), own, rng, down=down and signed)

    return choose


def _tables_with(parameters: ProfileParameters, attributes: Subset) -> dict[int, Subset]:
    """Return drawn tables with the attributes, by their numbers, each with all its attributes.

    Of k-RR and bits those with the fewest cells. Where nothing is drawn, the whole profile is 0.

    Raises:
        InvalidParameter: if reports are about something else.
    """
    told, rest_of = told_by(parameters), parameters.channel.rest
    if told == "":
        return {0: tuple(range(len(parameters.answers)))}
    if told not in ("view", "marginal"):
        raise InvalidParameter(f"There is no crafted report about a '{told}' of a profile yet.")
    found = (_views_with if told == "view" else _marginals_with)(parameters, attributes)
    if isinstance(parameters.channel.typical, Sign):
        return found
    # A report of k-RR weighs gap^2 and says 1/gap: few cells are worth more. One of bits weighs
    # 1/(cells of the answer) and says as many: every size is worth the same.
    fewest = min(cells_of(rest_of((table,))) for table in found)
    return {t: among for t, among in found.items() if cells_of(rest_of((t,))) == fewest}


def _views_with(parameters: ProfileParameters, attributes: Subset) -> dict[int, Subset]:
    """Return all views with the attributes."""
    return {i: v for i, v in enumerate(views_of(parameters)) if set(attributes) <= set(v)}


def _marginals_with(parameters: ProfileParameters, attributes: Subset) -> dict[int, Subset]:
    """Return a table with the attributes and each set of neighbours."""
    every, room = len(parameters.answers), parameters.order - len(attributes)
    others = [i for i in range(every) if i not in attributes]
    sets = {tuple(sorted(others, key=lambda i: parameters.bits[i])[:room])}
    sets |= {tuple(others[start : start + room]) for start in range(len(others) - room + 1)}
    tables = [tuple(sorted((*chosen, *attributes))) for chosen in sorted(sets)]
    return {rank_of(among, every): among for among in tables}


def _all_cells(
    parameters: ProfileParameters, among: Subset, attributes: Subset, profile: Subset
) -> int:
    """Return the bits of all cells of a table that have the profile's answers of the attributes."""
    mask, wanted, place = 0, 0, 0
    for i in among:
        if i in attributes:
            mask |= ((1 << parameters.bits[i]) - 1) << place
            wanted |= profile[i] << place
        place += parameters.bits[i]
    return as_mask([cell for cell in range(1 << place) if cell & mask == wanted])


def _coefficient_in(
    parameters: ProfileParameters, among: Subset, attributes: Subset, rng: np.random.Generator
) -> int:
    """Return a drawn coefficient of a table: of the attributes alone, and not the constant one."""
    widths = [parameters.bits[i] for i in attributes]
    drawn, found = int(rng.integers(1, 1 << sum(widths))), 0
    for attribute, width in zip(attributes, widths, strict=True):
        place = sum(parameters.bits[i] for i in among[: among.index(attribute)])
        found |= (drawn & ((1 << width) - 1)) << place
        drawn >>= width
    return found


def _coefficients(
    parameters: ProfileParameters,
    attributes: Subset,
    profile: Subset,
    rng: np.random.Generator,
    down: bool,
) -> Chosen:
    """Return a choice of coefficients of the cell's attributes, each with the sign of the cell."""
    offered = tuple(len(_functions(parameters, i, 0)[0]) for i in range(len(parameters.answers)))
    numbering = CoefficientNumbers(Selection(offered), parameters.order)
    numbers, values, weights, about = [], [], [], []
    for subset in subsets_of(attributes):
        parts = [_functions(parameters, i, profile[i]) for i in subset]
        own, squares = (
            reduce(np.multiply.outer, one).reshape(-1) for one in zip(*parts, strict=True)
        )
        numbers.append(numbering.numbers(subset).reshape(-1))
        values.append(own)
        weights.append(np.abs(own) / squares)
        about.append(np.full(own.size, of_one_coefficient(parameters, subset)[len(subset) - 1]))
    number, value, worth, share = map(np.concatenate, (numbers, values, weights, about))
    chances = best_spread(worth, share, SHARE) / SHARE

    def choose() -> tuple[Public, Value]:
        chosen = int(rng.choice(len(number), p=chances))
        return (int(number[chosen]),), int((value[chosen] < 0) ^ down)

    return choose


def _functions(parameters: ProfileParameters, attribute: int, answer: int) -> tuple[Floats, Floats]:
    """Return the functions of an attribute at an answer, and their mean squares over answers."""
    if in_contrasts(parameters):
        matrix = contrast_matrix(parameters.answers[attribute])[1:]
    else:
        matrix = walsh_matrix(1 << parameters.bits[attribute])[1:]
    return matrix[:, answer], np.asarray(np.square(matrix).mean(axis=1))


def _best_seed(
    parameters: ProfileParameters, profile: Profiles, rng: np.random.Generator, down: bool
) -> tuple[Public, Value]:
    """Return a seed and the symbol that most profiles of the cell share in it, or the fewest."""
    channel = parameters.channel
    answers = [profile_answer(one) for one in dict.fromkeys(profile() for _ in range(_SAMPLED))]
    seeds, symbols = channel.numbers[0].given(())[0][0], cells_of(channel.typical)
    found = []
    for seed in rng.integers(0, seeds, size=_SEEDS).tolist():
        shared = Counter(channel.own(answer, (seed,)) for answer in answers)
        found += [(-shared[s] if down else shared[s], (seed,), s) for s in range(symbols)]
    _, public, symbol = max(found, key=lambda one: one[0])
    return public, symbol
