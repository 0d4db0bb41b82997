"""The mechanisms that surveys may name. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.protocol.krr import KRRParameters
from deniable.protocol.parameters import Parameters
from deniable.protocol.rappor import RapporParameters

MECHANISMS: dict[str, type[Parameters]] = {
    parameters.mechanism: parameters for parameters in (RapporParameters, KRRParameters)
}
