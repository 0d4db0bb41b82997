"""The mechanisms that surveys may name. To add one: its file in this folder, and a line here."""

from __future__ import annotations

from deniable.protocol.coefficients import CoefficientsParameters
from deniable.protocol.hadamard import HadamardParameters
from deniable.protocol.hcms import HCMSParameters
from deniable.protocol.inp_em import InpEMParameters
from deniable.protocol.inp_ht import InpHTParameters
from deniable.protocol.inp_ht_cms import InpHTCMSParameters
from deniable.protocol.inp_olh import InpOLHParameters
from deniable.protocol.inp_ps import InpPSParameters
from deniable.protocol.inp_rr import InpRRParameters
from deniable.protocol.krr import KRRParameters
from deniable.protocol.marg_ht import MargHTParameters
from deniable.protocol.marg_ps import MargPSParameters
from deniable.protocol.marg_rr import MargRRParameters
from deniable.protocol.ngrams import NGramsParameters
from deniable.protocol.olh import OLHParameters
from deniable.protocol.orr import ORRParameters
from deniable.protocol.oue import OUEParameters
from deniable.protocol.parameters import Parameters
from deniable.protocol.pgr import PGRParameters
from deniable.protocol.prefixes import PrefixesParameters
from deniable.protocol.rappor import RapporParameters
from deniable.protocol.record_parameters import RecordParameters
from deniable.protocol.subset import SubsetParameters
from deniable.protocol.views import ViewsParameters

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
        InpRRParameters,
        InpPSParameters,
        InpHTParameters,
        MargRRParameters,
        MargPSParameters,
        MargHTParameters,
        InpEMParameters,
        InpOLHParameters,
        InpHTCMSParameters,
        CoefficientsParameters,
        ViewsParameters,
        PrefixesParameters,
        NGramsParameters,
    )
}

RECORD_MECHANISMS = tuple(
    name for name, kind in MECHANISMS.items() if issubclass(kind, RecordParameters)
)
"""Those that report many attributes at once, and nothing else."""
