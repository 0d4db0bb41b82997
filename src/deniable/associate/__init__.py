"""Association of two or more fields: joint tables, tests of independence, and their errors.

    Variable                a field's reports, and the answers to tell apart in them
    estimate_joint          the joint distribution: table, errors, intervals, certificate
    independence            the test that the variables are independent
    associate               both at once, sharing their work
    independence_of_pairs   the same for many pairs, corrected for their number
    conditional             P(one | the others), with intervals
    odds_ratios             of two variables, with intervals
    hellinger               the distance of two distributions
    crafted_shifts          the largest shift of each cell by a share of crafted reports
    crafted_test            the range of the test's statistic without the crafted reports
    attacked_conditional    conditional shares with intervals that cover such manipulation
    attacked_odds           odds ratios with intervals that cover such manipulation

Everything works from `mechanism.likelihood`; no mechanism's formula stands in this folder.
"""

from deniable.associate.attacked import attacked_conditional, attacked_odds
from deniable.associate.crafted import Shifts, crafted_shifts
from deniable.associate.crafted_tests import CraftedTest, crafted_test
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
    "CraftedTest",
    "Derived",
    "Independence",
    "Joint",
    "Pair",
    "Shifts",
    "Variable",
    "associate",
    "attacked_conditional",
    "attacked_odds",
    "conditional",
    "crafted_shifts",
    "crafted_test",
    "estimate_joint",
    "hellinger",
    "independence",
    "independence_of_pairs",
    "odds_ratios",
]
