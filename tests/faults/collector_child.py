"""A collector in a process of its own, on any day that a driver chooses."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.collector import Settings, create_app, serve
from deniable.store import SqliteStore


def collect(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Serve until killed; tell the port once requests are answered.

    Args:
        choice: folder (its `data` and `survey.json` are used), today, and perhaps largest_file,
            a bound on the bytes of every file, which a full disk would be.
        tell: called with the port.
    """
    limit_files(choice.get("largest_file"))
    folder = Path(choice["folder"])
    settings = Settings(folder / "data", folder / choice.get("survey", "survey.json"), port=0)
    with SqliteStore(settings.store_path) as store:
        app = create_app(
            settings, store, settings.survey_path.read_bytes(), today=lambda: choice["today"]
        )
        serve(settings, app, on_listening=lambda address: tell(int(address.rpartition(":")[2])))


def limit_files(largest: int | None) -> None:
    """Let every write beyond so many bytes of a file fail, as on a full disk."""
    if largest is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
