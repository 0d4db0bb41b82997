"""A section of a question's page: a table with its pictures, words and files, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deniable.ask import Answered
from deniable.dashboard.findings import CUMULATIVE, Found
from deniable.protocol import Field, Numbers, Profile, Question
from deniable.results.table import Table


@dataclass(frozen=True)
class Picture:
    """A picture of a section: the file below the question's address, its query, and its table."""

    file: str
    asked: Mapping[str, object]
    table: Table


@dataclass(frozen=True)
class Section:
    """A section of a page, about one table.

    Attributes:
        name: its name within the page.
        title: its heading.
        table: None where there is a problem, or where nobody has asked for it yet.
        problem: why there is no table.
        pictures: in their order.
        file: the downloads' name below the question's address.
        asked: the downloads' query.
        caption: a description of the table, for those who do not see it.
        fields: the two that are chosen, in the section about two fields.
    """

    name: str
    title: str
    table: Table | None
    problem: str = ""
    pictures: tuple[Picture, ...] = ()
    file: str = "result"
    asked: Mapping[str, object] | None = None
    caption: str = ""
    fields: tuple[str, str] = ("", "")


def field_section(question: Question, answered: Answered) -> Section:
    """Return the section of one field."""
    name, table = answered.field.name, answered.table
    pictures = []
    if table is not None:
        pictures.append(Picture("chart.svg", {"field": name}, table))
        tree = table.parts.get("tree")
        if tree is not None and len(tree.rows) > 1:
            pictures.append(Picture("tree.svg", {"field": name}, tree))
    return Section(
        f"field-{name}",
        "Estimates" if question.plain else name,
        table,
        answered.problem,
        tuple(pictures),
        asked={"field": None if question.plain else name},
        caption="Estimated share of each answer, with standard error and 95% interval",
    )


def views_of(question: Question, field: Field, epochs: int) -> list[str]:
    """Return the further views of a field: over epochs, by each segment, and of numbers a curve."""
    if isinstance(field.domain, Profile) or field.parameters.finds:
        return []
    over = ["epoch"] if epochs > 1 else []
    curve = [CUMULATIVE] if isinstance(field.domain, Numbers) else []
    return [*over, *(segment.name for segment in question.segments), *curve]


def view_section(question: Question, field: str, by: str, found: Found) -> Section:
    """Return the section of a view: a line per answer over epochs, values side by side, a curve."""
    titles = {"epoch": "Over time", CUMULATIVE: "Cumulative"}
    title = titles.get(by, f"By {by}")
    asked = {"field": field, "by": by}
    table = found.table
    return Section(
        f"view-{field}-{by}",
        title if question.plain else f"{field}: {title.lower()}",
        table,
        found.problem,
        () if table is None else (Picture("view.svg", asked, table),),
        "view",
        asked,
        "Estimated shares of every group, with 95% intervals",
    )


def together_section(fields: tuple[str, str], found: Found | None) -> Section:
    """Return the section of two fields together; without a table where nobody chose them yet."""
    one, two = fields
    asked = {"a": one, "b": two}
    table = None if found is None else found.table
    return Section(
        "together",
        f"{one} and {two} together",
        table,
        "" if found is None else found.problem,
        () if table is None else (Picture("heat-map.svg", asked, table),),
        "association",
        asked,
        f"Estimated share of each combination, with its 95% interval, and the share of {two} among "
        f"those with the same {one}",
        fields,
    )
