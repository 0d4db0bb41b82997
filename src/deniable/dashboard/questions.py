"""The page of a question, its pictures and its files."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from deniable.ask import Answered
from deniable.dashboard.findings import CHART_WIDTHS, Findings, Wanted
from deniable.dashboard.overview import Summary, summary_of
from deniable.dashboard.pages import HEADERS, as_json, page, wants_json
from deniable.dashboard.pairs import pair_asked, pair_title, pairs_to_choose
from deniable.dashboard.queries import NoSuchPage, epoch_asked, number_of
from deniable.dashboard.question_json import question_json
from deniable.dashboard.sections import (
    Section,
    beside_section,
    sections_of,
    together_section,
    views_of,
)
from deniable.protocol import Question, Survey
from deniable.protocol.naming import ALL_VERSIONS
from deniable.protocol.retention import keeping_of
from deniable.results.charts.look import THEMES
from deniable.results.explain import promise_of
from deniable.results.table import Table
from deniable.results.table.files import FORMATS, ROW_FORMATS
from deniable.store import Store

_MAX_LISTED_EPOCHS = 60
_PICTURES = ("heat", "tree")
"""The pictures of many attributes together."""
AT_ONCE = 1_000_000
"""The most reports for which a page fits two fields before somebody chooses them."""

Finder = Callable[[Request, Summary, Wanted], tuple[Wanted, Table]]


class QuestionPages:
    """Answers every address below /questions."""

    def __init__(self, store: Store, survey: Survey, findings: Findings) -> None:
        self._store = store
        self._survey = survey
        self._findings = findings

    def page(self, request: Request) -> Response:
        """Return the page of a question: sentence and chart first, then everything else."""
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch)
        found = self._findings.of(wanted) if wanted.n else {}
        question = summary.question
        keeping = keeping_of(self._survey, question)
        sections = [
            one
            for answered in found.values()
            for one in sections_of(self._findings, wanted, summary, answered)
        ]
        attributes, together = self._findings.attributes(wanted), self._both(request, wanted)
        beside = self._beside(request, summary, wanted)
        if wants_json(request):
            shown = [*sections, *([together] if together else []), *beside]
            return as_json(
                request, question_json(summary, keeping, epoch, wanted.n, shown, attributes)
            )
        query = _query_maker(summary, epoch)
        base = f"{request.scope.get('root_path', '').rstrip('/')}/questions/{question.id}"
        return page(
            request,
            "question.html",
            summary=summary,
            question=question,
            n=wanted.n,
            sections=sections,
            attributes=attributes,
            together=together,
            beside=beside,
            pairs=pairs_to_choose(request, summary, wanted),
            names=[field.name for field in question.fields],
            epoch=epoch,
            mark=summary.mark(epoch),
            listed_epochs=sorted(summary.reports, reverse=True)[:_MAX_LISTED_EPOCHS],
            promise=promise_of(max(summary.asked, key=_epsilon), keeping=keeping),
            query=query,
            files=lambda file, kind, asked: f"{base}/{file}.{kind}{query(**asked)}",
        )

    def chart(self, request: Request) -> Response:
        """Return a picture for the page: a field, a theme and a size."""
        return self._drawn(request, self._of_field)

    def tree(self, request: Request) -> Response:
        """Return a picture of the tree that a field's strings were grown from."""
        return self._drawn(request, self._of_tree)

    def attributes(self, request: Request) -> Response:
        """Return a picture of a profile's attributes together: a heat map or a tree."""
        return self._drawn(request, self._of_attributes)

    def view(self, request: Request) -> Response:
        """Return a picture of a field by epoch or segment, or of its cumulative curve."""
        return self._drawn(request, self._of_view)

    def viewed(self, request: Request) -> Response:
        """Return such a view as a file."""
        return self._saved(request, self._of_view)

    def beside(self, request: Request) -> Response:
        """Return two epochs, or two values of a segment, side by side as a file."""
        return self._saved(request, self._of_beside)

    def heat_map(self, request: Request) -> Response:
        """Return the picture of two fields together."""
        return self._drawn(request, self._of_both)

    def result(self, request: Request) -> Response:
        """Return a field's table as a file."""
        return self._saved(request, self._of_field)

    def association(self, request: Request) -> Response:
        """Return the table of two fields as a file."""
        return self._saved(request, self._of_both)

    def _drawn(self, request: Request, find: Finder) -> Response:
        theme = request.query_params.get("theme", "light")
        size = request.query_params.get("size", "wide")
        if theme not in THEMES or size not in CHART_WIDTHS:
            raise NoSuchPage("A picture's theme is light or dark, its size wide, medium or narrow.")
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch, number_of(request, "n"))
        wanted, table = find(request, summary, wanted)
        if table.picture is None:
            raise NoSuchPage("There is no picture of this, but of its table: csv, json, parquet.")
        data = self._findings.chart(wanted, table, theme, size)
        return Response(data, media_type="image/svg+xml", headers=HEADERS)

    def _saved(self, request: Request, find: Finder) -> Response:
        name = request.path_params["format"]
        if name not in FORMATS:
            raise NoSuchPage(f"A table can be had as {', '.join(FORMATS)}.")
        summary, epoch = self._asked(request)
        wanted, table = find(request, summary, self._findings.wanted(summary, epoch))
        if table.picture is None and name not in ROW_FORMATS:
            raise NoSuchPage(f"This table can be had as {', '.join(ROW_FORMATS)}.")
        fields = "" if summary.question.plain else f"-{table.about.field.replace(', ', '-')}"
        # Ids and field names hold only letters, digits, '.', '_' and '-'.
        file_name = f"{summary.question.id}{fields}.{name}"
        return Response(
            self._findings.file(wanted, table, name),
            media_type=FORMATS[name][0],
            headers={**HEADERS, "Content-Disposition": f'attachment; filename="{file_name}"'},
        )

    def _of_field(self, request: Request, _: Summary, wanted: Wanted) -> tuple[Wanted, Table]:
        answered = _answered(request, self._findings.of(wanted))
        if answered.table is None:
            raise NoSuchPage(answered.problem)
        return wanted, answered.table

    def _beside(self, request: Request, summary: Summary, wanted: Wanted) -> list[Section]:
        """Return the sections of two groups side by side, where somebody chose them."""
        if not request.query_params.get("one") or not wanted.n:
            return []
        by, pair = pair_asked(request, summary)
        return [
            beside_section(
                pair_title(summary, by, pair),
                by,
                pair,
                field.name,
                self._findings.beside(wanted, field.name, by, pair),
            )
            for field in summary.question.fields
            if "epoch" in views_of(summary.question, field, 2)
        ]

    def _of_beside(
        self, request: Request, summary: Summary, wanted: Wanted
    ) -> tuple[Wanted, Table]:
        by, pair = pair_asked(request, summary)
        names = {field.name: field for field in summary.question.fields}
        field = names.get(request.query_params.get("field") or next(iter(names)))
        if field is None or "epoch" not in views_of(summary.question, field, 2):
            raise NoSuchPage("There is no such field, or it cannot be compared.")
        found = self._findings.beside(wanted, field.name, by, pair)
        if found.table is None:
            raise NoSuchPage(found.problem)
        return wanted, found.table

    def _of_view(self, request: Request, summary: Summary, wanted: Wanted) -> tuple[Wanted, Table]:
        names = {field.name: field for field in summary.question.fields}
        field = names.get(request.query_params.get("field") or next(iter(names)))
        by = request.query_params.get("by", "epoch")
        known = [] if field is None else views_of(summary.question, field, len(summary.reports))
        if field is None or by not in known:
            raise NoSuchPage(f"There is no such view. There are: {', '.join(known) or 'none'}.")
        found = self._findings.view(wanted, field.name, by)
        if found.table is None:
            raise NoSuchPage(found.problem)
        return wanted, found.table

    def _of_tree(self, request: Request, summary: Summary, wanted: Wanted) -> tuple[Wanted, Table]:
        _, table = self._of_field(request, summary, wanted)
        tree = table.parts.get("tree")
        if tree is None or len(tree.rows) < 2:
            raise NoSuchPage("No string was grown here.")
        return wanted, tree

    def _of_attributes(self, request: Request, _: Summary, wanted: Wanted) -> tuple[Wanted, Table]:
        kind = request.query_params.get("kind", _PICTURES[0])
        found = self._findings.attributes(wanted)
        table = None if found is None else found.tree if kind == "tree" else found.pairs.table
        if kind not in _PICTURES or table is None:
            raise NoSuchPage(f"There is no such picture. There are {' and '.join(_PICTURES)}.")
        return wanted, table

    def _of_both(self, request: Request, summary: Summary, wanted: Wanted) -> tuple[Wanted, Table]:
        if len(summary.question.fields) < 2:
            raise NoSuchPage("This question has one field: nothing can go together with it.")
        fields, _ = _fields_asked(request, summary.question)
        if not self._findings.kept(wanted, fields):
            wanted = self._findings.wanted(summary, wanted.epoch)
        found = self._findings.together(wanted, fields)
        if found.table is None:
            raise NoSuchPage(found.problem)
        return wanted, found.table

    def _both(self, request: Request, wanted: Wanted) -> Section | None:
        """Return the section of some fields; None for questions of one or without reports."""
        question = wanted.question
        if len(question.fields) < 2 or not wanted.n:
            return None
        fields, chosen = _fields_asked(request, question)
        at_once = chosen or wanted.n <= AT_ONCE
        return together_section(
            fields, self._findings.together(wanted, fields) if at_once else None
        )

    def _asked(self, request: Request) -> tuple[Summary, int | None]:
        """Return the question of an address, and the epoch that is asked for."""
        summary = self._summary(request)
        return summary, epoch_asked(request, summary.question.epoch)

    def _summary(self, request: Request) -> Summary:
        question_id = request.path_params["id"]
        every = request.query_params.get("version") == ALL_VERSIONS
        version = None if every else number_of(request, "version")
        level = request.query_params.get("level") or None
        question = self._survey.question(question_id, version, level)
        if question is None:
            raise NoSuchPage("The survey has no such question, or not in this version or level.")
        known = self._survey.versions(question_id) if every else self._survey.levels(question)
        asked = [one for one in known if level is None or one.level == level]
        return summary_of(self._store, self._survey, asked)


def _answered(request: Request, found: dict[str, Answered]) -> Answered:
    """Return the answer about the field of the query; a single field need not be named."""
    names = ", ".join(found)
    name = request.query_params.get("field") or (names if len(found) == 1 else "")
    if name not in found:
        raise NoSuchPage(f"Name a field of this question: ?field= and one of {names}.")
    return found[name]


def _fields_asked(request: Request, question: Question) -> tuple[tuple[str, ...], bool]:
    """Return the two or three fields that are asked for, and whether somebody chose them."""
    names = [field.name for field in question.fields]
    asked = [request.query_params.get(name) or "" for name in ("a", "b", "c")]
    fields = tuple(name for name in asked if name)
    if not fields:
        return (names[0], names[1]), False
    if len(fields) < 2 or not set(fields) <= set(names) or len(set(fields)) < len(fields):
        raise NoSuchPage(f"Name two or three different fields: ?a= and &b= of {', '.join(names)}.")
    return fields, True


def _query_maker(summary: Summary, epoch: int | None) -> Callable[..., str]:
    """Return a function that writes the query of a link to the same version and epoch."""
    number: object = ALL_VERSIONS if summary.all_versions else summary.question.version
    version = number if summary.others else None
    level = None if summary.all_levels else summary.question.level or None

    def query(**more: object) -> str:
        given = {"version": version, "level": level, "epoch": epoch, **more}
        text = urlencode({name: value for name, value in given.items() if value is not None})
        return f"?{text}" if text else ""

    return query


def _epsilon(question: Question) -> int:
    return sum(field.parameters.epsilon_once for field in question.fields)
