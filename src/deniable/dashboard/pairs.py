"""Two epochs, or two values of a segment, that a reader puts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from deniable.dashboard.findings import Wanted
from deniable.dashboard.overview import Summary
from deniable.dashboard.queries import NoSuchPage
from deniable.dashboard.sections import views_of

_MOST_EPOCHS = 60


@dataclass(frozen=True)
class Choice:
    """A form of two choices: what it is about, the values with their names, and those chosen."""

    by: str
    label: str
    values: Sequence[tuple[str, str]]
    one: str
    other: str


def pair_asked(request: Request, summary: Summary) -> tuple[str, tuple[str, str]]:
    """Return what a query compares by, and the two that it compares.

    Raises:
        NoSuchPage: if there is no such pair.
    """
    by = request.query_params.get("by", "epoch")
    one, other = (request.query_params.get(name, "") for name in ("one", "other"))
    known = _values(summary, by)
    if one not in known or other not in known or one == other:
        raise NoSuchPage(
            f"Name two different ones: ?by={by}&one= and &other= of {', '.join(known) or 'none'}."
        )
    return by, (one, other)


def pairs_to_choose(request: Request, summary: Summary, wanted: Wanted) -> list[Choice]:
    """Return the forms by which a reader can put two groups side by side."""
    fields = summary.question.fields
    if not wanted.n or not any(views_of(summary.question, field, 2) for field in fields):
        return []
    chosen = request.query_params.get("by", "epoch")
    asked = tuple(request.query_params.get(name, "") for name in ("one", "other"))
    forms = []
    for by in ("epoch", *(segment.name for segment in summary.question.segments)):
        values = _values(summary, by)
        if len(values) < 2 or (by == "epoch" and wanted.epoch is not None):
            continue
        first = asked if by == chosen and all(asked) else (values[0], values[1])
        if by == "epoch" and first == (values[0], values[1]):
            first = values[1], values[0]  # the earlier one first
        told = [(value, _name(summary, by, value)) for value in values]
        forms.append(Choice(by, "Periods" if by == "epoch" else by, told, first[0], first[1]))
    return forms


def pair_title(summary: Summary, by: str, pair: tuple[str, str]) -> str:
    """Return the heading of two that stand side by side."""
    return " beside ".join(_name(summary, by, one) for one in pair)


def _values(summary: Summary, by: str) -> list[str]:
    if by == "epoch":
        return [str(epoch) for epoch in sorted(summary.reports, reverse=True)[:_MOST_EPOCHS]]
    known = (segment.labels for segment in summary.question.segments if segment.name == by)
    return list(next(known, ()))


def _name(summary: Summary, by: str, value: str) -> str:
    if by != "epoch":
        return value
    days = summary.epoch(int(value))
    first, last = days.first_day, min(days.last_day, summary.today)
    begin = f"{first.day} {first:%b %Y}"
    return begin if last <= first else f"{begin} – {last.day} {last:%b %Y}"
