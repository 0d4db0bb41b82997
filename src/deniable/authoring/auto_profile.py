"""mechanism = "auto" for profiles: the best one by closed forms, when a survey is published.

What is compared is the error of smoothed tables of k attributes for the number of people that the
survey expects (authoring/profile_noise.py): the fewer they are, the less the noise of interactions
matters, because smoothing takes it off. It follows from n Var of the coefficients of each order:

- `views`: k-RR over one of the views that contain the coefficient's attributes.
- `coefficients`: 1/((2 keep - 1)^2 s_l), s_l = P(l)/n_l the share of the reports about each of the
  n_l coefficients of order l; contrasts that are not +-1 everywhere cost more.
- `inp_ps`: k-RR over the whole profile; for few cells only.

Of those within 8% of the least squared error, 4% in a share's error, the one that knows pairs best
is taken: tests and trees live on pairs, whose noise differs by a factor of two there, and the
closed form is not better than that. `noise`, which people are shown, is n Var of a
cell before any smoothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from deniable.authoring.auto import NAME, Choice
from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.profile_noise import (
    cell_noise,
    cover_orders,
    expected_people,
    mean_answers,
    smoothed_noise,
    view_orders,
)
from deniable.authoring.resolving import resolve
from deniable.authoring.written import Authoring
from deniable.errors import InvalidParameter
from deniable.protocol.coefficients import CoefficientsParameters
from deniable.protocol.contrasts import contrasts_of
from deniable.protocol.domain import Domain
from deniable.protocol.inp_ps import InpPSParameters
from deniable.protocol.parameters import Parameters
from deniable.protocol.profile_parameters import ProfileParameters
from deniable.protocol.thresholds import ONE, as_fraction
from deniable.protocol.views import ViewsParameters

_NEARLY = 1.08
_FEW_CELLS = 256
"""Above this number of cells k-RR over whole profiles is never the best, and is left out."""


def profile_choices(
    domain: Domain, wanted: Mapping[str, object], absent: bool = False
) -> list[Choice]:
    """Return the mechanisms that could carry a profile, the best one first.

    Args:
        domain: a profile.
        wanted: `epsilon`; `order` (by default 2); `people` (by default a million).
        absent: whether there is an absent answer: there cannot be one.

    Raises:
        InvalidParameter: if a parameter is missing or out of range, or no mechanism can carry it.
    """
    answers, _, micros = wanted_shape(NAME, wanted, domain, absent)
    found = list(_possible(domain, wanted, absent, micros))
    if not found:
        _refuse(domain, wanted, absent)
    people = expected_people(NAME, wanted)
    orders = {choice.mechanism: _orders(choice.parameters, micros)[0] for choice in found}
    errors = {name: smoothed_noise(each, answers, people) for name, each in orders.items()}
    best = min(errors.values()) * _NEARLY

    def loss(choice: Choice) -> tuple[float, float]:
        name = choice.mechanism
        if errors[name] > best:
            return errors[name], 0.0
        return 0.0, orders[name][min(1, len(orders[name]) - 1)]

    return sorted(found, key=loss)


def _refuse(domain: Domain, wanted: Mapping[str, object], absent: bool) -> None:
    """Raise InvalidParameter with the figure of the mechanism that grows least."""
    try:
        resolve(CoefficientsParameters, wanted, domain, absent)
    except InvalidParameter as error:
        raise InvalidParameter(f"auto found no mechanism: {error.message}", error.fix) from None


def _possible(
    domain: Domain, wanted: Mapping[str, object], absent: bool, micros: int
) -> Iterator[Choice]:
    """Yield the mechanisms that fit, in order of preference."""
    for kind in (ViewsParameters, CoefficientsParameters, InpPSParameters):
        try:
            parameters = resolve(kind, wanted, domain, absent)
        except InvalidParameter:
            continue  # too many coefficients, views or cells
        # k-RR over all profiles says too little about many.
        if isinstance(parameters, InpPSParameters) and parameters.cells > _FEW_CELLS:
            continue
        yield Choice(parameters, profile_noise(parameters, micros), _work(parameters))


def profile_noise(parameters: Parameters, micros: int) -> float:
    """Return about n Var of a cell of a table of k attributes, before smoothing.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism here.
    """
    orders, answers = _orders(parameters, micros)
    return cell_noise(orders, answers ** len(orders))


def profile_orders(parameters: ProfileParameters) -> list[float]:
    """Return the parts of orders 1, 2, ... k in n Var of a cell, sampling included.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism here.
    """
    return _orders(parameters, parameters.epsilon_once)[0]


def _orders(parameters: Parameters, micros: int) -> tuple[list[float], float]:
    """Return the part of each order in n Var of a cell, and the mean number of answers."""
    # Coefficients, views and whole profiles: three closed forms, one for each mechanism.
    if isinstance(parameters, CoefficientsParameters):
        return _coefficients_orders(parameters)
    if isinstance(parameters, ViewsParameters):
        answers, order = parameters.answers, parameters.order
        return cover_orders(parameters.views, answers, order, micros), mean_answers(answers)
    # k-RR over whole profiles is one view of all attributes.
    if isinstance(parameters, InpPSParameters):
        d, order = len(parameters.answers), parameters.order
        inner = tuple(1 << width for width in parameters.bits)
        return view_orders(inner, order, d, micros), mean_answers(inner)
    raise InvalidParameter(f"There is no closed form of {parameters.mechanism} for profiles.")


def _coefficients_orders(parameters: CoefficientsParameters) -> tuple[list[float], float]:
    """Return the part of each order in n Var of a cell, and the mean number of answers."""
    d, k = len(parameters.answers), parameters.order
    gap = float(2 * as_fraction(parameters.keep) - 1)
    real = parameters.basis == "contrasts"
    mean = mean_answers(parameters.answers if real else [1 << width for width in parameters.bits])
    # An estimated mean of a contrast c is worth 1/mean(c^2) of one of a sign.
    squares = (
        [c.mean_square for r in parameters.answers for c in contrasts_of(r)] if real else [1.0]
    )
    loss = sum(1 / square for square in squares) / len(squares)
    added, left = [], 1.0
    for taken, count in enumerate(parameters.counts, 1):
        drawn = left * (1.0 if taken == k else parameters.orders[taken - 1] / ONE)
        left -= drawn
        per_table = count * math.comb(d - taken, k - taken) / math.comb(d, k)
        # A coefficient of this order is drawn with probability drawn/count, so that its n Var is
        # count/(gap^2 drawn); a cell is 1/c of the sum of its table's coefficients, c = mean^k.
        added.append(per_table * loss**taken * count / (gap**2 * drawn) / mean ** (2 * k))
    return added, mean


def _work(parameters: ProfileParameters) -> str:
    """Return the work of estimating, in n reports and C(d, k) tables of 2^k cells."""
    # The work of the three that "auto" compares.
    return {
        "coefficients": "n + C(d,k) k 2^k",
        "views": "n + views * cells",
        "inp_ps": "n + 2^d + C(d,k) 2^k",
    }[parameters.mechanism]


def _best(wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
    """Return the integers of the best mechanism for the survey's `people`."""
    return profile_choices(domain, wanted, absent)[0].parameters


AUTHORING = Authoring(PROFILE_KEYS, _best)
"""Stands for "auto" while a question about a profile is read."""
