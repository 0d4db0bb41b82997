"""Association of two or more fields: joint tables, tests of independence, and their errors.

    Variable                a field's reports, and the answers to tell apart in them
    estimate_joint          the joint distribution: table, errors, intervals, certificate
    independence            the test that the variables are independent
    associate               both at once, sharing their work
    independence_of_pairs   the same for many pairs, corrected for their number
    conditional             P(one | the others), with intervals
    odds_ratios             of two variables, with intervals
    hellinger               the distance of two distributions

Everything works from `mechanism.likelihood`; no mechanism's formula stands in this folder.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

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
    "Variable",
    "associate",
    "conditional",
    "estimate_joint",
    "hellinger",
    "independence",
    "independence_of_pairs",
    "odds_ratios",
]
