"""Engines: how counts are accumulated over the chunks of a store, and counts as files.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.engines.accumulated import Accumulated, Cell, Part
from deniable.engines.counts_file import merge_counts, read_counts
from deniable.engines.files import count_file
from deniable.engines.gathering import Gathered, fields_cut, patterns, sample
from deniable.engines.local import accumulate
from deniable.engines.mapping import Engine, Processes, Threads
from deniable.engines.selection import Selection

__all__ = [
    "Accumulated",
    "Cell",
    "Engine",
    "Gathered",
    "Part",
    "Processes",
    "Selection",
    "Threads",
    "accumulate",
    "count_file",
    "fields_cut",
    "merge_counts",
    "patterns",
    "read_counts",
    "sample",
]
