"""Crafted reports about profiles: records that push a level, or a cell of some attributes, most.

Model: a liar also chooses the public part of the report: a table or view with the attributes, of
the size with the most leverage, or a coefficient of the attributes alone. The rest names the
levels: a cell with them, all cells with them, the sign that they have, their bits. Other attributes
are drawn uniformly. For hashed profiles the liar takes the symbol that most profiles with the
levels share, over a few seeds; or the coefficient that all profiles share. To push a cell down the
rest says the opposite: a cell with another level, the other sign, a symbol that few profiles share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from deniable.audit.attack.poison_signs import Codes, Items, coefficients_of
from deniable.audit.exact.profiles import rank_of
from deniable.client.encoders.unary import pack_bits
from deniable.errors import InvalidParameter
from deniable.protocol import (
    CoefficientsParameters,
    InpEMParameters,
    InpHTCMSParameters,
    InpHTParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.hadamard import sign_of
from deniable.protocol.olh import symbol_of
from deniable.protocol.profile_domain import profile_answer

SEEDS = 32
SAMPLED = 256
"""The number of seeds that are tried, and of profiles of the cell that they are tried on."""

SIGNED = (
    MargHTParameters,
    InpHTParameters,
    CoefficientsParameters,
    InpOLHParameters,
    InpHTCMSParameters,
)
"""Mechanisms whose crafted reports say the opposite of the cell itself, to push it down."""


def crafted_profile_reports(
    parameters: ProfileParameters,
    attribute: int,
    level: int,
    count: int,
    rng: np.random.Generator,
    *,
    down: bool = False,
) -> bytes:
    """Return `count` crafted records, one after the other, each pushing a level most.

    Guarantees: the collector admits each of them.

    Args:
        parameters: of the mechanism.
        attribute: by number.
        level: to be pushed.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        down: push the level down instead of up.

    Raises:
        InvalidParameter: if there is no attack on the mechanism yet.
        InvalidReport: if the collector would refuse a record.
    """
    return crafted_cells(parameters, (attribute,), (level,), count, rng, down=down)


def crafted_cells(
    parameters: ProfileParameters,
    attributes: Codes,
    levels: Codes,
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
        levels: of the cell, one per attribute.
        count: the number of fake clients.
        rng: where the rest of a record comes from.
        down: push the cell down instead of up.

    Raises:
        InvalidParameter: if there is no attack on the mechanism yet.
        InvalidReport: if the collector would refuse a record.
    """
    # A code that differs in one bit takes the most away where every bit has a coin of its own.
    first = levels[0]
    other = first ^ 1 if first ^ 1 < parameters.levels[attributes[0]] else first - 1
    opposite = down and not isinstance(parameters, SIGNED)
    said = dict(zip(attributes, (other, *levels[1:]) if opposite else levels, strict=True))

    def codes() -> Codes:
        drawn = [int(rng.integers(0, most)) for most in parameters.levels]
        return tuple(said.get(i, level) for i, level in enumerate(drawn))

    make = _maker(parameters, attributes, codes, rng, down)
    records = [parameters.layout.pack(make()) for _ in range(count)]
    for record in records:
        parameters.check_record(record)
    return b"".join(records)


def _maker(
    parameters: ProfileParameters,
    attributes: Codes,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Return a function that makes the items of one crafted record."""
    if isinstance(parameters, InpPSParameters):
        return lambda: {"symbol": parameters.cell(codes())}
    if isinstance(parameters, InpEMParameters):
        size = parameters.layout.size
        return lambda: {"bits": parameters.cell(codes()).to_bytes(size, "little")}
    if isinstance(parameters, InpRRParameters):
        every = tuple(range(len(parameters.levels)))
        packed = _cell_bits(parameters, every, attributes, codes(), parameters.cells)
        return lambda: {"bits": packed}
    if isinstance(parameters, MargRRParameters | MargPSParameters | ViewsParameters):
        return _about_a_table(parameters, attributes, codes, rng)
    if isinstance(parameters, MargHTParameters):
        return _about_a_table_sign(parameters, attributes, codes, rng, down)
    if isinstance(parameters, InpHTParameters | CoefficientsParameters):
        return coefficients_of(parameters, attributes, codes(), rng, down)
    if isinstance(parameters, InpOLHParameters):
        return _with_a_good_seed(parameters, codes, rng, down)
    if isinstance(parameters, InpHTCMSParameters):
        rows, width = parameters.rows, parameters.width
        return lambda: {"symbol": 2 * int(rng.integers(0, rows)) * width + down}
    raise InvalidParameter(f"There is no attack on '{parameters.mechanism}' yet.")


def _about_a_table(
    parameters: MargRRParameters | MargPSParameters | ViewsParameters,
    attributes: Codes,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
) -> Callable[[], Items]:
    tables = _tables_with(parameters, attributes)
    if isinstance(parameters, MargRRParameters):
        said, room = codes(), parameters.most_cells
        packed = {
            table: _cell_bits(parameters, parameters.marginal(table), attributes, said, room)
            for table in tables
        }

        def bits() -> Items:
            table = int(rng.choice(tables))
            return {"marginal": table, "bits": packed[table]}

        return bits

    def cell() -> Items:
        table = int(rng.choice(tables))
        return {"symbol": table * parameters.most_cells + parameters.cell(table, codes())}

    return cell


def _about_a_table_sign(
    parameters: MargHTParameters,
    attributes: Codes,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    widths = [parameters.bits[i] for i in attributes]

    def sign() -> Items:
        table = int(rng.choice(_some_tables(parameters, attributes)))
        among = parameters.marginal(table)
        drawn, alpha = int(rng.integers(1, 1 << sum(widths))), 0
        for attribute, width in zip(attributes, widths, strict=True):
            place = sum(parameters.bits[i] for i in among[: among.index(attribute)])
            alpha |= (drawn & ((1 << width) - 1)) << place
            drawn >>= width
        own = sign_of(alpha, parameters.cell(table, codes())) ^ down
        return {"symbol": 2 * (table * parameters.most_cells + alpha) + own}

    return sign


def _with_a_good_seed(
    parameters: InpOLHParameters,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Return a maker of the symbol that most profiles of the cell share, over a few seeds.

    To push the cell down, it is the symbol that the fewest share.
    """
    words = [profile_answer(row).words for row in dict.fromkeys(codes() for _ in range(SAMPLED))]
    best, most = (0, 0), -len(words) - 1
    for seed in rng.integers(0, parameters.seeds, size=SEEDS).tolist():
        shared = Counter(symbol_of(word, seed, parameters.symbols) for word in words)
        worth = {s: -shared[s] if down else shared[s] for s in range(parameters.symbols)}
        symbol = max(worth, key=worth.__getitem__)
        if worth[symbol] > most:
            best, most = (seed, symbol), worth[symbol]
    return lambda: {"seed": best[0], "symbol": best[1]}


def _tables_with(
    parameters: MargRRParameters | MargPSParameters | ViewsParameters, attributes: Codes
) -> list[int]:
    """Return some tables with the attributes, of the size with the most leverage."""
    found = _some_tables(parameters, attributes)
    # A report of k-RR weighs gap^2 and says 1/gap: few cells are worth more. One of bits weighs
    # 1/(cells of the level) and says as many: every size is worth the same.
    wanted = min(parameters.cells(table) for table in found)
    return [table for table in found if parameters.cells(table) == wanted]


def _some_tables(
    parameters: MargRRParameters | MargPSParameters | MargHTParameters | ViewsParameters,
    attributes: Codes,
) -> list[int]:
    """Return views with the attributes, or a table with them and each set of neighbours."""
    if isinstance(parameters, ViewsParameters):
        return [i for i, view in enumerate(parameters.views) if set(attributes) <= set(view)]
    among, room = len(parameters.levels), parameters.order - len(attributes)
    others = [i for i in range(among) if i not in attributes]
    sets = {tuple(sorted(others, key=lambda i: parameters.bits[i])[:room])}
    for start in range(len(others) - room + 1):
        sets.add(tuple(others[start : start + room]))
    return [rank_of(sorted((*chosen, *attributes)), among) for chosen in sorted(sets)]


def _cell_bits(
    parameters: InpRRParameters | MargRRParameters,
    among: Codes,
    attributes: Codes,
    said: Codes,
    room: int,
) -> bytes:
    """Return the bits of all cells of a table that have the levels said of some attributes."""
    mask, wanted, place = 0, 0, 0
    for i in among:
        if i in attributes:
            mask |= ((1 << parameters.bits[i]) - 1) << place
            wanted |= said[i] << place
        place += parameters.bits[i]
    return pack_bits((cell & mask == wanted for cell in range(1 << place)), room)
