"""The store for several collectors: tables of one schema of a PostgreSQL database."""

from deniable.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
