"""How a plan is printed: a row per mechanism or field, then what must be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from deniable.cli.budget_table import show_budget
from deniable.cli.output import out
from deniable.plan import Needed, Plan, Planned, Prediction, SurveyPlan
from deniable.privacy.shuffling.central import CONDITIONS
from deniable.protocol import Profile, Strings
from deniable.protocol.survey import PLAIN_FIELD

_LEARNED = ("error", "1% ±", "smallest", "learned")
_COSTS = ("bytes", "words", "steps", "leverage", "ε once", "ε ever")
_MEANINGS = (
    "error: expected error of a share, one standard deviation (of strings: a rare one; of records: "
    "a cell of a raw table)",
    "1% ±: half the width of the 95% interval of a share of 1%",
    "smallest: the share that is told from nothing every second time; learned: so many equally "
    "frequent answers are (prefixes, ngrams: found, though nobody listed them)",
    "words: numbers that the collector keeps; steps: of counting and estimating, about",
    "leverage: for how many honest people a crafted report counts, at most",
)
_Named = Sequence[tuple[Sequence[str], Prediction]]
"""Predictions, each with the first cells of its row."""


def show_plan(plan: Plan) -> None:
    """Print a plan."""
    setting = plan.setting
    asked = f"{setting.answers:,} answers" if setting.answers else f"{setting.tests:,} strings"
    if isinstance(setting.domain, Strings) and setting.domain.alphabet and not setting.listed:
        asked = (
            f"strings of {setting.domain.length} characters that nobody listed; if listed, {asked}"
        )
    if isinstance(setting.domain, Profile):
        asked = f"{setting.tests:,} cells of tables of {setting.order} attributes"
    out.print(
        f"{setting.people:,} people, epsilon {setting.epsilon:g}, {asked} tested for",
        style="bold",
        markup=False,
    )
    rows = [((prediction.mechanism,), prediction) for prediction in plan.predictions]
    _show_tables(("mechanism",), rows, plan.needed)
    out.print(f"Recommended: {plan.reason}", markup=False)
    if plan.error is not None:
        out.print(f"Needed for a share of 1% ± {percent(plan.error)}.", markup=False)
    central = plan.best.central
    if central is not None and central.crowds is not None:
        out.print(
            f"The central epsilon of {plan.best.mechanism} is exact, over all {central.crowds:,} "
            f"crowds; in the worst, {central.worst}.",
            markup=False,
        )
    elif central is not None and central.at_least is not None:
        out.print(
            f"The central epsilon of {plan.best.mechanism} is at least {central.at_least:.6f}: "
            "some crowd has it.",
            markup=False,
        )
    _close(plan.warnings, shuffled=central is not None)


def show_survey(plan: SurveyPlan) -> None:
    """Print the plan of a survey."""
    out.print(f"{plan.people:,} people for every question", style="bold", markup=False)
    rows = [
        ((_name(planned), planned.prediction.mechanism), planned.prediction)
        for planned in plan.fields
    ]
    _show_tables(("question", "mechanism"), rows, {})
    out.print(
        "A device whose values stay the same discloses at most epsilon "
        f"{plan.epsilon_disclosed:,.3f} in a year, all questions together"
        + (
            f"; without its ceiling it would be {plan.epsilon_year:,.3f}."
            if plan.epsilon_disclosed < plan.epsilon_year
            else "."
        ),
        markup=False,
    )
    show_budget(plan.budget)
    warnings = [f"{_name(planned)}: {text}" for planned in plan.fields for text in planned.warnings]
    central = any(planned.prediction.central is not None for planned in plan.fields)
    _close(warnings, shuffled=central)


def _name(planned: Planned) -> str:
    plain = planned.field == PLAIN_FIELD
    return planned.question if plain else f"{planned.question}.{planned.field}"


def _show_tables(first: Sequence[str], rows: _Named, needed: Mapping[str, Needed]) -> None:
    """Print what is learned, then what it costs: both together are too wide for a terminal."""
    learned = table(first, [*_LEARNED, *(["people needed", "ε needed"] if needed else [])])
    central = any(prediction.central is not None for _, prediction in rows)
    costs = table(first, [*_COSTS, *(["ε central"] if central else [])])
    for names, prediction in rows:
        more = _needed(needed[prediction.mechanism]) if needed else []
        learned.add_row(*map(escape, names), *_learned(prediction), *more)
        costs.add_row(*map(escape, names), *_costs(prediction))
    out.print(learned)
    out.print()
    out.print(costs)


def table(first: Sequence[str], columns: Sequence[str]) -> Table:
    """Return an empty table: names on the left, numbers on the right."""
    made = Table(box=None, pad_edge=False)
    for name in first:
        made.add_column(name, no_wrap=True)
    for name in columns:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def _learned(prediction: Prediction) -> list[str]:
    return [
        percent(prediction.mean_error),
        percent(prediction.margin),
        percent(prediction.smallest) if prediction.smallest < 1 else "none",
        f"{prediction.learned:,}",
    ]


def _costs(prediction: Prediction) -> list[str]:
    forever, central = prediction.forever, prediction.central
    cells = [
        f"{prediction.size:,}",
        _short(prediction.words),
        _short(prediction.operations),
        f"{prediction.leverage:,.3g}",
        f"{prediction.epsilon:g}",
        "grows" if forever is None else f"{forever:g}",
    ]
    return cells if central is None else [*cells, f"{central.epsilon:.6f}"]


def _needed(needed: Needed) -> list[str]:
    people = "never" if needed.people is None else f"{needed.people:,}"
    return [people, "none" if needed.epsilon is None else f"{needed.epsilon:g}"]


def _close(warnings: Sequence[str], *, shuffled: bool) -> None:
    for warning in warnings:
        out.print(f"warning: {warning}", style="yellow", markup=False)
    if shuffled:
        out.print("The central epsilon holds only if all of this is true:", markup=False)
        for condition in CONDITIONS:
            out.print(f"  - {condition}", markup=False)
    for meaning in _MEANINGS:
        out.print(meaning, style="dim", markup=False)


def percent(share: float) -> str:
    """Return a share with three digits."""
    return f"{100 * share:.3g}%"


def _short(number: int) -> str:
    """Return a number with three digits and k, M, G, T."""
    size = float(number)
    for unit in ("", "k", "M", "G"):
        if size < 1_000:
            return f"{size:.3g}{unit}"
        size /= 1_000
    return f"{size:.3g}T"
