"""Files and directories whose names and contents survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path


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
