"""Telemetry with plausible deniability.

Each person's device randomises the answer before it leaves; the crowd's statistics are still true.

    from deniable import Client                  in an app: nothing else is loaded
    import deniable as dn
    dn.open("data")["homepage"].estimate()       in a notebook: a table with intervals
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deniable._version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.client import Client
    from deniable.notebook import Data
    from deniable.protocol import Survey

__all__ = ["Client", "Data", "Survey", "__version__", "mechanisms", "open"]

_HOMES = {"Client": "deniable.client", "Data": "deniable.notebook", "Survey": "deniable.protocol"}
_FOLDERS = ("mechanisms",)


def open(place: str | Path, survey: Survey | str | Path | None = None) -> Data:  # noqa: A001
    """Open reports that were collected, to ask them in a notebook or a program.

    Args:
        place: a data directory, an archive, a counts file, or postgresql://USER@HOST/DATABASE.
        survey: the published survey, or its file; by default survey.json in the place, in the
            folder that holds it, or in the working directory.

    Raises:
        StoreError: if there is nothing to read at the place.
        InvalidParameter: if no survey is found, or an address has a password in it.
        MissingExtra: without the packages that estimate: pip install 'deniable[analysis]'
    """
    from deniable.notebook import open_data

    return open_data(place, survey)


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for: a client, and --help, need none of the others."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _FOLDERS:
        return import_module(f"deniable.{name}")
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
