"""Counting that waits at a gate, so that a worker can be killed in the middle of a job."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from deniable.engines.accumulated import Accumulated
from deniable.engines.files import CountFold

_PATIENCE = 300.0


@dataclass(frozen=True)
class GatedFold(CountFold):
    """Counts of files; says that it has begun, and goes on when the gate is open."""

    folder: Path = Path()

    def read(self, path: str) -> Accumulated:
        """Wait, and return the counts of a file."""
        (self.folder / f"begun-{os.getpid()}").touch()
        end = time.monotonic() + _PATIENCE
        while not (self.folder / "gate").exists() and time.monotonic() < end:
            time.sleep(0.05)
        return super().read(path)
