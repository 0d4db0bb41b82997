"""One encoder per mechanism: an answer in, a randomised record out."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.krr import KRREncoder
from deniable.client.encoders.rappor import RapporEncoder
from deniable.errors import InvalidParameter
from deniable.protocol import KRRParameters, Parameters, RapporParameters

__all__ = ["Draws", "Encoder", "KRREncoder", "RapporEncoder", "encoder_for"]


def encoder_for(parameters: Parameters) -> Encoder:
    """Return the encoder of a mechanism's parameters.

    Raises:
        InvalidParameter: if this version has no encoder for the mechanism.
    """
    if isinstance(parameters, RapporParameters):
        return RapporEncoder(parameters)
    if isinstance(parameters, KRRParameters):
        return KRREncoder(parameters)
    raise InvalidParameter(f"There is no encoder for {parameters.mechanism!r}: upgrade deniable.")
