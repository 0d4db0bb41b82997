"""The conductor: (store, question, options) -> tables, one file per kind of question.

from deniable.ask import Options, estimate
(table,) = estimate(store, question, Options(crafted=0.01))
table.save("result.csv")

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.ask.associate import associate
from deniable.ask.beside import beside
from deniable.ask.candidates import Candidates, candidates_for, read_candidates
from deniable.ask.compare import compare
from deniable.ask.discover import discover
from deniable.ask.glance import glance
from deniable.ask.kinds import KINDS, Answered, ask, ask_each
from deniable.ask.numbers import cumulative, numbers
from deniable.ask.options import Options
from deniable.ask.over_time import over_time
from deniable.ask.pooled import estimate
from deniable.ask.profiles import Profiles, profiles

__all__ = [
    "KINDS",
    "Answered",
    "Candidates",
    "Options",
    "Profiles",
    "ask",
    "ask_each",
    "associate",
    "beside",
    "candidates_for",
    "compare",
    "cumulative",
    "discover",
    "estimate",
    "glance",
    "numbers",
    "over_time",
    "profiles",
    "read_candidates",
]
