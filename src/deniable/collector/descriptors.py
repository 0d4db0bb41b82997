"""The number of files and connections that the system lets this process open."""

from __future__ import annotations

import sys

WANTED = 4_096
"""A thousand connections can arrive between two steps of the event loop, before any of those that
are there has made room. Without a descriptor for it, the system resets a connection."""


def descriptors() -> int:
    """Return how many descriptors the process may have; very many where there is no limit."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def allow_descriptors(wanted: int = WANTED) -> None:
    """Raise the process's limit of descriptors to a number, as far as the system allows it."""
    if sys.platform == "win32" or descriptors() >= wanted:
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
