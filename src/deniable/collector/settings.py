"""The settings of a collector, from code, flags or the environment."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from deniable import _validate
from deniable.collector.keyring import Keyring
from deniable.collector.keys_file import Key, Purpose
from deniable.errors import InvalidParameter
from deniable.protocol.epochs import ACCEPT_FUTURE_DAYS, ACCEPT_PAST_DAYS
from deniable.protocol.report import MAX_BATCH_BYTES, MAX_BATCH_REPORTS
from deniable.store import STORE_FILE
from deniable.store.place import check_address, is_database

ENV_PREFIX = "DENIABLE_"
WRITE_KEY_VARIABLE = "DENIABLE_WRITE_KEY"
WRITE_KEY_FILE_VARIABLE = "DENIABLE_WRITE_KEY_FILE"
_MIN_TOKEN_LENGTH = 16
_MAX_DAYS = 366
_MAX_WRITE_KEYS = 2
_ORIGIN = re.compile(
    r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?"
    r"|[a-z]+(-web)?-extension://[a-zA-Z0-9-]+"  # of Chromium, Firefox and Safari
)
_HASH = re.compile(r"[0-9a-f]{64}")
_SWITCH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_PLACES = ("data", "survey_path")
_SWITCHES = ("cors", "behind_proxy")
_MAY_BE_NONE = ("metrics_port",)
_NOT_FROM_NAMES = ("write_key_hashes", "name", "ring")
"""Settings that no variable of their own name sets."""
_OWN_RING = Keyring()
"""Stands for the ring of a collector's own keys."""
_WHOLE_NUMBERS = {
    "port": (0, 65_535),
    "metrics_port": (1, 65_535),
    "accept_past_days": (0, _MAX_DAYS),
    "accept_future_days": (0, _MAX_DAYS),
    "max_body": (1_024, MAX_BATCH_BYTES),
    "max_batch": (1, MAX_BATCH_REPORTS),
    "commit_window_ms": (0, 1_000),
    "commit_reports": (1, 1_000_000),
    "waiting_reports": (1, 10_000_000),
    "body_seconds": (1, 3_600),
}


@dataclass(frozen=True)
class Settings:
    """Everything about a collector that an operator may choose.

    Attributes:
        data: where the store is: a directory, or the address of a PostgreSQL database.
        survey_path: the published survey.json.
        host, port: the address to listen on. Port 0 lets the operating system choose.
        write_key_hashes: `hash_write_keys` of what senders must show as a bearer token, one of
            them; none lets anybody write. Two, so that a key can be replaced while both are used.
        analyst_token_hash: `hash_token` of the token that opens results and counters. Empty means
            that they are open on a loopback address and closed on any other.
        accept_past_days, accept_future_days: an epoch is accepted if some day of it lies between
            today minus the first and today plus the second.
        max_body, max_batch: the largest body in bytes, the most reports in a batch; at most what
            the protocol allows, which is the default.
        commit_window_ms, commit_reports: the time that a group waits for further reports, and the
            number at which it is full.
        waiting_reports: the most reports in the queue; beyond, senders are asked to come back.
        body_seconds: the time within which a body must have arrived.
        cors: whether web pages of any origin may send reports and fetch the survey. None leaves
            them out on a loopback address that no proxy stands before, and lets them in elsewhere.
        origins: the origins whose web pages may, such as "https://www.example.org"; with some,
            pages of all others may not. Pages that the collector's own address serves always may.
        behind_proxy: whether a proxy passes requests on. Reading then needs the token whatever the
            address, and any `Host` is served.
        keys: the file of keys that `deniable keys` writes; its keys count beside those above.
        metrics_port: a second port, on 127.0.0.1, that serves the metrics without a token.
        name: of the survey, where a collector serves several; keys may be for one of them.
        ring: the keys that count now. Made of the others, unless several settings share one.

    Guarantees: keys are kept as hashes only, and no hash is in the repr.

    Raises:
        InvalidParameter: on construction, naming the setting and what is allowed.
    """

    data: str | Path
    survey_path: Path
    host: str = "127.0.0.1"
    port: int = 8_000
    write_key_hashes: tuple[str, ...] = field(default=(), repr=False)
    analyst_token_hash: str = field(default="", repr=False)
    accept_past_days: int = ACCEPT_PAST_DAYS
    accept_future_days: int = ACCEPT_FUTURE_DAYS
    max_body: int = MAX_BATCH_BYTES
    max_batch: int = MAX_BATCH_REPORTS
    commit_window_ms: int = 5
    commit_reports: int = 10_000
    waiting_reports: int = 50_000
    body_seconds: int = 30
    cors: bool | None = None
    origins: tuple[str, ...] = ()
    behind_proxy: bool = False
    keys: Path | None = None
    metrics_port: int | None = None
    name: str = ""
    ring: Keyring = field(default=_OWN_RING, repr=False, compare=False)

    def __post_init__(self) -> None:
        if is_database(self.data):
            check_address(str(self.data))  # a password must not get into the repr
        for name, (low, high) in _WHOLE_NUMBERS.items():
            if name not in _MAY_BE_NONE or getattr(self, name) is not None:
                _validate.integer(name, "the collector", getattr(self, name), low, high)
        if not self.host:
            raise _validate.invalid("host", "the collector", "a name or an address", self.host)
        if self.analyst_token_hash and not _HASH.fullmatch(self.analyst_token_hash):
            raise InvalidParameter(
                "The 'analyst_token_hash' parameter of the collector must be the 64 lower-case "
                "hexadecimal digits that hash_token() returns."
            )
        if len(self.write_key_hashes) > _MAX_WRITE_KEYS or not all(
            map(_HASH.fullmatch, self.write_key_hashes)
        ):
            raise InvalidParameter(
                "The 'write_key_hashes' parameter of the collector must be what hash_write_keys() "
                f"returns: at most {_MAX_WRITE_KEYS} hashes."
            )
        if self.origins and self.cors is False:
            raise InvalidParameter("The collector takes either 'origins' or no web pages at all.")
        if not all(map(_ORIGIN.fullmatch, self.origins)):
            raise InvalidParameter(
                "The 'origins' parameter of the collector must be origins as browsers spell them, "
                "such as https://www.example.org or http://localhost:8080: lower case, no path."
            )
        if self.waiting_reports < self.max_batch:
            raise InvalidParameter(
                "The 'waiting_reports' parameter of the collector must be at least 'max_batch' "
                f"({self.max_batch}): otherwise a full batch could never enter."
            )
        if self.ring is _OWN_RING:
            object.__setattr__(self, "ring", Keyring(self._fixed_keys(), self.keys))

    def _fixed_keys(self) -> list[Key]:
        given = [Key(Purpose.APP, "write-key", each) for each in self.write_key_hashes]
        if self.analyst_token_hash:
            given.append(Key(Purpose.ANALYST, "analyst-token", self.analyst_token_hash))
        return given

    @property
    def store_path(self) -> Path:
        """The file of a store in a data directory."""
        return Path(self.data) / STORE_FILE

    @cached_property
    def loopback(self) -> bool:
        """True if only programs on the same machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @cached_property
    def public(self) -> bool:
        """True if programs on other machines can be expected to connect."""
        return self.behind_proxy or not self.loopback

    @cached_property
    def open_to_pages(self) -> bool:
        """True if web pages of other origins may send reports and fetch the survey."""
        if self.origins:
            return True
        return self.public if self.cors is None else self.cors

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **given: object) -> Self:
        """Return settings from variables such as DENIABLE_PORT; what is `given` wins.

        Only names of attributes are read, and DENIABLE_WRITE_KEY (one key, or two with a comma
        or a line end between them) or DENIABLE_WRITE_KEY_FILE (a key on each line) for the hashes
        of keys; a `given` None counts as not given.

        Raises:
            InvalidParameter: if a variable cannot be read, or the two paths are missing.
        """
        environ = os.environ if environ is None else environ
        chosen: dict[str, Any] = {}
        keys = given.get("write_key_hashes")
        chosen["write_key_hashes"] = _write_keys(environ) if keys is None else keys
        for name in (each.name for each in fields(cls) if each.name not in _NOT_FROM_NAMES):
            variable = ENV_PREFIX + name.upper()
            if given.get(name) is not None:
                chosen[name] = given[name]
            elif environ.get(variable):
                chosen[name] = _read(name, variable, environ[variable])
            elif name in _PLACES:
                raise InvalidParameter(f"The collector needs '{name}'.", f"Set {variable}.")
        return cls(**chosen)


def hash_write_keys(text: str) -> tuple[str, ...]:
    """Return the SHA-256 of each write key of a text: separated by commas or line ends.

    Raises:
        InvalidParameter: if there are more than two, or one is not printable ASCII; the message
            does not hold it.
    """
    keys = [key.strip(" \t\r") for key in re.split("[,\n]", text)]
    keys = [key for key in keys if key]
    if len(set(keys)) > _MAX_WRITE_KEYS:
        raise InvalidParameter(
            f"A collector takes at most {_MAX_WRITE_KEYS} write keys, the old and the new one. "
            f"Got {len(set(keys))}. A key holds no comma."
        )
    if not all(key.isascii() and key.isprintable() for key in keys):
        raise InvalidParameter("A write key must be printable ASCII. Make one with new_token().")
    return tuple(hashlib.sha256(key.encode()).hexdigest() for key in dict.fromkeys(keys))


def read_write_keys(path: Path) -> tuple[str, ...]:
    """Return the hashes of the keys in a file, one on each line.

    Raises:
        InvalidParameter: if the file cannot be read or holds no key.
    """
    try:
        found = hash_write_keys(path.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not ASCII"
        raise InvalidParameter(
            f"The write keys in {path} cannot be read: {why}.", "Put one key on each line."
        ) from None
    if not found:
        raise InvalidParameter(f"There is no write key in {path}.", "Put one key on each line.")
    return found


def hash_token(token: str) -> str:
    """Return the stored form of an analyst token: its SHA-256 in hexadecimal.

    A plain hash is enough because the token is random, not a password that could be guessed.

    Raises:
        InvalidParameter: if the token is shorter than 16 characters.
    """
    if len(token) < _MIN_TOKEN_LENGTH:
        raise InvalidParameter(
            f"An analyst token must have at least {_MIN_TOKEN_LENGTH} characters. "
            "Make one with new_token()."
        )
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """Return a fresh analyst token of 256 random bits. Show it once; keep only its hash."""
    return secrets.token_urlsafe(32)


def _read(name: str, variable: str, text: str) -> object:
    """Return the value of an environment variable in the type of its setting."""
    if name == "data":
        return text
    if name in ("survey_path", "keys"):
        return Path(text)
    if name == "origins":
        return tuple(part.strip() for part in text.split(","))
    if name in _WHOLE_NUMBERS:
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise InvalidParameter(f"{variable} must be a whole number. Got {text!r:.40}.")
        return int(text)
    if name in _SWITCHES:
        if text.lower() not in _SWITCH:
            raise InvalidParameter(f"{variable} must be true or false. Got {text!r:.40}.")
        return _SWITCH[text.lower()]
    return text


def _write_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hashes of the keys that the environment names, itself or by a file."""
    keys = environ.get(WRITE_KEY_VARIABLE, "")
    file = environ.get(WRITE_KEY_FILE_VARIABLE, "")
    if keys and file:
        raise InvalidParameter(
            f"{WRITE_KEY_VARIABLE} and {WRITE_KEY_FILE_VARIABLE} are both set.", "Set one of them."
        )
    return read_write_keys(Path(file)) if file else hash_write_keys(keys)
