"""Many attributes from one small report each: tables of any few of them, raw and smoothed."""

from deniable.marginals.table import Table

__all__ = ["Table"]
