"""Where a store is: a directory, a database of PostgreSQL by its address, or an archive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from deniable.errors import InvalidParameter, MissingExtra
from deniable.store.base import Store
from deniable.store.sqlite import STORE_FILE, SqliteStore

if TYPE_CHECKING:
    from deniable.store.postgres import PostgresStore

_SCHEMES = ("postgresql", "postgres")
_SECRETS = ("password", "sslpassword", "passwd")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
DEFAULT_SCHEMA = "deniable"
ARCHIVE_MARKER = "archive.json"


def is_database(place: str | Path) -> bool:
    """Tell whether a place is an address of PostgreSQL, rather than a directory."""
    return isinstance(place, str) and place.partition("://")[0].lower() in _SCHEMES


def place_of(place: str, name: str) -> str:
    """Return the store of one of several surveys: a directory below, or a schema of its own.

    Raises:
        InvalidParameter: as `check_address`.
    """
    if not is_database(place):
        return str(Path(place) / name)
    _, schema = check_address(place)
    parts = urlsplit(place)
    given = [each for each in parse_qsl(parts.query) if each[0] != "schema"]
    query = urlencode([*given, ("schema", f"{schema}_{name.replace('-', '_')}")])
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def open_store(place: str | Path, *, create: bool = True, simulated: bool = False) -> Store:
    """Open the store of a place.

    Args:
        place: a data directory, or postgresql://USER@HOST:PORT/DATABASE, where `?schema=NAME`
            chooses another schema than "deniable". The password stands in PGPASSWORD or in the
            file that PGPASSFILE names, never in the address. Or an archive, to read: its folder,
            or an address such as s3://BUCKET/FOLDER.
        create: whether to make it if it is missing.
        simulated: mark every report that `append` writes as simulated.

    Raises:
        StoreError: if it cannot be opened, or is missing and must not be created.
        InvalidParameter: if the address has a password, or no database.
        MissingExtra: if it is an address, and psycopg is not installed.
    """
    if is_database(place):
        return open_database(str(place), create=create, simulated=simulated)
    if is_archive(place):
        from deniable.store.archive import Archive

        return Archive(place)
    return SqliteStore(Path(place) / STORE_FILE, create=create, simulated=simulated)


def is_archive(place: str | Path) -> bool:
    """Tell whether a place is an archive: a folder marked as one, or an address of files."""
    if isinstance(place, str) and "://" in place:
        return not is_database(place)
    return (Path(place) / ARCHIVE_MARKER).is_file()


def open_database(place: str, **options: object) -> PostgresStore:
    """Open a store of PostgreSQL; `options` are those of `PostgresStore`."""
    check_address(place)  # before anything else can fail and show it
    try:
        from deniable.store.postgres import PostgresStore
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise MissingExtra("postgres", "A store of PostgreSQL") from None
    return PostgresStore(place, **options)  # type: ignore[arg-type]


def check_address(place: str) -> tuple[str, str]:
    """Return what libpq is told, and the schema.

    Raises:
        InvalidParameter: without the address in its words, since a secret may stand anywhere in
            one that cannot be read.
    """
    try:
        parts = urlsplit(place)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        has_password = parts.password is not None or any(
            name.lower() in _SECRETS for name, _ in given
        )
    except ValueError:
        raise InvalidParameter(
            "The address of the database cannot be read.",
            "Write postgresql://USER@HOST:PORT/DATABASE.",
        ) from None
    if has_password:
        raise InvalidParameter(
            "The address of the database has a password in it, where everybody on this machine can "
            "read it.",
            "Set PGPASSWORD, or name a file in PGPASSFILE, and leave it out of the address.",
        )
    if not unquote(parts.path).strip("/") and not any(name == "service" for name, _ in given):
        raise InvalidParameter(
            "The address names no database.", "Write postgresql://USER@HOST:PORT/DATABASE."
        )
    schema = dict(given).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidParameter(
            "The schema must be lower-case letters, digits and underscores, and begin with a "
            "letter."
        )
    rest = urlencode([(name, value) for name, value in given if name != "schema"])
    return urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), schema
