"""The store of admitted reports: the contract, and the embedded SQLite store.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.store.base import Appended, Batch, Chunk, Overdue, Store, Tally
from deniable.store.sqlite import STORE_FILE, SqliteStore, open_store

__all__ = [
    "STORE_FILE",
    "Appended",
    "Batch",
    "Chunk",
    "Overdue",
    "SqliteStore",
    "Store",
    "Tally",
    "open_store",
]
