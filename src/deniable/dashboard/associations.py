"""Associations for the pages, made once for each number of reports and pair of fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deniable.dashboard.cache import Cache
from deniable.dashboard.findings import CHART_WIDTHS, Wanted
from deniable.errors import InvalidParameter
from deniable.results.associate import associate_question
from deniable.results.associate_files import association_svg, render_association
from deniable.results.associate_result import Association
from deniable.store import Store

KEPT_ASSOCIATIONS = 32
KEPT_FILES = 128
AT_ONCE = 1_000_000
"""Above so many reports a page fits two fields only when somebody chooses them."""


@dataclass(frozen=True)
class Associated:
    """What is known of two fields together: an association, or the problem in its way."""

    fields: tuple[str, str]
    association: Association | None
    problem: str = ""


class Associations:
    """Associations and their files for the pages.

    Guarantees: while no report arrives and no candidate file changes, a second call is instant.

    Cost: the first call reads the reports of both fields into memory and fits their table.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._found: Cache[tuple[object, ...], Associated] = Cache(KEPT_ASSOCIATIONS)
        self._files: Cache[tuple[object, ...], bytes] = Cache(KEPT_FILES)

    def of(self, wanted: Wanted, fields: tuple[str, str]) -> Associated:
        """Return the association of two fields.

        Raises:
            StoreError: if the store cannot be read.
        """
        key = (*wanted.key, fields)
        return self._found.get(key, lambda: self._find(wanted, fields))

    def kept(self, wanted: Wanted, fields: tuple[str, str]) -> bool:
        """Tell whether the association is there already."""
        return (*wanted.key, fields) in self._found

    def file(self, wanted: Wanted, association: Association, name: str) -> bytes:
        """Return an association as one of results.files.FORMATS."""
        key = (*wanted.key, association.fields, name)
        return self._files.get(key, lambda: render_association(association, name))

    def chart(self, wanted: Wanted, association: Association, theme: str, size: str) -> bytes:
        """Return the heat map of an association for a page."""
        width = CHART_WIDTHS[size]
        return self._files.get(
            (*wanted.key, association.fields, theme, size),
            lambda: association_svg(association, theme=theme, width=width, heading=False),
        )

    def _find(self, wanted: Wanted, fields: tuple[str, str]) -> Associated:
        try:
            found = associate_question(
                self._store,
                wanted.question,
                fields,
                candidates_folder=self._folder,
                first_epoch=wanted.epoch,
                last_epoch=wanted.epoch,
            )
        except InvalidParameter as error:
            return Associated(fields, None, str(error))
        return Associated(fields, found)
