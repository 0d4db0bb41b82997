"""The store of admitted reports: the contract, and the embedded SQLite store."""

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
