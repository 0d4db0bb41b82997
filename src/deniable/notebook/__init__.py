"""Collected reports in a notebook: open a place, name a question, ask it, see a table.

import deniable as dn
data = dn.open("data")
data["homepage"].estimate(by="epoch").chart()

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.notebook.asked import Asked, Which
from deniable.notebook.data import Data, open_data
from deniable.notebook.randomise import randomise

__all__ = ["Asked", "Data", "Which", "open_data", "randomise"]
