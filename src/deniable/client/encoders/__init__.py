"""One encoder per mechanism: an answer in, a randomised record out."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.hadamard import HadamardEncoder
from deniable.client.encoders.hcms import HCMSEncoder
from deniable.client.encoders.krr import KRREncoder
from deniable.client.encoders.ngrams import NGramsEncoder
from deniable.client.encoders.olh import OLHEncoder
from deniable.client.encoders.orr import ORREncoder
from deniable.client.encoders.oue import OUEEncoder
from deniable.client.encoders.pgr import PGREncoder
from deniable.client.encoders.prefixes import PrefixesEncoder
from deniable.client.encoders.rappor import RapporEncoder
from deniable.client.encoders.records import record_encoder_for
from deniable.client.encoders.subset import SubsetEncoder
from deniable.errors import InvalidParameter
from deniable.protocol import (
    HadamardParameters,
    HCMSParameters,
    KRRParameters,
    NGramsParameters,
    OLHParameters,
    ORRParameters,
    OUEParameters,
    Parameters,
    PGRParameters,
    PrefixesParameters,
    RapporParameters,
    RecordParameters,
    SubsetParameters,
)

__all__ = [
    "Draws",
    "Encoder",
    "HCMSEncoder",
    "HadamardEncoder",
    "KRREncoder",
    "NGramsEncoder",
    "OLHEncoder",
    "ORREncoder",
    "OUEEncoder",
    "PGREncoder",
    "PrefixesEncoder",
    "RapporEncoder",
    "SubsetEncoder",
    "encoder_for",
    "record_encoder_for",
]


def encoder_for(parameters: Parameters) -> Encoder:
    """Return the encoder of a mechanism's parameters.

    Raises:
        InvalidParameter: if this version has no encoder for the mechanism.
    """
    if isinstance(parameters, RapporParameters):
        return RapporEncoder(parameters)
    if isinstance(parameters, KRRParameters):
        return KRREncoder(parameters)
    if isinstance(parameters, ORRParameters):
        return ORREncoder(parameters)
    if isinstance(parameters, PGRParameters):
        return PGREncoder(parameters)
    if isinstance(parameters, PrefixesParameters):
        return PrefixesEncoder(parameters)
    if isinstance(parameters, NGramsParameters):
        return NGramsEncoder(parameters)
    if isinstance(parameters, HCMSParameters):
        return HCMSEncoder(parameters)
    if isinstance(parameters, OUEParameters):
        return OUEEncoder(parameters)
    if isinstance(parameters, HadamardParameters):
        return HadamardEncoder(parameters)
    if isinstance(parameters, SubsetParameters):
        return SubsetEncoder(parameters)
    if isinstance(parameters, OLHParameters):
        return OLHEncoder(parameters)
    if isinstance(parameters, RecordParameters):
        return record_encoder_for(parameters)
    raise InvalidParameter(f"There is no encoder for {parameters.mechanism!r}: upgrade deniable.")
