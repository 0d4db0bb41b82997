"""Looking for damage in an archive: every part's place, head, rows and sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import StoreError
from deniable.store.archive.reading import Archive

Progress = Callable[[int, int], None]
"""Called with the number of parts done and the number of all."""


@dataclass(frozen=True)
class CheckedArchive:
    """The outcome of a check.

    Attributes:
        parts: the number of parts.
        reports: the number of reports in those that are sound.
        problems: a sentence for each part that is not.
    """

    parts: int
    reports: int
    problems: tuple[str, ...]


def check_archive(place: str | Path, progress: Progress | None = None) -> CheckedArchive:
    """Read every part of an archive, and compare its records with its head.

    Cost: reading the archive once.

    Raises:
        StoreError: if there is no archive.
    """
    archive = Archive(place)
    reports, problems = 0, []
    for done, name in enumerate(archive.paths, start=1):
        try:
            part = archive.part(name)
            part.check()
            reports += part.head.reports
        except StoreError as error:
            problems.append(str(error))
        if progress is not None:
            progress(done, len(archive.paths))
    return CheckedArchive(len(archive.paths), reports, tuple(problems))
