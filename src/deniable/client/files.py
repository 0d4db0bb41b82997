"""The files of a client's directory: they survive a power cut, and a marker says it is in use.

The marker is a file beside the secret that says: this directory has had a database. So a lost one
is noticed. The database must not be forgotten: it holds what the device has disclosed, and which
epochs it has answered. An empty directory may be a new device; one with this marker is not.

The order of making, which every later line relies on:

    1. the database, empty           a crash here: no marker, no secret; begin again
    2. its schema, in one commit     a crash here: the marker is made at the next opening
    3. the marker                    a crash here: nothing was reported yet
    4. the secret and the first report, in one transaction

So a marker or a secret without a schema has only one meaning, and no crash leaves that behind.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MARKER_NAME = "begun"

_MARKER_TEXT = b"""\
The database in this folder holds what this device has disclosed, and must not be lost alone.
To begin as a new device, delete the whole folder. Do not copy it to other devices.
"""


def make_directory(path: Path) -> None:
    """Make a directory that only its user may enter, and every missing one above it.

    Each new name is synced: a directory that a power cut takes away would take the ledger with it.
    """
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for each in reversed(missing):
        try:
            each.mkdir(mode=0o700)
        except FileExistsError:
            if not each.is_dir():
                raise
        else:
            sync_directory(each.parent)


def make_empty(path: Path) -> None:
    """Make an empty file that only its user may read, unless the name is taken."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    sync_directory(path.parent)


def write_new(path: Path, data: bytes) -> None:
    """Write a file of a new name that only its user may read; its contents are on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Bring new names in a directory to the disk, where it can be opened (not on Windows)."""
    if os.name == "posix":
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Marker:
    """Remembers that the directory has had a database.

    Guarantees: its presence counts, not its contents, so that no crash leaves half of it. It
    stays when the person opts out: what was disclosed stays disclosed.

    Args:
        directory: the client's.
        secret: the name of the secret's file in it.
    """

    def __init__(self, directory: Path, secret: str) -> None:
        self._path = directory / MARKER_NAME
        self._secret = directory / secret

    def is_set(self) -> bool:
        """Tell whether a database was begun here; a secret says so too.

        Raises:
            OSError: if it cannot be told.
        """
        return self._path.exists() or self._secret.is_file()

    def set(self) -> None:
        """Make the marker unless it is there; it is on the disk when this returns.

        Raises:
            OSError: if that fails.
        """
        if not self._path.exists():
            with suppress(FileExistsError):  # another process was first
                write_new(self._path, _MARKER_TEXT)
        # Also where it was there: whoever made it may not have come as far as this.
        sync_directory(self._path.parent)
