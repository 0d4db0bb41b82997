"""Engines: how counts are accumulated over the chunks of a store, and counts as files.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.engines.accumulated import Accumulated, Cell, Part
from deniable.engines.counts_file import merge_counts, read_counts
from deniable.engines.local import accumulate
from deniable.engines.selection import Selection

__all__ = [
    "Accumulated",
    "Cell",
    "Part",
    "Selection",
    "accumulate",
    "merge_counts",
    "read_counts",
]
