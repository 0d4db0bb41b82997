"""Strings nobody listed: grown from their beginnings, tested on people kept apart for it.

from deniable.discover import discover
found = discover(mechanism, counts, domain).found

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.discover.prefixes.discovery import Discovery, discover
from deniable.discover.prefixes.simulate import Run, simulate, simulated_counts
from deniable.discover.train import train
from deniable.discover.verify import Found

__all__ = ["Discovery", "Found", "Run", "discover", "simulate", "simulated_counts", "train"]
