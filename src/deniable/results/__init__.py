"""Results as people read them: one Table type in every form, with pictures, words and pages.

(table,) = deniable.ask.estimate(store, question)
table.save("result.csv")
"""

from deniable.results.table import (
    About,
    Column,
    Epochs,
    Row,
    Table,
    Tables,
    Words,
    as_arrow,
    as_csv,
    as_json,
    as_parquet,
    as_text,
    save,
)
from deniable.results.words import in_words

__all__ = [
    "About",
    "Column",
    "Epochs",
    "Row",
    "Table",
    "Tables",
    "Words",
    "as_arrow",
    "as_csv",
    "as_json",
    "as_parquet",
    "as_text",
    "in_words",
    "save",
]
