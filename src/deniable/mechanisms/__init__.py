"""The mechanisms for whole populations: simulate, accumulate, estimate, variance, likelihood.

They run over the same integers as the clients (`deniable.protocol`), with NumPy and SciPy.

Public are the names of `__all__`, where a module stands for its names; all other names are internal
and may change. The modules are for mechanisms of one's own (docs/mechanism.md).
"""

from importlib.util import find_spec

from deniable.errors import MissingExtra

if find_spec("numpy") is None or find_spec("scipy") is None:
    raise MissingExtra("analysis", "Working with whole populations")

from deniable.mechanisms.base import Candidate, Counts, Estimate, Mechanism
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
from deniable.mechanisms.members import Members, members_matrix
from deniable.mechanisms.ngrams import NGrams
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.orr import ORR
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.pgr import PGR
from deniable.mechanisms.prefixes import Prefixes
from deniable.mechanisms.profile_base import ProfileMechanism
from deniable.mechanisms.pure_oracles import PureOracle
from deniable.mechanisms.rappor import Rappor
from deniable.mechanisms.registry import (
    MECHANISMS,
    PROFILE_MECHANISMS,
    mechanism_for,
    mechanism_of,
)
from deniable.mechanisms.subset import Subset
from deniable.mechanisms.views import Views

__all__ = [
    "HCMS",
    "KRR",
    "MECHANISMS",
    "OLH",
    "ORR",
    "OUE",
    "PGR",
    "PROFILE_MECHANISMS",
    "Candidate",
    "Coefficients",
    "Counts",
    "Estimate",
    "Hadamard",
    "InpEM",
    "InpHT",
    "InpHTCMS",
    "InpOLH",
    "InpPS",
    "InpRR",
    "MargHT",
    "MargPS",
    "MargRR",
    "Mechanism",
    "Members",
    "NGrams",
    "Prefixes",
    "ProfileMechanism",
    "PureOracle",
    "Rappor",
    "Subset",
    "Views",
    "base",
    "candidates",
    "coins",
    "mechanism_for",
    "mechanism_of",
    "members_matrix",
    "pure_oracles",
]
