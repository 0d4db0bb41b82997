"""Two or more questions together: which answers go with which, and how sure that is.

    Variable                a field's reports, and the answers to tell apart in them
    estimate_joint          the joint distribution: table, errors, intervals, certificate
    independence            whether the variables depend on each other at all
    associate               both at once, sharing their work
    independence_of_pairs   the same for many pairs, corrected for their number
    conditional             P(one | the others), with intervals
    odds_ratios             of two variables, with intervals
    hellinger               the distance of two distributions
    crafted_shifts          how far a share of crafted reports can have moved each cell

Everything works from `mechanism.likelihood`; no mechanism's formula stands in this folder.
"""

from deniable.associate.crafted import Shifts, crafted_shifts
from deniable.associate.derived import Derived, conditional, hellinger, odds_ratios
from deniable.associate.independence import (
    Independence,
    Pair,
    associate,
    independence,
    independence_of_pairs,
)
from deniable.associate.joint import Joint, estimate_joint
from deniable.associate.variable import OTHER_LABEL, Variable

__all__ = [
    "OTHER_LABEL",
    "Derived",
    "Independence",
    "Joint",
    "Pair",
    "Shifts",
    "Variable",
    "associate",
    "conditional",
    "crafted_shifts",
    "estimate_joint",
    "hellinger",
    "independence",
    "independence_of_pairs",
    "odds_ratios",
]
