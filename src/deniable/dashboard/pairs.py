"""The part of a question's page about two fields together, its picture and its files."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from deniable.dashboard.associations import AT_ONCE, Associated, Associations
from deniable.dashboard.findings import CHART_WIDTHS, Findings, Wanted
from deniable.dashboard.overview import Summary
from deniable.dashboard.pages import HEADERS
from deniable.dashboard.queries import NoSuchPage, epoch_asked, number_of
from deniable.protocol import Question
from deniable.results.associate_result import Association
from deniable.results.chart import THEMES
from deniable.results.files import FORMATS


@dataclass(frozen=True)
class Section:
    """What the page says about two fields together.

    Attributes:
        fields: the two that are chosen.
        names: of all fields, to choose from.
        associated: what was found; None where nobody chose and the reports are many.
    """

    fields: tuple[str, str]
    names: tuple[str, ...]
    associated: Associated | None


class PairPages:
    """Answers what a page asks about two fields of a question."""

    def __init__(self, findings: Findings, associations: Associations) -> None:
        self._findings = findings
        self._associations = associations

    def section(self, request: Request, wanted: Wanted) -> Section | None:
        """Return the section of a page; None for questions of one field or without reports."""
        question = wanted.question
        if len(question.fields) < 2 or not wanted.n:
            return None
        fields, chosen = _fields(request, question)
        found = None
        if chosen or wanted.n <= AT_ONCE:
            found = self._associations.of(wanted, fields)
        return Section(fields, tuple(field.name for field in question.fields), found)

    def chart(self, request: Request, summary: Summary) -> Response:
        """Return the heat map: two fields, a theme and a size."""
        theme = request.query_params.get("theme", "light")
        size = request.query_params.get("size", "wide")
        if theme not in THEMES or size not in CHART_WIDTHS:
            raise NoSuchPage("A picture's theme is light or dark, its size wide, medium or narrow.")
        wanted, association = self._association(request, summary)
        data = self._associations.chart(wanted, association, theme, size)
        return Response(data, media_type="image/svg+xml", headers=HEADERS)

    def file(self, request: Request, summary: Summary) -> Response:
        """Return the association of two fields as a file."""
        name = request.path_params["format"]
        if name not in FORMATS:
            raise NoSuchPage(f"An association can be had as {', '.join(FORMATS)}.")
        wanted, association = self._association(request, summary)
        # Ids and field names hold only letters, digits, '.', '_' and '-'.
        file_name = f"{summary.question.id}-{'-'.join(association.fields)}.{name}"
        return Response(
            self._associations.file(wanted, association, name),
            media_type=FORMATS[name][0],
            headers={**HEADERS, "Content-Disposition": f'attachment; filename="{file_name}"'},
        )

    def _association(self, request: Request, summary: Summary) -> tuple[Wanted, Association]:
        if len(summary.question.fields) < 2:
            raise NoSuchPage("This question has one field: nothing can go together with it.")
        fields, _ = _fields(request, summary.question)
        epoch = epoch_asked(request, summary.question.epoch)
        wanted = self._findings.wanted(summary, epoch, number_of(request, "n"))
        if not self._associations.kept(wanted, fields):
            wanted = self._findings.wanted(summary, epoch)
        found = self._associations.of(wanted, fields)
        if found.association is None:
            raise NoSuchPage(found.problem)
        return wanted, found.association


def _fields(request: Request, question: Question) -> tuple[tuple[str, str], bool]:
    """Return the two fields that are asked for, and whether somebody chose them."""
    names = [field.name for field in question.fields]
    one, two = (request.query_params.get(name) for name in ("a", "b"))
    if not one and not two:
        return (names[0], names[1]), False
    if one is None or two is None or one not in names or two not in names or one == two:
        raise NoSuchPage(f"Name two different fields: ?a= and &b= of {', '.join(names)}.")
    return (one, two), True
