"""Results as people read them: one Table type in every form, with pictures, words and pages.

(table,) = deniable.ask.estimate(store, question)
table.save("result.csv")

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.results.table import About, Column, Table, Tables
from deniable.results.words.shares import in_words

__all__ = ["About", "Column", "Table", "Tables", "in_words"]
