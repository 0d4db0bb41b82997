"""The file of keys: who may send, who may read, who may measure; hashes only, never a secret.

    {"format": 1, "keys": [{"for": "app", "name": "desktop", "hash": "...", ...}]}

`deniable keys` writes it, and a collector reads it at its start and whenever it is told to.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from deniable.errors import InvalidParameter

FORMAT = 1
MAX_KEYS = 1_000
KEYS_AT_ONCE = 2
"""Live keys of one name: the old and the new one."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_HASH = re.compile(r"[0-9a-f]{64}")
_OTHERS_MAY_WRITE = 0o022


class Purpose(StrEnum):
    """The holder of a key: an app sends, an analyst reads, metrics are all that a monitor sees."""

    APP = "app"
    ANALYST = "analyst"
    METRICS = "metrics"


@dataclass(frozen=True)
class Key:
    """A key by its hash.

    Attributes:
        purpose: what it opens.
        name: of the app, the person or the monitor.
        hash: SHA-256 of the secret, in hexadecimal.
        survey: the name of the one survey that it opens; empty for all.
        until: its last day (UTC); None without an end.
        ended: the day on which it was ended; None while it is not.
    """

    purpose: Purpose
    name: str
    hash: str = field(repr=False)
    survey: str = ""
    until: date | None = None
    ended: date | None = None

    @property
    def id(self) -> str:
        """The first digits of the hash, by which people name the key."""
        return self.hash[:8]

    def live(self, today: date) -> bool:
        """Tell whether the key opens anything on a day."""
        return self.ended is None and (self.until is None or today <= self.until)

    def as_json(self) -> dict[str, str | None]:
        """Return the key as the file holds it."""
        said = {name: str(value) if value else None for name, value in asdict(self).items()}
        return {"for": said.pop("purpose"), **said}


def read_keys(path: Path) -> tuple[Key, ...]:
    """Return the keys of a file.

    Raises:
        InvalidParameter: if it cannot be read, or others than its owner may write it.
    """
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = json.load(file)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not JSON"
        raise InvalidParameter(
            f"The keys in {path} cannot be read: {why}.", "Make one with: deniable keys make NAME"
        ) from None
    if mode & _OTHERS_MAY_WRITE:
        raise InvalidParameter(
            f"Others than its owner may write {path}, and so let anybody in.",
            f"Run: chmod 600 {path}",
        )
    try:
        if set(data) != {"format", "keys"} or data["format"] != FORMAT:
            raise ValueError
        if len(data["keys"]) > MAX_KEYS:
            raise ValueError
        return tuple(map(_read, data["keys"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InvalidParameter(
            f"{path} is no file of keys of format {FORMAT}, with at most {MAX_KEYS:,} keys.",
            "Make one with: deniable keys make NAME",
        ) from None


def _read(item: dict[str, str | None]) -> Key:
    name, hashed, survey = item["name"], item["hash"], item["survey"] or ""
    if set(item) != {"for", "name", "hash", "survey", "until", "ended"}:
        raise ValueError
    if not (_NAME.fullmatch(name or "") and _HASH.fullmatch(hashed or "")):
        raise ValueError
    days = [date.fromisoformat(text) if (text := item[end]) else None for end in ("until", "ended")]
    return Key(Purpose(item["for"] or ""), str(name), str(hashed), survey, *days)


def make_key(
    path: Path,
    purpose: Purpose,
    name: str,
    *,
    today: date,
    until: date | None = None,
    survey: str = "",
) -> tuple[Key, str]:
    """Add a key to a file, which is made if it is missing; return it with its secret.

    Guarantees: the secret has 256 random bits, and is kept nowhere. The file is replaced as a
    whole, its mode is 0600, and two who change it at once do so one after the other.

    Raises:
        InvalidParameter: if the name has two live keys already, or cannot be one.
    """
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            "A key's name must have at most 40 letters, digits, dots, dashes and underscores, and "
            f"begin with a letter or a digit. Got {name!r:.60}."
        )
    if until is not None and until < today:
        raise InvalidParameter(f"A key must end today or later. Got {until}.")
    secret = secrets.token_urlsafe(32)
    made = Key(purpose, name, hash_of(secret.encode()), survey, until)

    def add(keys: tuple[Key, ...]) -> tuple[Key, ...]:
        same = [key for key in keys if (key.purpose, key.name) == (purpose, name)]
        live = [key.id for key in same if key.live(today)]
        if len(live) >= KEYS_AT_ONCE:
            raise InvalidParameter(
                f"{name} has {KEYS_AT_ONCE} keys already, {' and '.join(live)}.",
                f"End one: deniable keys end {name} --id {live[0]}",
            )
        if len(keys) >= MAX_KEYS:
            raise InvalidParameter(f"{path} holds {MAX_KEYS:,} keys, the most it can.")
        return (*keys, made)

    _change(path, add)
    return made, secret


def end_keys(path: Path, chosen: Callable[[Key], bool], today: date) -> list[Key]:
    """End the live keys that are chosen; they stay in the file as ended. Return them."""
    ended: list[Key] = []

    def end(keys: tuple[Key, ...]) -> Iterable[Key]:
        for key in keys:
            if key.live(today) and chosen(key):
                ended.append(replace(key, ended=today))
                yield ended[-1]
            else:
                yield key

    _change(path, end)
    return ended


def hash_of(secret: bytes) -> str:
    """Return the SHA-256 of a secret, which is random and needs no slower hash."""
    return hashlib.sha256(secret).hexdigest()


def _change(path: Path, change: Callable[[tuple[Key, ...]], Iterable[Key]]) -> None:
    import fcntl  # the file is an operator's, on a server

    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        keys = list(change(read_keys(path) if path.exists() else ()))
        text = json.dumps({"format": FORMAT, "keys": [key.as_json() for key in keys]}, indent=1)
        owner = path.stat() if path.exists() else None
        new = path.with_name(f".{path.name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            if owner is not None and os.geteuid() == 0:  # root changes a file of the service's
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        os.fsync(folder)
    finally:
        os.close(folder)
