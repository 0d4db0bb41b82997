"""The mechanisms that can be estimated. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.krr import KRR
from deniable.mechanisms.rappor import Rappor
from deniable.protocol import Parameters

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.parameters_type.mechanism: mechanism for mechanism in (Rappor, KRR)
}


def mechanism_for(parameters: Parameters) -> Mechanism:
    """Return the mechanism that runs with a survey's integers.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.
    """
    kind = MECHANISMS.get(parameters.mechanism)
    if kind is None:
        raise InvalidParameter(
            f"There is no mechanism '{parameters.mechanism}'. Use one of: {', '.join(MECHANISMS)}."
        )
    return kind.from_parameters(parameters)
