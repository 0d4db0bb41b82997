"""A file beside the secret that says: this directory has had a database. So a lost one is noticed.

The database must not be forgotten: it holds what the device has disclosed, and which epochs it
has answered. An empty directory may be a new device; one with this marker is not.

The order of making, which every later line relies on:

    1. the database, empty           a crash here: no marker, no secret; begin again
    2. its schema, in one commit     a crash here: the marker is made at the next opening
    3. the marker                    a crash here: nothing was reported yet
    4. the secret and the first report, in one transaction

So a marker or a secret without a schema has only one meaning, and no crash leaves that behind.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from deniable.client import durable
from deniable.client.secret import FILE_NAME as SECRET_NAME

FILE_NAME = "begun"

_TEXT = b"""\
The database in this folder holds what this device has disclosed, and must not be lost alone.
To begin as a new device, delete the whole folder. Do not copy it to other devices.
"""


class Marker:
    """Remembers that the directory has had a database.

    Guarantees: its presence counts, not its contents, so that no crash leaves half of it. It
    stays when the person opts out: what was disclosed stays disclosed.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._secret = directory / SECRET_NAME

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
                durable.write_new(self._path, _TEXT)
        # Also where it was there: whoever made it may not have come as far as this.
        durable.sync_directory(self._path.parent)
