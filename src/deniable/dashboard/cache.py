"""Work that is done once, however many ask for it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """The values made last, by key.

    Guarantees: if several threads ask for a missing key, one makes the value and the others
    wait for it; a failure reaches all of them and is not kept.

    Args:
        size: the number of values that are kept; the least recently used goes first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Future[Value]] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, made by `make` if it is not there."""
        with self._lock:
            future = self._values.get(key)
            missing = future is None
            if future is None:
                future = self._values[key] = Future()
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        if missing:
            self._fill(key, future, make)
        return future.result()

    def drop(self, unwanted: Callable[[Key], bool]) -> None:
        """Forget the values of unwanted keys."""
        with self._lock:
            for key in [key for key in self._values if unwanted(key)]:
                del self._values[key]

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._values

    def _fill(self, key: Key, future: Future[Value], make: Callable[[], Value]) -> None:
        try:
            future.set_result(make())
        except BaseException as error:  # every waiting thread must hear of it, then it is raised
            with self._lock:
                self._values.pop(key, None)
            future.set_exception(error)
