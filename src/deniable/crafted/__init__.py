"""Crafted reports: how far a share of reports that somebody chose can shift what is estimated.

    leverage            of one crafted report on an answer, in closed form by the kind of its rest
    cells               of one on a cell of a table of attributes, and the largest shift of a cell
    weighted_sums       the largest shift of any weighted sum of a table's cells
    parts, spread       what a report is about, and the best spread over what adds up
    raw_tables          the shift of what is derived from a raw table: ratios, tests, correlations
    search              take the most influential reports out, fit again: where nothing is linear
    joint, joint_krr    the shift of the cells of a joint table; of k-RR in closed form
    ratios              conditional shares and odds ratios of a joint table
    independence        the range of a test of independence
    association         all of an association at once
    smoothed_tables     the search over smoothed tables of attributes
    pairs               all pairs of attributes, and the edges of their tree
    reports             crafted reports themselves, by the kind of their rest
    reports_of_cells    crafted reports about profiles

*Crafted* are reports that were chosen instead of drawn, *shift* is how far they move a number, and
*leverage* how many honest people one of them counts for.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.crafted.cells import table_shift
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.crafted.weighted_sums import weighted_shift
from deniable.crafted.worth import Leverage

__all__ = [
    "Leverage",
    "crafted_reports",
    "leverage_of",
    "table_shift",
    "weighted_shift",
]
