"""A section of a question's page: a table with its figures, words and files, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deniable.ask import Answered
from deniable.dashboard.findings import (
    CUMULATIVE,
    NUMBERS,
    NUMBERS_OVER_TIME,
    Findings,
    Found,
    Wanted,
)
from deniable.dashboard.overview import Summary
from deniable.protocol import Field, Numbers, Profile, Question
from deniable.results.glance import Glance, glance_of, glance_of_numbers
from deniable.results.table import Table
from deniable.results.table.files import FORMATS, ROW_FORMATS
from deniable.results.words.association import plain_findings
from deniable.results.words.glance import glance_label, glance_sentence


@dataclass(frozen=True)
class Section:
    """A section of a page, about one table.

    Attributes:
        name: its name within the page.
        title: its heading.
        table: None where there is a problem, or where nobody has asked for it yet.
        problem: why there is no table.
        figures: the tables that are drawn, in their order.
        file: the downloads' name below the question's address.
        asked: the downloads' query.
        caption: a description of the table, for those who do not see it.
        fields: those that are chosen, in the section about several fields.
        glance: the one number of a field's section.
        sentences: its result in plain words.
        open: whether the table is shown at once.
    """

    name: str
    title: str
    table: Table | None
    problem: str = ""
    figures: tuple[Table, ...] = ()
    file: str = "result"
    asked: Mapping[str, object] = field(default_factory=dict)
    caption: str = ""
    fields: tuple[str, ...] = ()
    glance: Glance | None = None
    sentences: tuple[str, ...] = ()
    open: bool = False

    @property
    def formats(self) -> tuple[str, ...]:
        """The files that there are of the table."""
        drawn = self.table is not None and self.table.picture is not None
        return tuple(FORMATS if drawn else ROW_FORMATS)

    @property
    def label(self) -> str:
        """The name of the one number."""
        return "" if self.glance is None else glance_label(self.glance)


def field_section(question: Question, answered: Answered, numbers: Table | None) -> Section:
    """Return the section of one field; `numbers` holds the median of a field of numbers."""
    name, table = answered.field.name, answered.table
    figures, glance = [], None
    if table is not None:
        figures.append(table)
        tree = table.parts.get("tree")
        if tree is not None and len(tree.rows) > 1:
            figures.append(tree)
        glance = glance_of(table)
        glance = glance if numbers is None else glance_of_numbers(glance, numbers)
    return Section(
        f"field-{name}",
        "Answers" if question.plain else name,
        table,
        answered.problem,
        tuple(figures),
        asked={"field": None if question.plain else name},
        caption="Estimated share of each answer, with standard error and 95% interval",
        glance=glance,
        sentences=() if glance is None else (glance_sentence(glance),),
    )


def sections_of(
    findings: Findings, wanted: Wanted, summary: Summary, answered: Answered
) -> list[Section]:
    """Return the sections of a field: its estimates, then the further views."""
    question, field = wanted.question, answered.field
    epochs = len(summary.reports) if wanted.epoch is None else 1
    views = views_of(question, field, epochs) if answered.table is not None else []
    found = {by: findings.view(wanted, field.name, by) for by in views}
    numbers = found[NUMBERS].table if NUMBERS in found else None
    return [
        field_section(question, answered, numbers),
        *(view_section(question, field.name, by, one) for by, one in found.items()),
    ]


def views_of(question: Question, field: Field, epochs: int) -> list[str]:
    """Return the further views of a field: over epochs, by each segment, and of numbers a curve."""
    if isinstance(field.domain, Profile) or field.parameters.finds:
        return []
    over = ["epoch"] if epochs > 1 else []
    segments = [segment.name for segment in question.segments]
    if not isinstance(field.domain, Numbers):
        return [*over, *segments]
    numbers = [NUMBERS, *([NUMBERS_OVER_TIME] if epochs > 1 else [])]
    return [*numbers, *over, *segments, CUMULATIVE]


_TITLES = {
    "epoch": "Over time",
    CUMULATIVE: "Cumulative",
    NUMBERS: "Mean and quantiles",
    NUMBERS_OVER_TIME: "Median over time",
}


def view_section(question: Question, field: str, by: str, found: Found) -> Section:
    """Return the section of a view: a line per answer over epochs, values side by side, a curve."""
    title = _TITLES.get(by, f"By {by}")
    table = found.table
    return Section(
        f"view-{field}-{by}",
        title if question.plain else f"{field}: {title.lower()}",
        table,
        found.problem,
        () if table is None or table.picture is None else (table,),
        "view",
        {"field": field, "by": by},
        "Estimated shares of every group, with 95% intervals",
        sentences=() if table is None else table.about.what,
        open=by == NUMBERS,
    )


def together_section(fields: tuple[str, ...], found: Found | None) -> Section:
    """Return the section of some fields together; without a table where nobody chose them yet."""
    asked = dict(zip(("a", "b", "c"), fields, strict=False))
    table = None if found is None else found.table
    title = f"{', '.join(fields[:-1])} and {fields[-1]} together"
    return Section(
        "together",
        title,
        table,
        "" if found is None else found.problem,
        () if table is None else (table,),
        "association",
        asked,
        "Estimated share of each combination, with its 95% interval",
        fields,
        sentences=() if table is None else plain_findings(table),
    )


def beside_section(title: str, by: str, pair: tuple[str, str], field: str, found: Found) -> Section:
    """Return the section of two epochs, or two values of a segment, side by side."""
    table = found.table
    return Section(
        f"beside-{field}",
        title,
        table,
        found.problem,
        () if table is None else (table,),
        "beside",
        {"field": field, "by": by, "one": pair[0], "other": pair[1]},
        "Estimated shares of both, with 95% intervals",
        sentences=() if table is None else table.about.what,
    )
