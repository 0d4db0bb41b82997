"""The mechanisms for whole populations: simulate, accumulate, estimate, variance, likelihood.

They run over the same integers as the clients (`deniable.protocol`), with NumPy and SciPy.
"""

from importlib.util import find_spec

from deniable.errors import MissingExtra

if find_spec("numpy") is None or find_spec("scipy") is None:
    raise MissingExtra("analysis", "Working with whole populations")

from deniable.mechanisms.base import Candidate, Counts, Estimate, Mechanism
from deniable.mechanisms.hadamard import Hadamard
from deniable.mechanisms.hcms import HCMS
from deniable.mechanisms.krr import KRR
from deniable.mechanisms.members import Members, members_matrix
from deniable.mechanisms.ngrams import NGrams
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.orr import ORR
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.pgr import PGR
from deniable.mechanisms.prefixes import Prefixes
from deniable.mechanisms.rappor import Rappor
from deniable.mechanisms.registry import MECHANISMS, mechanism_for, mechanism_of
from deniable.mechanisms.subset import Subset

__all__ = [
    "HCMS",
    "KRR",
    "MECHANISMS",
    "OLH",
    "ORR",
    "OUE",
    "PGR",
    "Candidate",
    "Counts",
    "Estimate",
    "Hadamard",
    "Mechanism",
    "Members",
    "NGrams",
    "Prefixes",
    "Rappor",
    "Subset",
    "mechanism_for",
    "mechanism_of",
    "members_matrix",
]
