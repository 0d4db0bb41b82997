"""The one door to Numba.

Compiled code is cached on disk beside the package or, where that is read-only, in the user's
cache folder. Where neither can be written Numba raises; then the kernel is compiled in memory,
once per process. The cache knows a kernel by its own file only: after a change of `mixing.py`,
`generator.py` or `adders.py`, whose functions others inline, remove `kernels/__pycache__`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from deniable.errors import MissingExtra

P = ParamSpec("P")
R = TypeVar("R")


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled on its first call; it releases the GIL while it runs.

    Guarantees: the same results with and without a writable cache folder.

    Cost: the first call compiles, about a second; with a cache, once per machine and version.

    Edge cases: integer arithmetic wraps around, as in C. Indices are not checked.

    Raises:
        MissingExtra: if Numba is not installed.
    """
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        raise MissingExtra("analysis", "Fast counting and simulation") from None
    try:
        compiled: Callable[P, R] = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # Numba: "cannot cache function ...: no locator available"
        compiled = numba.njit(nogil=True)(function)
    return compiled
