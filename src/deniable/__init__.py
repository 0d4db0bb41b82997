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
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from deniable.client import Client
    from deniable.notebook import Data
    from deniable.protocol import Survey

__all__ = ["Client", "Data", "Survey", "__version__", "mechanisms", "open", "randomise"]

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


def randomise(
    people: Any,
    survey: Survey | str | Path,
    *,
    questions: Sequence[str] | None = None,
    data: str | Path | None = None,
    seed: int | None = None,
    progress: bool = True,
) -> Data:
    """Randomise values of your own as devices would; estimates then show the truth beside them.

    Guarantees: no true value is written to the store, a message or a repr; of strings, only the
    true shares of the survey's candidates are kept.

    Args:
        people: a CSV file, a frame of pandas or Polars, an Arrow table, or a mapping to lists: a
            row for each person, and a column for each field or attribute, under its name or
            as "question.name"; that of a plain question under the question's id.
        survey: a survey, survey.json or survey.toml.
        questions: their ids; by default all whose columns are there.
        data: a data directory for the reports; by default one that lives as long as the result.
        seed: an integer makes the same reports again. Whoever knows it can take the noise off:
            it is for simulations, and devices draw from the operating system, as the default does.
        progress: False draws no bars.

    Raises:
        InvalidParameter: if a column is missing, or has values outside of the domain.
        StoreError: if the data directory has simulated reports to a question already.
    """
    from deniable import notebook

    return notebook.randomise(
        people, survey, questions=questions, data=data, seed=seed, progress=progress
    )


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for: a client, and --help, need none of the others."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _FOLDERS:
        return import_module(f"deniable.{name}")
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
