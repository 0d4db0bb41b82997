"""The store of admitted reports: the contract, the embedded SQLite store, and PostgreSQL.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.store.base import Appended, Batch, Chunk, Overdue, Scope, Store, Tally
from deniable.store.place import open_store
from deniable.store.sqlite import STORE_FILE, SqliteStore

__all__ = [
    "STORE_FILE",
    "Appended",
    "Batch",
    "Chunk",
    "Overdue",
    "Scope",
    "SqliteStore",
    "Store",
    "Tally",
    "open_store",
]
