"""Plans as tables: a row per mechanism, field, way or report, with its accuracy and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from deniable.plan import Needed, Plan, Planned, Prediction, ReportsPlan, SurveyPlan, WindowPlan
from deniable.privacy.shuffling.central import CONDITIONS
from deniable.protocol import Profile, Strings
from deniable.protocol.survey import PLAIN_FIELD
from deniable.results.plan_chart import plan_picture
from deniable.results.table import About, Cell, Column, Table, Tables

LEARNED = (
    Column("error", "share", "error"),
    Column("margin", "share", "1% ±"),
    Column("smallest", "share", "smallest", otherwise="none"),
    Column("learned", "count", "learned"),
)
NEEDED = (
    Column("people_needed", "count", "people needed", otherwise="never"),
    Column("epsilon_needed", "number", "ε needed", otherwise="none"),
)
COSTS = (
    Column("bytes", "count", "bytes"),
    Column("words", "count", "words"),
    Column("steps", "count", "steps"),
    Column("leverage", "number", "leverage"),
    Column("epsilon", "number", "ε once", digits=6),
    Column("forever", "number", "ε ever", otherwise="grows", digits=6),
    Column("central", "number", "ε central", digits=6),
)
MEANINGS = (
    "error: expected error of a share, one standard deviation (of strings: a rare one; of records: "
    "a cell of a raw table)",
    "1% ±: half the width of the 95% interval of a share of 1%",
    "smallest: the share that is told from nothing every second time; learned: so many equally "
    "frequent answers are (prefixes, ngrams: found, though nobody listed them)",
    "words: numbers that the collector keeps; steps: of counting and estimating, about",
    "leverage: for how many honest people a crafted report counts, at most",
)
SHUFFLED = ("The central epsilon holds only if all of this is true:", *CONDITIONS)
WINDOW_COLUMNS = (
    Column("way", "label", "way"),
    Column("mechanism", "label", "mechanism"),
    Column("people", "count", "people"),
    Column("epsilon", "number", "ε", digits=3),
    Column("error", "share", "error"),
    Column("window_error", "share", "window"),
    Column("smallest", "share", "smallest", otherwise="none"),
    Column("epochs", "count", "epochs"),
)
WINDOW_MEANINGS = (
    "people, ε: who report in one epoch, and with what; 1 epoch in w: devices take turns",
    "error: of a share in one epoch, one standard deviation; window: over a whole window, if it "
    "stays the same",
    "epochs: so many are pooled until a share of 1% is told from nothing",
)
REPORT_COLUMNS = (
    Column("report", "count", "report"),
    Column("epsilon", "number", "ε", digits=6),
    Column("q", "number", "q", digits=6),
    Column("error", "share", "error", otherwise="says nothing"),
    Column("useful", "decision", "useful", word="yes", otherwise="no"),
)


def plan_tables(plan: Plan) -> Tables:
    """Return a plan: the accuracy of every mechanism, its cost, and the recommendation."""
    rows = [((prediction.mechanism,), prediction) for prediction in plan.predictions]
    notes = [f"Recommended: {plan.reason}"]
    if plan.error is not None:
        notes.append(f"Needed for a share of 1% ± {100 * plan.error:.3g}%.")
    central = plan.best.central
    if central is not None and central.crowds is not None:
        notes.append(
            f"The central epsilon of {plan.best.mechanism} is exact, over all {central.crowds:,} "
            f"crowds; in the worst, {central.worst}."
        )
    elif central is not None and central.at_least is not None:
        notes.append(
            f"The central epsilon of {plan.best.mechanism} is at least {central.at_least:.6f}: "
            "some crowd has it."
        )
    notes += [f"warning: {warning}" for warning in plan.warnings]
    first, second = _both(("mechanism",), rows, _asked(plan), notes, plan.needed)
    return Tables([replace(first, picture=plan_picture(plan)), second])


def _asked(plan: Plan) -> str:
    setting = plan.setting
    asked = f"{setting.answers:,} answers" if setting.answers else f"{setting.tests:,} strings"
    if isinstance(setting.domain, Strings) and setting.domain.alphabet and not setting.listed:
        asked = (
            f"strings of {setting.domain.length} characters that nobody listed; if listed, {asked}"
        )
    if isinstance(setting.domain, Profile):
        asked = f"{setting.tests:,} cells of tables of {setting.order} attributes"
    return f"{setting.people:,} people, epsilon {setting.epsilon:g}, {asked} tested for"


def survey_tables(plan: SurveyPlan) -> Tables:
    """Return the plan of a survey: a row per field."""
    rows = [
        ((_name(planned), planned.prediction.mechanism), planned.prediction)
        for planned in plan.fields
    ]
    disclosed = plan.epsilon_disclosed
    bounded = f"; without its ceiling it would be {plan.epsilon_year:,.3f}."
    notes = [
        f"A device whose values stay the same discloses at most epsilon {disclosed:,.3f} in a "
        f"year, all questions together{bounded if disclosed < plan.epsilon_year else '.'}"
    ]
    notes += [f"warning: {_name(one)}: {text}" for one in plan.fields for text in one.warnings]
    return Tables(
        _both(("question", "mechanism"), rows, f"{plan.people:,} people for every question", notes)
    )


def _name(planned: Planned) -> str:
    plain = planned.field == PLAIN_FIELD
    return planned.question if plain else f"{planned.question}.{planned.field}"


def _both(
    first: Sequence[str],
    named: Sequence[tuple[Sequence[str], Prediction]],
    what: str,
    notes: Sequence[str],
    needed: Mapping[str, Needed] | None = None,
) -> tuple[Table, Table]:
    """Return the same rows twice, for people: all columns together are too wide for a terminal."""
    labels = [Column(name, "label", name) for name in first]
    more = NEEDED if needed else ()
    shuffled = any(prediction.central is not None for _, prediction in named)
    costs = COSTS if shuffled else COSTS[:-1]
    rows = []
    for names, one in named:
        need = needed[one.mechanism] if needed else None
        cells = (*names, *_learned(one), *((need.people, need.epsilon) if need else ()))
        rows.append((*cells, *_costs(one)[: len(costs)]))
    learned = [*labels, *LEARNED, *more, *map(_unseen, costs)]
    costly = [*labels, *map(_unseen, (*LEARNED, *more)), *costs]
    told = (*notes, *(SHUFFLED if shuffled else ()), *MEANINGS)
    about = About("plan", what=(what,))
    return Table.of(about, learned, rows), Table.of(About("plan"), costly, rows, notes=told)


def _unseen(column: Column) -> Column:
    return replace(column, title="")


def _learned(one: Prediction) -> tuple[Cell, ...]:
    return one.mean_error, one.margin, one.smallest if one.smallest < 1 else None, one.learned


def _costs(one: Prediction) -> tuple[Cell, ...]:
    central = None if one.central is None else one.central.epsilon
    numbers = (one.size, one.words, one.operations, one.leverage)
    return (*numbers, one.epsilon, one.forever, central)


def window_tables(plan: WindowPlan) -> Tables:
    """Return both ways to spend a budget per window, the better one first."""
    setting, days = plan.setting, plan.window.epochs
    rows: list[tuple[Cell, ...]] = [
        (
            way.name.replace("one", "1").replace(" w", f" {days:,}"),
            *(way.prediction.mechanism, way.people, way.prediction.epsilon),
            *(way.error, way.window_error),
            way.prediction.smallest if way.prediction.smallest < 1 else None,
            way.epochs,
        )
        for way in plan.ways
    ]
    what = f"{setting.people:,} people, at most epsilon {setting.epsilon:g} in any {days:,} epochs"
    about, notes = About("plan", what=(what,)), (plan.reason, *WINDOW_MEANINGS)
    return Tables([Table.of(about, WINDOW_COLUMNS, rows, notes=notes)])


def reports_tables(plan: ReportsPlan) -> Tables:
    """Return the first reports of a schedule."""
    setting = plan.setting
    rows: list[tuple[Cell, ...]] = [
        (
            row.number,
            row.epsilon,
            row.q,
            row.error if math.isfinite(row.error) else None,
            row.useful,
        )
        for row in plan.rows
    ]
    tells = (
        "tells an answer of every second person from none"
        if plan.error is None
        else f"has a rare share to ± {100 * plan.error:.3g}%"
    )
    what = (
        f"{setting.people:,} people, epsilon {setting.epsilon:g} for ever, each report leaves "
        f"{float(plan.schedule.keep):g} of what is left; p = {plan.as_json()['p']:g}"
    )
    notes = (
        f"Useful reports: {plan.useful:,}, as long as one {tells}. Shown: {len(plan.rows):,}, "
        f"which spend epsilon {plan.spent:.6f}.",
        "error: of a rare answer's share from this report of everybody, one standard deviation",
    )
    return Tables([Table.of(About("plan", what=(what,)), REPORT_COLUMNS, rows, notes=notes)])
