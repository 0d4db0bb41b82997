"""Products of small matrices on one thread.

Why: a linear-algebra library that splits a product over threads lets the idle ones spin between
products. Here products are small and many, so that a second thread computes nearly nothing, and
takes a core from whoever else could use it: fits of 36 cells took 3.5 to 7 times as long with two
threads as with one, on two cores that had other work (`benchmarks/associate.py`).
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class OneThread:
    """While inside, products of matrices are computed on one thread.

    Guarantees: what was there before holds again when nobody is inside; results differ by rounding
    at most. Of several threads that are inside at once the first one sets the limit for all, and
    takes it back when it leaves: the others may then be slower, nothing else.

    Cost: 15 ms the first time in a process, then 0.2 ms, and nothing when inside already.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner: threading.Thread | None = None
        self._inside = 0
        self._found: Any = None
        self._limits = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._owner is None:
                self._limits.enter_context(self._libraries().limit(limits=1, user_api="blas"))
                self._owner = threading.current_thread()
            self._inside += self._owner is threading.current_thread()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._owner is not threading.current_thread():
                return
            self._inside -= 1
            if self._inside == 0:
                self._owner = None
                self._limits.close()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function such that each of its calls is inside."""

        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside

    def _libraries(self) -> Any:
        """Return the libraries of this process; SciPy's own is looked for too."""
        if self._found is None:
            importlib.import_module("scipy.linalg")
            self._found = importlib.import_module("threadpoolctl").ThreadpoolController()
        return self._found


one_thread = OneThread()
"""The one of this process: `with one_thread:` or `@one_thread`."""
