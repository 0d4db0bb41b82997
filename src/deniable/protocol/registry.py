"""The mechanisms that surveys may name. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.protocol.hadamard import HadamardParameters
from deniable.protocol.hcms import HCMSParameters
from deniable.protocol.krr import KRRParameters
from deniable.protocol.ngrams import NGramsParameters
from deniable.protocol.olh import OLHParameters
from deniable.protocol.orr import ORRParameters
from deniable.protocol.oue import OUEParameters
from deniable.protocol.parameters import Parameters
from deniable.protocol.pgr import PGRParameters
from deniable.protocol.prefixes import PrefixesParameters
from deniable.protocol.rappor import RapporParameters
from deniable.protocol.subset import SubsetParameters

MECHANISMS: dict[str, type[Parameters]] = {
    parameters.mechanism: parameters
    for parameters in (
        RapporParameters,
        KRRParameters,
        ORRParameters,
        PGRParameters,
        HCMSParameters,
        OUEParameters,
        OLHParameters,
        HadamardParameters,
        SubsetParameters,
        PrefixesParameters,
        NGramsParameters,
    )
}
