"""The 32 bytes from which everything permanent on a device is derived."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from deniable.client import files
from deniable.client.counters import refused
from deniable.client.randomness import SystemDraws
from deniable.errors import InvalidParameter
from deniable.protocol.prf import SECRET_BYTES, derive_key

FILE_NAME = "secret"
_SHORTEST_ACCOUNT_SECRET = 16
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class Secret(Protocol):
    """A source of the device's secret."""

    def load(self) -> bytes:
        """Return the secret's 32 bytes."""


class AccountSecret:
    """A secret that the app supplies, so that one person's devices share one permanent response.

    Guarantees: it is never written to disk.

    Raises:
        InvalidParameter: unless it has at least 16 bytes.
    """

    def __init__(self, account_secret: bytes) -> None:
        if not isinstance(account_secret, bytes) or len(account_secret) < _SHORTEST_ACCOUNT_SECRET:
            raise InvalidParameter(
                f"The 'account_secret' parameter of Client must be at least "
                f"{_SHORTEST_ACCOUNT_SECRET} bytes that nobody can guess."
            )
        self._key = derive_key(account_secret, b"account")

    def __repr__(self) -> str:
        return "AccountSecret(<hidden>)"

    def load(self) -> bytes:
        """Return the 32 bytes derived from what the app supplied."""
        return self._key


class SecretFile:
    """A secret of this device's own, in a file that only its user may read.

    Guarantees: made once, atomically: processes that race agree on one secret, and a crash leaves
    either a whole secret or none. A file of the wrong length is refused, never replaced.

    Edge cases: read for every report and not kept in memory, so that a secret that another
    process wiped is gone here too. File modes hold where the system has them.
    """

    def __init__(self, directory: Path, entropy: SystemDraws) -> None:
        self._path = directory / FILE_NAME
        self._name = os.fspath(self._path)
        self._entropy = entropy

    def __repr__(self) -> str:
        return "SecretFile(<hidden>)"

    def load(self) -> bytes:
        """Return the secret, making it if there is none.

        Raises:
            RecordRefused: with reason "secret" if the file is damaged.
            OSError: if it cannot be read or made.
        """
        try:
            secret = _read(self._name)
        except FileNotFoundError:
            self._make()
            secret = _read(self._name)
        if len(secret) != SECRET_BYTES:
            raise refused("secret")
        return secret

    def wipe(self) -> None:
        """Overwrite and remove the secret, and what a crash may have left of one.

        The name goes first, and is gone from the disk before a byte changes. A crash in between
        would otherwise leave a secret of zeros, which everybody knows, with consent still granted.
        """
        try:
            self._path.rename(self._temporary())
            files.sync_directory(self._path.parent)
        except FileNotFoundError:
            pass
        for path in self._path.parent.glob(f"{FILE_NAME}.*.new"):
            try:
                _overwrite(path)
                path.unlink()
            except FileNotFoundError:
                pass

    def _make(self) -> None:
        files.make_directory(self._path.parent)
        temporary = self._temporary()
        files.write_new(temporary, self._entropy.token(SECRET_BYTES))
        try:
            _publish(temporary, self._path)
        finally:
            temporary.unlink(missing_ok=True)
        files.sync_directory(self._path.parent)

    def _temporary(self) -> Path:
        return self._path.with_name(f"{FILE_NAME}.{self._entropy.token(8).hex()}.new")


def _read(name: str) -> bytes:
    """Return a file's first bytes, one more than a secret has; without a buffer's system calls."""
    handle = os.open(name, _READING)
    try:
        return os.read(handle, SECRET_BYTES + 1)
    finally:
        os.close(handle)


def _publish(temporary: Path, path: Path) -> None:
    """Give the file its name unless another process was first: a link never replaces."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except (OSError, NotImplementedError):
        # No hard links here (FAT, some network file systems). The caller holds the database's
        # write lock, so nobody comes between the question and the answer.
        if not path.exists():
            temporary.rename(path)


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
