"""The embedded store: one SQLite file in a data directory."""

from deniable.store.sqlite.store import STORE_FILE, SqliteStore

__all__ = ["STORE_FILE", "SqliteStore"]
