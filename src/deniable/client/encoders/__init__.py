"""One encoder per mechanism: an answer in, a randomised record out.

An encoder's file is imported when its mechanism is first used.
"""

from __future__ import annotations

from collections.abc import Callable

from deniable.client.encoders.base import Draws, Encoder
from deniable.errors import InvalidParameter
from deniable.protocol.lazy import look_up
from deniable.protocol.parameters import Parameters

__all__ = ["ENCODERS", "Draws", "Encoder", "encoder_for"]

ENCODERS = {
    "rappor": "RapporEncoder",
    "krr": "KRREncoder",
    "orr": "ORREncoder",
    "pgr": "PGREncoder",
    "hcms": "HCMSEncoder",
    "oue": "OUEEncoder",
    "olh": "OLHEncoder",
    "hadamard": "HadamardEncoder",
    "subset": "SubsetEncoder",
    "inp_rr": "InpRREncoder",
    "inp_ps": "InpPSEncoder",
    "inp_ht": "InpHTEncoder",
    "marg_rr": "MargRREncoder",
    "marg_ps": "MargPSEncoder",
    "marg_ht": "MargHTEncoder",
    "inp_em": "InpEMEncoder",
    "inp_olh": "InpOLHEncoder",
    "inp_ht_cms": "InpHTCMSEncoder",
    "coefficients": "CoefficientsEncoder",
    "views": "ViewsEncoder",
    "prefixes": "PrefixesEncoder",
    "ngrams": "NGramsEncoder",
}
"""The encoder's class of each mechanism, in the file of the mechanism's name."""


def encoder_for(parameters: Parameters) -> Encoder:
    """Return the encoder of a mechanism's parameters.

    Raises:
        InvalidParameter: if this version has no encoder for the mechanism.
    """
    name = parameters.mechanism
    if name not in ENCODERS:
        raise InvalidParameter(f"There is no encoder for {name!r}: upgrade deniable.")
    make: Callable[[Parameters], Encoder] = look_up(f"{__name__}.{name}", ENCODERS[name])
    return make(parameters)
