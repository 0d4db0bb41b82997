"""mechanism = "auto" for records: the best one by closed forms, when a survey is published.

What is compared is n Var, the variance of a cell times the number of reports: its mean over the
cells of the tables of k attributes, before any smoothing.

- `coefficients`: a cell of a table of c cells is 1/c of the sum of its coefficients, each estimated
  from the share s_l = P(l)/n_l of the reports, with P(l) the probability of order l and n_l the
  number of its coefficients: the sum over l of

      n_l C(d - l, k - l)/C(d, k) * ( 1/(2 keep - 1)^2 - s_l ) / s_l / c^2.

- `views`: k-RR over a view, summed to the table, for the share of views that contain it.
- `inp_ps`: k-RR over the whole record, summed to the table; for few cells only.

The first of these within 2% of the least is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from deniable.errors import InvalidParameter
from deniable.protocol.auto import NAME, Choice
from deniable.protocol.coefficients import CoefficientsParameters
from deniable.protocol.domain import Domain
from deniable.protocol.inp_ps import InpPSParameters
from deniable.protocol.parameters import Parameters, Written
from deniable.protocol.record_parameters import AUTHORED, RecordParameters, wanted_shape
from deniable.protocol.thresholds import ONE, as_fraction
from deniable.protocol.views import ViewsParameters, table_noise, view_noise

_NEARLY = 1.02
_FEW_CELLS = 256
"""Above so many cells k-RR over whole records is never the best, and is not looked at."""


class AutoRecord:
    """Stands where a mechanism's parameters stand while a question about a record is read."""

    mechanism = NAME
    authored: Mapping[str, Written] = AUTHORED

    def resolve(self, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
        """Return the integers of the best mechanism."""
        return record_choices(domain, wanted, absent)[0].parameters


def record_choices(
    domain: Domain, wanted: Mapping[str, object], absent: bool = False
) -> list[Choice]:
    """Return the mechanisms that could carry a record, the best one first.

    Args:
        domain: a record.
        wanted: `epsilon`, and `order` if it is not 2.
        absent: whether there is an absent answer: there cannot be one.

    Raises:
        InvalidParameter: if a parameter is missing or out of range, or no mechanism can carry it.
    """
    micros = wanted_shape(NAME, wanted, domain, absent)[2]
    found = list(_possible(domain, wanted, absent, micros))
    if not found:
        raise InvalidParameter(
            "auto found no mechanism that can carry so many levels at this order.",
            "Lower 'order', or the number of levels.",
        )
    best = min(choice.noise for choice in found) * _NEARLY
    return sorted(found, key=lambda choice: 0.0 if choice.noise <= best else choice.noise)


def _possible(
    domain: Domain, wanted: Mapping[str, object], absent: bool, micros: int
) -> Iterator[Choice]:
    """Yield the mechanisms that fit, in order of preference."""
    for kind in (CoefficientsParameters, ViewsParameters, InpPSParameters):
        try:
            parameters = kind.resolve(wanted, domain, absent)
        except InvalidParameter:
            continue  # too many coefficients, views or cells
        if isinstance(parameters, InpPSParameters) and parameters.cells > _FEW_CELLS:
            continue
        yield Choice(parameters, record_noise(parameters, micros), _work(parameters))


def record_noise(parameters: RecordParameters, micros: int) -> float:
    """Return about n Var of a cell of a table of k attributes, as above.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism here.
    """
    levels, order = parameters.levels, parameters.order
    if isinstance(parameters, CoefficientsParameters):
        return coefficients_noise(parameters)
    if isinstance(parameters, ViewsParameters):
        size = round(sum(map(len, parameters.views)) / len(parameters.views))
        return view_noise(levels, order, max(order, size), micros)
    if isinstance(parameters, InpPSParameters):
        table = float(parameters.cells) ** (order / len(levels))
        return table_noise(parameters.cells, table, micros)
    raise InvalidParameter(f"There is no closed form of {parameters.mechanism} for records.")


def coefficients_noise(parameters: CoefficientsParameters) -> float:
    """Return n Var of a cell, averaged over the tables of k attributes."""
    d, k = len(parameters.levels), parameters.order
    gap = float(2 * as_fraction(parameters.keep) - 1)
    cells = math.pow(2.0, sum(parameters.bits) * k / d)
    total, left = 0.0, 1.0
    for taken, count in enumerate(parameters.counts, 1):
        last = taken == k
        drawn = left * (1.0 if last else parameters.orders[taken - 1] / ONE)
        left -= drawn
        per_table = count * math.comb(d - taken, k - taken) / math.comb(d, k)
        share = drawn / count
        total += per_table * (1 / gap**2 - share) / share
    return total / cells**2


def _work(parameters: RecordParameters) -> str:
    """Return what estimating costs, in n reports and C(d, k) tables of 2^k cells."""
    return {
        "coefficients": "n + C(d,k) k 2^k",
        "views": "n + views * cells",
        "inp_ps": "n + 2^d + C(d,k) 2^k",
    }[parameters.mechanism]
