"""The encoders of records: one report about many attributes."""

from __future__ import annotations

from deniable.client.encoders.base import Encoder
from deniable.client.encoders.coefficients import CoefficientsEncoder
from deniable.client.encoders.inp_em import InpEMEncoder
from deniable.client.encoders.inp_ht import InpHTEncoder
from deniable.client.encoders.inp_ht_cms import InpHTCMSEncoder
from deniable.client.encoders.inp_olh import InpOLHEncoder
from deniable.client.encoders.inp_ps import InpPSEncoder
from deniable.client.encoders.inp_rr import InpRREncoder
from deniable.client.encoders.marg_ht import MargHTEncoder
from deniable.client.encoders.marg_ps import MargPSEncoder
from deniable.client.encoders.marg_rr import MargRREncoder
from deniable.client.encoders.views import ViewsEncoder
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
    RecordParameters,
    ViewsParameters,
)


def record_encoder_for(parameters: RecordParameters) -> Encoder:
    """Return the encoder of a mechanism of records.

    Raises:
        InvalidParameter: if this version has no encoder for the mechanism.
    """
    if isinstance(parameters, InpRRParameters):
        return InpRREncoder(parameters)
    if isinstance(parameters, InpPSParameters):
        return InpPSEncoder(parameters)
    if isinstance(parameters, InpHTParameters):
        return InpHTEncoder(parameters)
    if isinstance(parameters, MargRRParameters):
        return MargRREncoder(parameters)
    if isinstance(parameters, MargPSParameters):
        return MargPSEncoder(parameters)
    if isinstance(parameters, MargHTParameters):
        return MargHTEncoder(parameters)
    if isinstance(parameters, InpEMParameters):
        return InpEMEncoder(parameters)
    if isinstance(parameters, InpOLHParameters):
        return InpOLHEncoder(parameters)
    if isinstance(parameters, InpHTCMSParameters):
        return InpHTCMSEncoder(parameters)
    if isinstance(parameters, CoefficientsParameters):
        return CoefficientsEncoder(parameters)
    if isinstance(parameters, ViewsParameters):
        return ViewsEncoder(parameters)
    raise InvalidParameter(f"There is no encoder for {parameters.mechanism!r}: upgrade deniable.")
