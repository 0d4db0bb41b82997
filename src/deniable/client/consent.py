"""Consent: unknown, granted or denied. Unknown means that nothing is collected.

Who decides, the first that says anything:

1. DO_NOT_TRACK, set to anything but "" or "0": denied.
2. DENIABLE_CONSENT: "granted" grants; anything else but "" denies.
3. A person's opt_out(), stored until opt_in(): a default in an app's code cannot undo it.
4. The `consent` argument of Client.
5. What was stored last.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

from deniable.client import history
from deniable.client.database import Database
from deniable.client.secret import SecretFile
from deniable.errors import LedgerLost

DO_NOT_TRACK = "DO_NOT_TRACK"
VARIABLE = "DENIABLE_CONSENT"


class Consent(Enum):
    """The person's consent, as far as it is known."""

    UNKNOWN = "unknown"
    GRANTED = "granted"
    DENIED = "denied"


_OPTED_OUT = "opted_out"
"""Stored for opt_out(), apart from a denial by the `consent` argument."""

STORED = "SELECT value FROM meta WHERE name = 'consent'"
"""Asks for the stored word."""

_WORDS = frozenset({consent.value for consent in Consent} | {_OPTED_OUT})


def from_environment(environment: Mapping[str, str] = os.environ) -> Consent:
    """Return the consent that the environment states; UNKNOWN if it states none."""
    if environment.get(DO_NOT_TRACK, "").strip() not in ("", "0"):
        return Consent.DENIED
    said = environment.get(VARIABLE, "").strip().lower()
    if not said:
        return Consent.UNKNOWN
    return Consent.GRANTED if said == "granted" else Consent.DENIED


@contextmanager
def invented_people() -> Iterator[None]:
    """Hide DO_NOT_TRACK and the like from audits and demos, whose people are invented.

    The environment speaks for the person here, not for them.
    """
    hidden = {name: os.environ.pop(name) for name in (DO_NOT_TRACK, VARIABLE) if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


class ConsentBook:
    """Decides whether anything may be collected, and carries out opting in and out.

    Guarantees: without consent nothing is written. Opting out destroys the outbox, the secret
    and the tags; epsilon totals, used epochs and pins stay, so that opting in again does not
    reset the ceiling.

    Edge cases: a denial by the environment stops collecting and sending but destroys nothing,
    since whoever sets a variable for one run has not asked for that. If the disk fails, opting
    out still holds for this process.
    """

    def __init__(self, database: Database, secret: SecretFile, argument: Consent) -> None:
        self._database = database
        self.secret_file = secret
        self.argument = argument
        self._here = ""  # what opt_in or opt_out said in this process
        self.last: Consent | None = None
        """The last result of `current`, for callers that cannot wait; None if it failed."""

    def current(self) -> Consent:
        """Return the consent of the first source that decides, without making any file.

        Raises:
            StoreError: if what was stored cannot be read.
        """
        self.last = None
        said = from_environment()
        if said is Consent.UNKNOWN:
            with self._database.reading() as connection:
                said = self._decide(_stored(connection))
        self.last = said
        return said

    def granted(self, connection: sqlite3.Connection) -> bool:
        """Tell within a transaction whether a report may be made."""
        return self.granted_by(_stored(connection))

    def granted_by(self, stored: str | None) -> bool:
        """Tell whether a report may be made, given what `STORED` finds within a transaction."""
        said = from_environment()
        if said is Consent.UNKNOWN:
            said = self._decide(stored)
        self.last = said
        return said is Consent.GRANTED

    def start(self) -> None:
        """Store what the `consent` argument says, where it decides; a denial also wipes.

        Raises:
            StoreError: if that fails; the argument still holds for this process.
        """
        if from_environment() is not Consent.UNKNOWN:
            return
        with self._database.reading() as connection:
            stored = _stored(connection)
        if stored == _OPTED_OUT or (
            stored == Consent.DENIED.value and self.argument is not Consent.GRANTED
        ):
            self._finish_wiping()
        elif self.argument is Consent.GRANTED and stored != Consent.GRANTED.value:
            self._store(Consent.GRANTED.value)
        elif self.argument is Consent.DENIED and self._database.path.exists():
            self._wipe(Consent.DENIED.value)

    def opt_in(self) -> None:
        """Grant consent, and store that.

        Raises:
            StoreError: if it could not be stored; then it is not granted.
        """
        self._store(Consent.GRANTED.value)
        self._here = Consent.GRANTED.value
        self.current()

    def opt_out(self) -> None:
        """Deny consent, store that, and wipe.

        Raises:
            StoreError: if it could not be stored; it still holds for this process.
        """
        self._here = _OPTED_OUT
        self.last = Consent.DENIED if from_environment() is Consent.UNKNOWN else None
        try:
            self._wipe(_OPTED_OUT)
        except LedgerLost:
            self._database.mark()  # the secret may have been all that told of it
            self.secret_file.wipe()
            raise

    def _decide(self, stored: str | None) -> Consent:
        if stored not in _WORDS:  # a word that this version does not know grants nothing
            stored = Consent.UNKNOWN.value
        # Another process's opt-out counts at once; one that failed to reach the disk counts here.
        if _OPTED_OUT in (stored, self._here):
            return Consent.DENIED
        if self._here:
            return Consent(self._here)
        return Consent(stored) if self.argument is Consent.UNKNOWN else self.argument

    def _store(self, word: str) -> None:
        with self._database.transaction() as connection:
            _put(connection, word)

    def _wipe(self, word: str) -> None:
        with self._database.transaction() as connection:
            _put(connection, word)
            history.wipe(connection)
            # Inside the transaction, so that no process makes a report in between.
            self.secret_file.wipe()

    def _finish_wiping(self) -> None:
        """Remove a secret that a crash in the middle of opting out left behind."""
        with self._database.transaction():
            self.secret_file.wipe()


def _stored(connection: sqlite3.Connection | None) -> str | None:
    row = None if connection is None else connection.execute(STORED).fetchone()
    return None if row is None else row[0]


def _put(connection: sqlite3.Connection, word: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('consent', ?)", (word,))
