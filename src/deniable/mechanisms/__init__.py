"""The mechanisms for whole populations: simulate, accumulate, estimate, variance, likelihood.

They run over the same integers as the clients (`deniable.protocol`), with NumPy and SciPy.
"""

from importlib.util import find_spec

from deniable.errors import MissingExtra

if find_spec("numpy") is None or find_spec("scipy") is None:
    raise MissingExtra("analysis", "Working with whole populations")

from deniable.mechanisms.base import Candidate, Counts, Estimate, Mechanism
from deniable.mechanisms.krr import KRR
from deniable.mechanisms.rappor import Rappor
from deniable.mechanisms.registry import MECHANISMS, mechanism_for

__all__ = [
    "KRR",
    "MECHANISMS",
    "Candidate",
    "Counts",
    "Estimate",
    "Mechanism",
    "Rappor",
    "mechanism_for",
]
