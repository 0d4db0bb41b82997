"""The two parts of a report about many attributes: its public part, and the chance of the rest.

Model: the public part (a coefficient, a table, a view, a row, a seed) is the subject of the report,
and is drawn without regard to the profile. The rest is a sign, a cell, a symbol or bits,
whose probabilities given the public part follow from the profile by one threshold.

Slow and plain, report by report, from the integers alone: an audit should not repeat the mistakes
of `mechanisms/`, which it audits.
"""

from __future__ import annotations

from fractions import Fraction

from deniable.audit.reading import Record, number
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Answer,
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
from deniable.protocol.profile_selection import signs_differ
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.thresholds import as_fraction

Public = tuple[int, ...]
"""The numbers that a report shows in clear."""

Blocks = list[tuple[int, Fraction]]
"""Consecutive numbers of equal probability: their count, and their probability together."""

PUBLIC_ITEMS: dict[str, tuple[str, ...]] = {
    "inp_rr": (),
    "inp_ps": (),
    "inp_em": (),
    "inp_ht": ("coefficient",),
    "coefficients": ("coefficient",),
    "inp_ht_cms": ("row", "coefficient"),
    "inp_olh": ("seed",),
    "marg_rr": ("marginal",),
    "marg_ps": ("marginal",),
    "marg_ht": ("marginal", "coefficient"),
    "views": ("view",),
}
"""The names of the public part's numbers, by mechanism; none where a report is about all."""

BITS = (InpRRParameters, MargRRParameters, InpEMParameters)
"""Mechanisms whose reports are a row of bits, each with a coin of its own."""


def items_of(parameters: ProfileParameters) -> tuple[str, ...]:
    """Return the names of the numbers in the public part of a report.

    Raises:
        InvalidParameter: if this version cannot read the mechanism's reports.
    """
    if parameters.mechanism not in PUBLIC_ITEMS:
        raise InvalidParameter(
            f"There is no audit of '{parameters.mechanism}' yet.",
            "Add it to deniable/audit/profile_reading.py.",
        )
    return PUBLIC_ITEMS[parameters.mechanism]


def shown_by(parameters: ProfileParameters, record: Record) -> tuple[Public, int]:
    """Return the public part of a report, and the rest: a sign, a cell, a symbol, or bits."""
    symbol = number(record, "symbol")
    if isinstance(parameters, BITS):
        bits = record["bits"]
        rest = int.from_bytes(bits if isinstance(bits, bytes) else b"", "little")
        marginal = (number(record, "marginal"),)
        return marginal if isinstance(parameters, MargRRParameters) else (), rest
    if isinstance(parameters, InpOLHParameters):
        return (number(record, "seed"),), symbol
    if isinstance(parameters, MargPSParameters | ViewsParameters):
        about, rest = divmod(symbol, parameters.most_cells)
        return (about,), rest
    if isinstance(parameters, MargHTParameters):
        return divmod(symbol // 2, parameters.most_cells), symbol % 2
    if isinstance(parameters, InpHTCMSParameters):
        return divmod(symbol // 2, parameters.width), symbol % 2
    if isinstance(parameters, InpPSParameters):
        return (), symbol
    items_of(parameters)
    return (symbol // 2,), symbol % 2


def room(parameters: ProfileParameters, public: Public) -> int:
    """Return the number of different rests, given the public part; with bits, their number."""
    if isinstance(parameters, InpRRParameters | InpPSParameters):
        return parameters.cells
    if isinstance(parameters, InpEMParameters):
        return parameters.width
    if isinstance(parameters, MargRRParameters | MargPSParameters | ViewsParameters):
        return parameters.cells(public[0])
    if isinstance(parameters, InpOLHParameters):
        return parameters.symbols
    return 2


def own_rest(parameters: ProfileParameters, answer: Answer, public: Public) -> int:
    """Return the cell, symbol or sign (0 is +1) of a profile; for inp_em its bits.

    Edge cases: a contrast that is no sign has its likelier sign.
    """
    codes = answer.codes
    if isinstance(parameters, InpRRParameters | InpPSParameters | InpEMParameters):
        return parameters.cell(codes)
    if isinstance(parameters, MargRRParameters | MargPSParameters | ViewsParameters):
        return parameters.cell(public[0], codes)
    if isinstance(parameters, InpOLHParameters):
        return symbol_of(answer.words, public[0], parameters.symbols)
    if isinstance(parameters, MargHTParameters):
        return sign_of(public[1], parameters.cell(public[0], codes))
    if isinstance(parameters, InpHTCMSParameters):
        return sign_of(public[1], parameters.bucket(answer, public[0]))
    if isinstance(parameters, InpHTParameters):
        return signs_differ(codes, parameters.masks(public[0]))
    if isinstance(parameters, CoefficientsParameters):
        return int(parameters.value(public[0], codes)[0] < 0)
    raise InvalidParameter(f"There is no audit of '{parameters.mechanism}' yet.")


def kept_chance(parameters: ProfileParameters, answer: Answer, public: Public) -> Fraction:
    """Return P(the rest is the profile's own), for a report that is no row of bits."""
    if isinstance(parameters, CoefficientsParameters):
        plus = as_fraction(parameters.plus(*parameters.value(public[0], answer.codes)))
        return max(plus, 1 - plus)
    if isinstance(parameters, MargPSParameters | ViewsParameters):
        return as_fraction(parameters.keep(parameters.cells(public[0])))
    if isinstance(parameters, InpPSParameters | InpOLHParameters | SignParameters):
        return as_fraction(parameters.keep)
    raise InvalidParameter(f"A report of {parameters.mechanism} is a row of bits.")


def rest_chance(
    parameters: ProfileParameters, answer: Answer, public: Public, rest: int
) -> Fraction:
    """Return P(rest | profile, public part), exactly."""
    own = own_rest(parameters, answer, public)
    if isinstance(parameters, BITS):
        width = room(parameters, public)
        chance = Fraction(1)
        for place, one in enumerate(bit_chances(parameters, own, width)):
            chance *= one if rest >> place & 1 else 1 - one
        return chance
    kept = kept_chance(parameters, answer, public)
    return kept if rest == own else (1 - kept) / (room(parameters, public) - 1)


def bit_chances(parameters: ProfileParameters, own: int, width: int) -> list[Fraction]:
    """Return P(bit is 1) of each bit of a report, given the profile's cell or bits."""
    if isinstance(parameters, InpEMParameters):
        keep = as_fraction(parameters.keep)
        return [keep if own >> place & 1 else 1 - keep for place in range(width)]
    one, zero = parameters.support
    return [one if place == own else zero for place in range(width)]


def public_blocks(parameters: ProfileParameters) -> dict[str, Blocks]:
    """Return the distribution of each number in the public part, in blocks.

    Edge cases: the coefficient of a table is included only where all tables have one size.
    """
    whole = Fraction(1)
    if isinstance(parameters, CoefficientsParameters):
        return {"coefficient": order_blocks(parameters)}
    if isinstance(parameters, InpHTParameters):
        return {"coefficient": [(parameters.coefficients, whole)]}
    if isinstance(parameters, InpHTCMSParameters):
        return {"row": [(parameters.rows, whole)], "coefficient": [(parameters.width, whole)]}
    if isinstance(parameters, InpOLHParameters):
        return {"seed": [(parameters.seeds, whole)]}
    if isinstance(parameters, ViewsParameters):
        return {"view": [(len(parameters.views), whole)]}
    found: dict[str, Blocks] = {}
    if isinstance(parameters, MargRRParameters | MargPSParameters | MargHTParameters):
        found["marginal"] = [(parameters.marginals, whole)]
        if isinstance(parameters, MargHTParameters) and len(parameters.sizes) == 1:
            # The constant coefficient 0 is never drawn.
            found["coefficient"] = [(1, Fraction(0)), (parameters.most_cells - 1, whole)]
    return found


def order_blocks(parameters: CoefficientsParameters) -> Blocks:
    """Return the number of coefficients of each order, and the probability of the order."""
    blocks, left = [], Fraction(1)
    for taken, count in enumerate(parameters.counts, 1):
        last = taken == parameters.order
        drawn = left if last else left * as_fraction(parameters.orders[taken - 1])
        blocks.append((count, drawn))
        left -= drawn
    return blocks
