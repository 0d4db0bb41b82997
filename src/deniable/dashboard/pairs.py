"""Two periods, or two values of a segment, that a reader puts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from deniable.ask.periods import Period, two_periods
from deniable.dashboard.findings import Wanted
from deniable.dashboard.overview import Summary
from deniable.dashboard.queries import BadQuery, NoSuchPage
from deniable.dashboard.sections import views_of
from deniable.errors import InvalidParameter
from deniable.results.table import Epochs

_MOST_EPOCHS = 60


@dataclass(frozen=True)
class Choice:
    """A form of two choices: what it is about, the values with their names, and those chosen.

    Of periods, `until` holds the last epochs that are chosen, each empty where it is the first.
    """

    by: str
    label: str
    values: Sequence[tuple[str, str]]
    one: str
    other: str
    until: tuple[str, str] | None = None


def pair_asked(request: Request, summary: Summary) -> tuple[str, tuple[str, str]]:
    """Return what a query compares by, and the two that it compares.

    Raises:
        NoSuchPage: if there is no such pair.
        BadQuery: if one is no period, or the two overlap.
    """
    by = request.query_params.get("by", "epoch")
    if by == "epoch":
        return by, _periods_asked(request, summary)
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
    if wanted.epoch is None and len(summary.reports) > 1:
        forms.append(_periods_to_choose(request, summary, chosen == "epoch" and all(asked)))
    for segment in summary.question.segments:
        by, values = segment.name, _values(summary, segment.name)
        if len(values) > 1:
            first = asked if by == chosen and all(asked) else (values[0], values[1])
            forms.append(Choice(by, by, [(one, one) for one in values], first[0], first[1]))
    return forms


def _periods_to_choose(request: Request, summary: Summary, chosen: bool) -> Choice:
    """Return the form of two periods; at first the last two epochs, the earlier one first."""
    listed = sorted(summary.reports, reverse=True)[:_MOST_EPOCHS]
    pair = _periods_asked(request, summary) if chosen else (str(listed[1]), str(listed[0]))
    one, other = (Period.of(text) for text in pair)
    # Those of a permanent address may be older than the newest ones.
    ends = {end for period in (one, other) for end in (period.first, period.last)}
    values = [
        (str(epoch), period_name(summary, Period(epoch, epoch)))
        for epoch in sorted({*listed, *ends}, reverse=True)
    ]
    until = ("" if period.single else str(period.last) for period in (one, other))
    return Choice(
        "epoch",
        "Periods from",
        values,
        str(one.first),
        str(other.first),
        (next(until), next(until)),
    )


def _periods_asked(request: Request, summary: Summary) -> tuple[str, str]:
    """Return two periods: `one` and `other` are epochs or ranges, or `one_until` ends a range."""
    texts = []
    for name in ("one", "other"):
        first, last = (request.query_params.get(key, "") for key in (name, f"{name}_until"))
        texts.append(f"{first}-{last}" if last else first)
    try:
        pair = two_periods(texts)
    except InvalidParameter as error:
        raise BadQuery(str(error)) from None
    for period in pair:
        if not any(epoch in period for epoch in summary.reports):
            known = f"{min(summary.reports)}-{max(summary.reports)}" if summary.reports else "none"
            raise NoSuchPage(f"There are no reports of the period {period}, but of {known}.")
    return str(_within(pair[0], summary)), str(_within(pair[1], summary))


def _within(period: Period, summary: Summary) -> Period:
    """Return a period from its first epoch with reports to its last one."""
    known = [epoch for epoch in summary.reports if epoch in period]
    return Period(min(known), max(known))


def pair_title(summary: Summary, by: str, pair: tuple[str, str]) -> str:
    """Return the heading of two that stand side by side."""
    if by != "epoch":
        return " beside ".join(pair)
    return " beside ".join(period_name(summary, Period.of(text)) for text in pair)


def _values(summary: Summary, by: str) -> list[str]:
    known = (segment.labels for segment in summary.question.segments if segment.name == by)
    return list(next(known, ()))


def period_name(summary: Summary, period: Period) -> str:
    """Return the days of a period as people say them, none in the future."""
    days = Epochs(period.first, period.last, summary.question.epoch)
    first, last = days.first_day, days.last_day
    begin = f"{first.day} {first:%b %Y}"
    return begin if last <= first else f"{begin} – {last.day} {last:%b %Y}"
