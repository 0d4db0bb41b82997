"""Many attributes from one small report each: tables of any few of them, raw and smoothed.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.marginals.raw import raw_table
from deniable.marginals.smoothed import smoothed_tables
from deniable.marginals.table import Table

__all__ = ["Table", "raw_table", "smoothed_tables"]
