"""Groups appended to a store by processes that are killed, each group until it is acknowledged."""

from __future__ import annotations

from pathlib import Path

from faults import store_child
from faults.children import PATIENCE, Child, wait_for

GROUP = 50
_FIRST = 10**15
"""Where the numbers begin: no sender comes so far."""

_GROUPS_IN_A_LIFE = 2_000


class Appending:
    """The second way into a store, beside HTTP: `Store.append` in a process of its own.

    A group that was not acknowledged is appended again by the next process, as it was.
    """

    def __init__(self, folder: Path, day: int) -> None:
        self._folder, self._day = folder, day
        self._done = 0
        self._child: Child | None = None
        self.duplicates = 0

    @property
    def acknowledged(self) -> range:
        """The numbers that are kept: groups are appended one after the other."""
        return range(_FIRST, _FIRST + (self._done + self._told()) * GROUP)

    def start(self) -> None:
        """Start a process that goes on where the last one was killed."""
        self._begin(_GROUPS_IN_A_LIFE)

    def kill(self) -> bool:
        """Kill it; True if it was at work."""
        killed = self._child is not None and self._child.kill()
        self._settle()
        return killed

    def finish(self) -> None:
        """Append one more group without a kill: the one that may be unacknowledged."""
        self._begin(1)
        assert self._child is not None
        code = self._child.finish(PATIENCE)
        self._settle()
        assert code == 0, f"Appending ended with {code}."

    def wait(self) -> None:
        """Wait until this life has appended something, or has ended."""
        child = self._child
        if child is not None:
            wait_for(lambda: child.told, lambda: child.running)

    def _begin(self, groups: int) -> None:
        first = _FIRST + self._done * GROUP
        self._child = Child(
            store_child.append,
            self._folder / "output",
            folder=str(self._folder),
            day=self._day,
            groups=[(first + i * GROUP, GROUP) for i in range(groups)],
        )

    def _told(self) -> int:
        return 0 if self._child is None else len(self._child.told)

    def _settle(self) -> None:
        if self._child is not None:
            self.duplicates += sum(duplicates for _, duplicates in self._child.told)
            self._done += len(self._child.told)
            self._child = None
