"""People with true answers, made up or given, and the reports that their devices would send.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.crowd.columns import read_columns
from deniable.crowd.given import Given, given_people, known_truth, write_given
from deniable.crowd.population import Population, draw_population

__all__ = [
    "Given",
    "Population",
    "draw_population",
    "given_people",
    "known_truth",
    "read_columns",
    "write_given",
]
