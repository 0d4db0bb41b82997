"""A bound on the size of files, which fails writes as a full disk does."""

from __future__ import annotations

import resource
import signal


def limit_files(largest: int | None) -> None:
    """Let every write beyond so many bytes of a file fail; None for no bound."""
    if largest is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
