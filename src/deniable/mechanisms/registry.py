"""The mechanisms that can be estimated. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.coefficients import Coefficients
from deniable.mechanisms.hadamard import Hadamard
from deniable.mechanisms.hcms import HCMS
from deniable.mechanisms.inp_em import InpEM
from deniable.mechanisms.inp_ht import InpHT
from deniable.mechanisms.inp_ht_cms import InpHTCMS
from deniable.mechanisms.inp_olh import InpOLH
from deniable.mechanisms.inp_ps import InpPS
from deniable.mechanisms.inp_rr import InpRR
from deniable.mechanisms.krr import KRR
from deniable.mechanisms.marg_ht import MargHT
from deniable.mechanisms.marg_ps import MargPS
from deniable.mechanisms.marg_rr import MargRR
from deniable.mechanisms.members import Members
from deniable.mechanisms.ngrams import NGrams
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.orr import ORR
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.pgr import PGR
from deniable.mechanisms.prefixes import Prefixes
from deniable.mechanisms.profile_base import ProfileMechanism
from deniable.mechanisms.rappor import Rappor
from deniable.mechanisms.subset import Subset
from deniable.mechanisms.views import Views
from deniable.protocol import Field, Parameters, Profile, Sets

PROFILE_MECHANISMS: dict[str, type[ProfileMechanism]] = {
    mechanism.parameters_type.mechanism: mechanism
    for mechanism in (
        InpRR,
        InpPS,
        InpHT,
        MargRR,
        MargPS,
        MargHT,
        InpEM,
        InpOLH,
        InpHTCMS,
        Coefficients,
        Views,
    )
}
"""Mechanisms whose report covers many attributes: the nine of the paper, and ours."""

_SINGLE: tuple[type[Mechanism], ...] = (
    *(Rappor, KRR, ORR, PGR, HCMS, OUE, OLH, Hadamard, Subset),
    *(Prefixes, NGrams),
)
MECHANISMS: dict[str, type[Mechanism]] = {
    **{mechanism.parameters_type.mechanism: mechanism for mechanism in _SINGLE},
    **PROFILE_MECHANISMS,
}


def mechanism_for(parameters: Parameters) -> Mechanism:
    """Return the mechanism that runs with a survey's integers.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.

    Example:
        >>> from deniable.protocol import Boolean, KRRParameters
        >>> mechanism_for(KRRParameters.resolve({"epsilon": 1.0}, Boolean(), False)).epsilon
        1.0
    """
    kind = MECHANISMS.get(parameters.mechanism)
    if kind is None:
        raise InvalidParameter(
            f"There is no mechanism '{parameters.mechanism}'. Use one of: {', '.join(MECHANISMS)}."
        )
    return kind.from_parameters(parameters)


def mechanism_of(field: Field, absent: bool) -> Mechanism:
    """Return the mechanism of a field: of its parameters, with sets and names of its domain.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.
    """
    mechanism = mechanism_for(field.parameters)
    if isinstance(mechanism, ProfileMechanism) and isinstance(field.domain, Profile):
        return type(mechanism).of(field.parameters, field.domain)
    if isinstance(field.domain, Sets):
        return Members(mechanism, field.domain, absent)
    return mechanism
