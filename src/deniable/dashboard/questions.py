"""The page of a question, its pictures and its files."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from deniable.dashboard.findings import CHART_WIDTHS, Finding, Findings
from deniable.dashboard.overview import Summary, summary_of
from deniable.dashboard.pages import HEADERS, page
from deniable.dashboard.pairs import PairPages
from deniable.dashboard.queries import NoSuchPage, epoch_asked, number_of
from deniable.dashboard.records import MOST_PAIRS, PICTURES
from deniable.protocol import Survey
from deniable.results import Result
from deniable.results.chart import THEMES
from deniable.results.explain import explain_question
from deniable.results.files import FORMATS
from deniable.store import Store

MAX_TABLE_ROWS = 500
"""So many rows stand on a page; the downloads have all of them."""
MAX_LISTED_EPOCHS = 60


class QuestionPages:
    """Answers every address below /questions."""

    def __init__(self, store: Store, survey: Survey, findings: Findings, pairs: PairPages) -> None:
        self._store = store
        self._survey = survey
        self._findings = findings
        self._pairs = pairs

    def page(self, request: Request) -> Response:
        """Return the page of a question: for each field chart, words, table and downloads."""
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch)
        found = self._findings.of(wanted) if wanted.n else {}
        return page(
            request,
            "question.html",
            summary=summary,
            question=summary.question,
            n=wanted.n,
            mark=summary.mark(epoch),
            findings=list(found.values()),
            together=self._pairs.section(request, wanted),
            epoch=epoch,
            listed_epochs=sorted(summary.reports, reverse=True)[:MAX_LISTED_EPOCHS],
            promise=explain_question(summary.question).sentences,
            formats=tuple(FORMATS),
            max_rows=MAX_TABLE_ROWS,
            max_pairs=MOST_PAIRS,
            query=_query_maker(summary, epoch),
        )

    def chart(self, request: Request) -> Response:
        """Return a picture for the page: a field, a theme and a size."""
        theme, size = _look(request)
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch, number_of(request, "n"))
        result = _result(request, self._findings.of(wanted))
        data = self._findings.chart(wanted, result, theme, size)
        return Response(data, media_type="image/svg+xml", headers=HEADERS)

    def tree(self, request: Request) -> Response:
        """Return a picture of the tree that a field's strings were grown from."""
        theme, size = _look(request)
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch, number_of(request, "n"))
        finding = _finding(request, self._findings.of(wanted))
        if len(finding.tree) < 2:
            raise NoSuchPage("No string was grown here.")
        data = self._findings.tree(wanted, finding, theme, size)
        return Response(data, media_type="image/svg+xml", headers=HEADERS)

    def record(self, request: Request) -> Response:
        """Return a picture of many attributes together: a heat map or a tree."""
        theme, size = _look(request)
        kind = request.query_params.get("kind", PICTURES[0])
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch, number_of(request, "n"))
        found = self._findings.of(wanted) if wanted.n else {}
        sections = [finding.together for finding in found.values() if finding.together]
        if kind not in PICTURES or not sections or sections[0].problem:
            raise NoSuchPage(f"There is no such picture. There are {' and '.join(PICTURES)}.")
        data = self._findings.record(wanted, sections[0], kind, theme, size)
        return Response(data, media_type="image/svg+xml", headers=HEADERS)

    def result(self, request: Request) -> Response:
        """Return a field's result as a file."""
        name = request.path_params["format"]
        if name not in FORMATS:
            raise NoSuchPage(f"A result can be had as {', '.join(FORMATS)}.")
        summary, epoch = self._asked(request)
        wanted = self._findings.wanted(summary, epoch)
        result = _result(request, self._findings.of(wanted))
        field = "" if summary.question.plain else f"-{result.field}"
        # Ids and field names hold only letters, digits, '.', '_' and '-'.
        file_name = f"{summary.question.id}{field}.{name}"
        return Response(
            self._findings.file(wanted, result, name),
            media_type=FORMATS[name][0],
            headers={**HEADERS, "Content-Disposition": f'attachment; filename="{file_name}"'},
        )

    def heat_map(self, request: Request) -> Response:
        """Return the picture of two fields together."""
        return self._pairs.chart(request, self._summary(request))

    def association(self, request: Request) -> Response:
        """Return two fields together as a file."""
        return self._pairs.file(request, self._summary(request))

    def _asked(self, request: Request) -> tuple[Summary, int | None]:
        """Return the question of an address, and the epoch that is asked for."""
        summary = self._summary(request)
        return summary, epoch_asked(request, summary.question.epoch)

    def _summary(self, request: Request) -> Summary:
        question_id, version = request.path_params["id"], number_of(request, "version")
        question = self._survey.question(question_id, version)
        if question is None:
            raise NoSuchPage("The survey has no such question, or not in this version.")
        return summary_of(self._store, self._survey, question)


def _look(request: Request) -> tuple[str, str]:
    """Return the theme and the size of the picture that is asked for."""
    theme = request.query_params.get("theme", "light")
    size = request.query_params.get("size", "wide")
    if theme not in THEMES or size not in CHART_WIDTHS:
        raise NoSuchPage("A picture's theme is light or dark, its size wide, medium or narrow.")
    return theme, size


def _finding(request: Request, found: dict[str, Finding]) -> Finding:
    """Return what is known of the field that is asked for; a single one need not be named."""
    names = ", ".join(found)
    name = request.query_params.get("field") or (names if len(found) == 1 else "")
    finding = found.get(name)
    if finding is None:
        raise NoSuchPage(f"Name a field of this question: ?field= and one of {names}.")
    return finding


def _result(request: Request, found: dict[str, Finding]) -> Result:
    """Return the result of the field that is asked for."""
    finding = _finding(request, found)
    if finding.result is None:
        raise NoSuchPage(finding.problem)
    return finding.result


def _query_maker(summary: Summary, epoch: int | None) -> Callable[..., str]:
    """Return what writes the query of a link to the same version and epoch."""
    version = summary.question.version if summary.others else None

    def query(**more: object) -> str:
        given = {"version": version, "epoch": epoch, **more}
        text = urlencode({name: value for name, value in given.items() if value is not None})
        return f"?{text}" if text else ""

    return query
