"""A collector in a process of its own, on any day that a driver chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.collector import Settings, create_app, serve
from deniable.store import SqliteStore, Store
from faults.limits import limit_files
from faults.store_child import HastyDatabase, HastyStore


def collect(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Serve until killed; tell the port once requests are answered.

    Args:
        choice: folder (its `data` and `survey.json` are used), today, and perhaps survey, the name
            of another one; place, the address of a database instead of `data`; hasty, to close
            epochs at once; largest_file, a bound on the bytes of every file, which a full disk
            would be.
        tell: called with the port.
    """
    limit_files(choice.get("largest_file"))
    folder = Path(choice["folder"])
    place = choice.get("place", folder / "data")
    settings = Settings(place, folder / choice.get("survey", "survey.json"), port=0, cors=True)
    with _open(settings, choice) as store:
        app = create_app(
            settings, store, settings.survey_path.read_bytes(), today=lambda: choice["today"]
        )
        serve(settings, app, on_listening=lambda address: tell(int(address.rpartition(":")[2])))


def _open(settings: Settings, choice: dict[str, Any]) -> Store:
    if "place" in choice:
        return HastyDatabase(choice["place"])
    kind = HastyStore if choice.get("hasty") else SqliteStore
    return kind(settings.store_path)
