"""One table from ask to file: every form of it follows from the kinds of its columns."""

from deniable.results.table.columns import UNLEARNED, Cell, Column, Columns, Ends, Row, plain
from deniable.results.table.files import as_arrow, as_csv, as_json, as_parquet, save
from deniable.results.table.table import LEVEL, About, Epochs, Table, Words, interval_name
from deniable.results.table.tables import Tables
from deniable.results.table.text import as_text

__all__ = [
    "LEVEL",
    "UNLEARNED",
    "About",
    "Cell",
    "Column",
    "Columns",
    "Ends",
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
    "interval_name",
    "plain",
    "save",
]
