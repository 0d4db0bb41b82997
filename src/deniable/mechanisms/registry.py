"""The mechanisms that can be estimated. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.hadamard import Hadamard
from deniable.mechanisms.hcms import HCMS
from deniable.mechanisms.krr import KRR
from deniable.mechanisms.members import Members
from deniable.mechanisms.ngrams import NGrams
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.orr import ORR
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.pgr import PGR
from deniable.mechanisms.prefixes import Prefixes
from deniable.mechanisms.rappor import Rappor
from deniable.mechanisms.subset import Subset
from deniable.protocol import Field, Parameters, Sets

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.parameters_type.mechanism: mechanism
    for mechanism in (Rappor, KRR, ORR, PGR, HCMS, OUE, OLH, Hadamard, Subset, Prefixes, NGrams)
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


def mechanism_of(field: Field, absent: bool) -> Mechanism:
    """Return the mechanism of a field: of its parameters, and over sets where its domain is one.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.
    """
    mechanism = mechanism_for(field.parameters)
    if isinstance(field.domain, Sets):
        return Members(mechanism, field.domain, absent)
    return mechanism
