"""Memory that was needed for a moment goes back to the operating system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def _trimmer() -> Callable[[], object]:
    """Return a function that has the C library give back free memory, or does nothing."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda: None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return lambda: trim(0)


give_back: Callable[[], object] = _trimmer()
"""Give free memory back. Takes some milliseconds; the library keeps it for ever otherwise."""
