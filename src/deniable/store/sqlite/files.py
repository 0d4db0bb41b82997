"""The files of a store: made whole before they get their name, and watched while they are open."""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from deniable.errors import StoreError
from deniable.store.sqlite.mark import Mark
from deniable.store.sqlite.schema import create_tables

_ANEW = "To begin anew without what was in it, move every file named {name}* away."


def prepare_file(path: Path, create: bool) -> None:
    """Make sure that there is a store's file, and that it is not an empty one.

    Raises:
        StoreError: if it is missing and must not be created or cannot be; if it is empty; or if
            it is missing where a store was.
    """
    try:
        if not path.is_file():
            _make(path, create)
        if not path.is_file():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.stat().st_size == 0:
            raise StoreError(_emptied(path))
    except OSError as error:
        raise StoreError(
            f"The store at {path} cannot be created: {error.strerror}. "
            "Check the path and its permissions."
        ) from error


def _make(path: Path, create: bool) -> None:
    mark = Mark(path).path
    if mark.exists():
        if path.is_file():  # another process made both since the caller looked, the store first
            return
        raise StoreError(
            f"The store at {path} is missing: {mark.name} says that there was one. Restore it. "
            + _ANEW.format(name=path.name)
        )
    if not create:
        raise StoreError(f"There is no store at {path}. Start a collector, or simulate.")
    _make_folder(path.parent)
    _create(path)


def _make_folder(folder: Path) -> None:
    """Make a folder for its owner only, and those above it that are missing.

    Every new name is synced: a power cut that takes a folder takes the store in it.
    """
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync(folder.parent)


def _create(path: Path) -> None:
    """Make a new store under another name, sync it, and give it its own name.

    A link fails where the name is taken. So one of several processes that start at once gives the
    name, all of them use its file, and nobody ever sees half a store.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    # The mode is given here, since SQLite would use the process's default.
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            # Before the first table: free pages can then be given back (`give_back`).
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("BEGIN IMMEDIATE")
            create_tables(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        _sync(temporary)
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
    _sync(path.parent)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _emptied(path: Path) -> str:
    return (
        f"The store at {path} is an empty file: it was emptied or cut, and nothing was written. "
        f"Restore it. {_ANEW.format(name=path.name)}"
    )


class OpenFiles:
    """The files that an open store works on: the database, its log and its shared memory.

    SQLite goes on writing to files that were removed or replaced, and what it writes is lost when
    the process ends. `check` compares the names with the files that were opened.

    Make it after the first statement: from then on SQLite keeps all three until the last
    connection is closed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        real = os.fspath(path.resolve())
        self._opened = [(file, _identity(file)) for file in (real, f"{real}-wal", f"{real}-shm")]

    def check(self, connected: bool = True) -> None:
        """Compare the files with the ones that were opened.

        Args:
            connected: whether the store's own connection is open, so that SQLite keeps the log.

        Raises:
            StoreError: if one of them was removed, replaced or emptied.
        """
        for file, opened in self._opened if connected else self._opened[:1]:
            status = _status(file)
            if status is None or (status.st_dev, status.st_ino) != opened:
                raise StoreError(
                    f"The file {file} was removed or replaced while the store was in use: nothing "
                    "was written. Put it back, or stop all processes that use the store; restore "
                    "it, and start again."
                )
            if file == self._opened[0][0] and not status.st_size:
                raise StoreError(_emptied(self.path))


def _identity(file: str) -> tuple[int, int] | None:
    status = _status(file)
    return None if status is None else (status.st_dev, status.st_ino)


def _status(file: str) -> os.stat_result | None:
    try:
        return os.stat(file)  # noqa: PTH116 - a third of what a Path takes, six in each transaction
    except OSError:
        return None
