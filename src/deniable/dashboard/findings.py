"""Results for the pages, made once for each number of reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deniable.dashboard.cache import Cache
from deniable.dashboard.overview import Summary
from deniable.dashboard.records import RecordSection
from deniable.engines.local import Accumulated, accumulate
from deniable.engines.records import read_field
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Profile, Question
from deniable.results import Result
from deniable.results.candidates import candidate_path, field_candidates
from deniable.results.chart_files import chart_svg, svg_of
from deniable.results.discovery import discovered, is_discovered
from deniable.results.discovery_tree import Branch, tree_chart
from deniable.results.estimate import result_of
from deniable.results.files import render
from deniable.results.marginals import RecordReports
from deniable.store import Store

KEPT_FINDINGS = 64
KEPT_FILES = 256
CHART_WIDTHS = {"wide": 980, "medium": 640, "narrow": 340}
"""The pictures a page can ask for, in pixels: for a desktop, a tablet and a telephone."""


@dataclass(frozen=True)
class Finding:
    """What is known of one field: a result, or else the problem that stands in its way.

    `together` is there where the field is a record of attributes; `tree` shows how strings that
    nobody listed were grown.
    """

    field: Field
    result: Result | None
    problem: str = ""
    together: RecordSection | None = None
    tree: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What a page is about: a question in one version, all its epochs or one of them.

    Together with the number of reports and the store's stamp it names a finding for ever: real
    reports are only added, and where simulated ones were removed the stamp is another.
    """

    question: Question
    n: int
    epoch: int | None
    candidate_files: tuple[object, ...]
    stamp: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """What tells findings apart."""
        return self.question.digest, self.n, self.epoch, self.candidate_files, self.stamp


class Findings:
    """Estimates and files for the pages.

    Guarantees: while no report arrives and no candidate file changes, a second call is instant.

    Cost: the first call accumulates the question's reports, on one thread: the other processors
    are for collecting.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._found: Cache[tuple[object, ...], tuple[Finding, ...]] = Cache(KEPT_FINDINGS)
        self._files: Cache[tuple[object, ...], bytes] = Cache(KEPT_FILES)

    def wanted(self, summary: Summary, epoch: int | None, n: int | None = None) -> Wanted:
        """Return what to ask for now; with `n`, the finding a page has just shown, if it is kept.

        So a page's pictures are about the same reports as its table, though more have arrived.
        """
        question = summary.question
        files = tuple(self._stamp(field) for field in question.fields)
        if n is not None:
            shown = Wanted(question, n, epoch, files, summary.stamp)
            if shown.key in self._found:
                return shown
        now = summary.n if epoch is None else summary.reports.get(epoch, 0)
        return Wanted(question, now, epoch, files, summary.stamp)

    def of(self, wanted: Wanted) -> dict[str, Finding]:
        """Return a finding per field, by name.

        Raises:
            StoreError: if the store cannot be read.
        """
        found = self._found.get(wanted.key, lambda: self._find(wanted))
        return {finding.field.name: finding for finding in found}

    def file(self, wanted: Wanted, result: Result, name: str) -> bytes:
        """Return a result as one of results.files.FORMATS."""
        key = (*wanted.key, result.field, name)
        return self._files.get(key, lambda: render(result, name))

    def chart(self, wanted: Wanted, result: Result, theme: str, size: str) -> bytes:
        """Return the picture of a result for a page."""
        return self._files.get(
            (*wanted.key, result.field, theme, size),
            lambda: chart_svg(result, theme=theme, width=CHART_WIDTHS[size], heading=False),
        )

    def record(
        self, wanted: Wanted, section: RecordSection, kind: str, theme: str, size: str
    ) -> bytes:
        """Return a picture of many attributes: one of records.PICTURES."""
        return self._files.get(
            (*wanted.key, "record", kind, theme, size),
            lambda: svg_of(section.picture(kind, theme, CHART_WIDTHS[size]).to_dict()),
        )

    def tree(self, wanted: Wanted, finding: Finding, theme: str, size: str) -> bytes:
        """Return the picture of the tree that strings were grown from."""
        width = CHART_WIDTHS[size]
        return self._files.get(
            (*wanted.key, finding.field.name, "tree", theme, size),
            lambda: svg_of(tree_chart(finding.tree, theme=theme, width=width).to_dict()),
        )

    def _find(self, wanted: Wanted) -> tuple[Finding, ...]:
        accumulated = accumulate(
            self._store,
            wanted.question,
            first_epoch=wanted.epoch,
            last_epoch=wanted.epoch,
            threads=1,
        )
        return tuple(self._field(accumulated, field, wanted) for field in wanted.question.fields)

    def _field(self, accumulated: Accumulated, field: Field, wanted: Wanted) -> Finding:
        try:
            if is_discovered(field) and not field.candidates:
                found = discovered(
                    accumulated,
                    field,
                    reports=lambda: read_field(
                        self._store,
                        wanted.question,
                        field.name,
                        first_epoch=wanted.epoch,
                        last_epoch=wanted.epoch,
                    ),
                )
                return Finding(field, found.result, tree=found.tree)
            candidates = field_candidates(field, self._folder)
            result = result_of(accumulated, field, candidates)
            if not isinstance(field.domain, Profile):
                return Finding(field, result)
            return Finding(field, result, "", RecordSection(RecordReports.of(accumulated)))
        except InvalidParameter as error:
            return Finding(field, None, str(error))

    def _stamp(self, field: Field) -> object:
        """Return what changes when a field's candidate file does."""
        if not field.candidates:
            return None
        try:
            status = candidate_path(self._folder, field).stat()
        except (OSError, InvalidParameter):
            return None
        return status.st_mtime_ns, status.st_size
