"""Crafted reports about records: made to push one level of one attribute as far as reports can.

Model: a liar chooses what the report is about as well: a table or view with the attribute, of the
size that is worth the most, or a coefficient of the attribute alone. The rest says the level: a
cell with it, all cells with it, the sign that it has, its bits. Other attributes are drawn
uniformly. Of hashed records, the symbol that most records of the level share, over a few seeds; or
the coefficient that all records share. To push a level down the rest says the opposite: a cell of
another level, no cell with it, the other sign, a symbol that few records share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from deniable.audit.exact_records import rank_of
from deniable.client.encoders.unary import pack_bits
from deniable.errors import InvalidParameter
from deniable.mechanisms.contrast_matrices import contrast_matrix
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
    RecordParameters,
    ViewsParameters,
)
from deniable.protocol.hadamard import sign_of
from deniable.protocol.olh import symbol_of
from deniable.protocol.record_domain import record_answer

SEEDS = 32
SAMPLED = 256
"""So many seeds are tried, on so many records of the level."""

SIGNED = (
    MargHTParameters,
    InpHTParameters,
    CoefficientsParameters,
    InpOLHParameters,
    InpHTCMSParameters,
)
"""Mechanisms whose crafted reports say the opposite of the level itself, to push it down."""

Codes = tuple[int, ...]
Items = dict[str, int | bytes]


def crafted_records(
    parameters: RecordParameters,
    attribute: int,
    level: int,
    count: int,
    rng: np.random.Generator,
    *,
    down: bool = False,
) -> bytes:
    """Return so many records, one after the other, each pushing a level of an attribute most.

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
    # A code that differs in one bit takes the most away where every bit has a coin of its own.
    other = level ^ 1 if level ^ 1 < parameters.levels[attribute] else level - 1
    said = other if down and not isinstance(parameters, SIGNED) else level

    def codes() -> Codes:
        drawn = [int(rng.integers(0, most)) for most in parameters.levels]
        return (*drawn[:attribute], said, *drawn[attribute + 1 :])

    make = _maker(parameters, attribute, codes, rng, down)
    records = [parameters.layout.pack(make()) for _ in range(count)]
    for record in records:
        parameters.check_record(record)
    return b"".join(records)


def _maker(
    parameters: RecordParameters,
    attribute: int,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Return what makes the items of one crafted record."""
    if isinstance(parameters, InpPSParameters):
        return lambda: {"symbol": parameters.cell(codes())}
    if isinstance(parameters, InpEMParameters):
        size = parameters.layout.size
        return lambda: {"bits": parameters.cell(codes()).to_bytes(size, "little")}
    if isinstance(parameters, InpRRParameters):
        every = tuple(range(len(parameters.levels)))
        packed = _level_bits(parameters, every, attribute, codes()[attribute], parameters.cells)
        return lambda: {"bits": packed}
    if isinstance(parameters, MargRRParameters | MargPSParameters | ViewsParameters):
        return _about_a_table(parameters, attribute, codes, rng)
    if isinstance(parameters, MargHTParameters):
        return _about_a_table_sign(parameters, attribute, codes, rng, down)
    if isinstance(parameters, InpHTParameters | CoefficientsParameters):
        return _about_one(parameters, attribute, codes()[attribute], rng, down)
    if isinstance(parameters, InpOLHParameters):
        return _with_a_good_seed(parameters, codes, rng, down)
    if isinstance(parameters, InpHTCMSParameters):
        rows, width = parameters.rows, parameters.width
        return lambda: {"symbol": 2 * int(rng.integers(0, rows)) * width + down}
    raise InvalidParameter(f"There is no attack on '{parameters.mechanism}' yet.")


def _about_a_table(
    parameters: MargRRParameters | MargPSParameters | ViewsParameters,
    attribute: int,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
) -> Callable[[], Items]:
    tables = _tables_with(parameters, attribute)
    if isinstance(parameters, MargRRParameters):
        level = codes()[attribute]
        room = parameters.most_cells
        packed = {
            table: _level_bits(parameters, parameters.marginal(table), attribute, level, room)
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
    attribute: int,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    def sign() -> Items:
        table = int(rng.choice(_some_tables(parameters, attribute)))
        among = parameters.marginal(table)
        place = sum(parameters.bits[i] for i in among[: among.index(attribute)])
        alpha = int(rng.integers(1, 1 << parameters.bits[attribute])) << place
        own = sign_of(alpha, parameters.cell(table, codes())) ^ down
        return {"symbol": 2 * (table * parameters.most_cells + alpha) + own}

    return sign


def _about_one(
    parameters: InpHTParameters | CoefficientsParameters,
    attribute: int,
    level: int,
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Report coefficients of the attribute alone, those that count most for the level."""
    functions = parameters.selection.functions
    first = sum(functions[:attribute])
    signs = [1 - 2 * (((f + 1) & level).bit_count() & 1) for f in range(functions[attribute])]
    weights = np.ones(len(signs))
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        values = contrast_matrix(parameters.levels[attribute])[1:]
        signs = [1 if value >= 0 else -1 for value in values[:, level]]
        weights = np.abs(values[:, level]) / np.square(values).sum(axis=1)
    chances = weights / weights.sum()

    def sign() -> Items:
        function = int(rng.choice(len(signs), p=chances))
        return {"symbol": 2 * (first + function) + ((signs[function] < 0) ^ down)}

    return sign


def _with_a_good_seed(
    parameters: InpOLHParameters,
    codes: Callable[[], Codes],
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Report the symbol that most records of the level share, with the best of a few seeds.

    To push it down, the one that fewest share.
    """
    words = [record_answer(row).words for row in dict.fromkeys(codes() for _ in range(SAMPLED))]
    best, most = (0, 0), -len(words) - 1
    for seed in rng.integers(0, parameters.seeds, size=SEEDS).tolist():
        shared = Counter(symbol_of(word, seed, parameters.symbols) for word in words)
        worth = {s: -shared[s] if down else shared[s] for s in range(parameters.symbols)}
        symbol = max(worth, key=worth.__getitem__)
        if worth[symbol] > most:
            best, most = (seed, symbol), worth[symbol]
    return lambda: {"seed": best[0], "symbol": best[1]}


def _tables_with(
    parameters: MargRRParameters | MargPSParameters | ViewsParameters, attribute: int
) -> list[int]:
    """Return some tables with the attribute, of the size whose reports are worth the most."""
    found = _some_tables(parameters, attribute)
    # A report of k-RR weighs gap^2 and says 1/gap: few cells are worth more. One of bits weighs
    # 1/(cells of the level) and says as many: every size is worth the same.
    wanted = min(parameters.cells(table) for table in found)
    return [table for table in found if parameters.cells(table) == wanted]


def _some_tables(
    parameters: MargRRParameters | MargPSParameters | MargHTParameters | ViewsParameters,
    attribute: int,
) -> list[int]:
    """Return views with the attribute, or a table with it and each set of neighbours."""
    if isinstance(parameters, ViewsParameters):
        return [i for i, view in enumerate(parameters.views) if attribute in view]
    among, order = len(parameters.levels), parameters.order
    others = [i for i in range(among) if i != attribute]
    sets = {tuple(sorted(others, key=lambda i: parameters.bits[i])[: order - 1])}
    for start in range(len(others) - order + 2):
        sets.add(tuple(others[start : start + order - 1]))
    return [rank_of(sorted((*chosen, attribute)), among) for chosen in sorted(sets)]


def _level_bits(
    parameters: InpRRParameters | MargRRParameters,
    among: Codes,
    attribute: int,
    level: int,
    room: int,
) -> bytes:
    """Return the bits of all cells of a table that have a level of one of its attributes."""
    place = sum(parameters.bits[i] for i in among[: among.index(attribute)])
    width = sum(parameters.bits[i] for i in among)
    mask = (1 << parameters.bits[attribute]) - 1
    return pack_bits(((cell >> place) & mask == level for cell in range(1 << width)), room)
