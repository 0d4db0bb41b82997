"""Several groups of one question's reports: epochs, segments, versions, levels.

Each group has unbiased shares with a covariance. This package tests whether groups differ, says by
how much, pools those that agree, and draws a line through epochs. What groups have in common (the
same people, the same permanent noise) is in `together.py`; all else follows from it.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.groups.change import Change, Step, change_over_epochs
from deniable.groups.compare import Compared, compare_groups
from deniable.groups.pool import Pooled, pool_each, pool_groups
from deniable.groups.smooth import local_level
from deniable.groups.together import Groups

__all__ = [
    "Change",
    "Compared",
    "Groups",
    "Pooled",
    "Step",
    "change_over_epochs",
    "compare_groups",
    "local_level",
    "pool_each",
    "pool_groups",
]
