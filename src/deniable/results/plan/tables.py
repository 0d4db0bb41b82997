"""Plans as tables: a row per mechanism, field, way or report, with its accuracy and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable._words import crowd, epsilon_text
from deniable.plan import Needed, Plan, Prediction, ReportsPlan, Setting, SurveyPlan, WindowPlan
from deniable.privacy.shuffling.central import CONDITIONS
from deniable.protocol import Profile, Strings
from deniable.protocol.question import PLAIN_FIELD
from deniable.protocol.thresholds import as_fraction
from deniable.results.plan.budget import budget_table
from deniable.results.plan.chart import plan_picture
from deniable.results.plan.worth import worth_asking, worth_asking_all
from deniable.results.table import About, Cell, Column, Table

_LEARNED = (
    Column("mean_error", "share", "error"),
    Column("rare_error", "share"),
    Column("margin", "share", "1% ±"),
    Column("smallest_share", "share", "smallest", otherwise="none"),
    Column("answers_learned", "count", "learned"),
)
_NEEDED = (
    Column("people_needed", "count", "people needed", otherwise="never"),
    Column("epsilon_needed", "number", "ε needed", otherwise="none"),
)
_COSTS = (
    Column("bytes", "count", "bytes", block=1),
    Column("words", "count", "words", block=1),
    Column("operations", "count", "steps", block=1),
    Column("work", "label"),
    Column("leverage", "number", "leverage", block=1),
    Column("epsilon", "number", "ε once", digits=6, block=1),
    Column("epsilon_forever", "number", "ε ever", otherwise="grows", digits=6, block=1),
)
_CENTRAL = (
    Column("central_epsilon", "number", "ε central", digits=6, block=1),
    Column("central_bound", "label"),
    Column("central_at_least", "number"),
    Column("central_crowds", "count"),
    Column("worst_crowd", "label"),
)
_MEANINGS = (
    "error: expected error of a share, one standard deviation (of strings: a rare one; of "
    "profiles: a cell of a raw table)",
    "1% ±: half the width of the 95% interval of a share of 1%",
    "smallest: the detection limit, the share that is found every second time; learned: how "
    "many equally frequent answers are (prefixes, ngrams: found, though nobody listed them)",
    "words: numbers that the collector keeps; steps: of counting and estimating, about",
    "leverage: for how many honest people a crafted report counts, at most",
)
_SHUFFLED = ("The central epsilon holds only if all of this is true:", *CONDITIONS)
_WINDOW_COLUMNS = (
    Column("way", "label", "way"),
    Column("mechanism", "label", "mechanism"),
    Column("people_per_epoch", "count", "people"),
    Column("epsilon", "number", "ε", digits=3),
    Column("mean_error", "share", "error"),
    Column("mean_error_of_window", "share", "window"),
    Column("margin", "share"),
    Column("smallest_share", "share", "smallest", otherwise="none"),
    Column("epochs_for_1_percent", "count", "epochs"),
)
_WINDOW_MEANINGS = (
    "people, ε: who report in one epoch, and with what; 1 epoch in w: devices take turns",
    "error: of a share in one epoch, one standard deviation; window: over a whole window, if it "
    "stays the same",
    "epochs: the number to pool until a share of 1% is told from nothing",
)
_REPORT_COLUMNS = (
    Column("report", "count", "report"),
    Column("epsilon", "number", "ε", digits=6),
    Column("q", "number", "q", digits=6),
    Column("error", "share", "error", otherwise="says nothing"),
    Column("useful", "decision", "useful", word="yes", otherwise="no"),
)


def plan_table(plan: Plan) -> Table:
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
    if plan.asked is not None and plan.asked < 1:
        notes.append(
            f"Asking a share of {plan.asked:g} of the devices suffices for this error with "
            f"{plan.best.mechanism} (asked = {plan.asked:g} in the survey); the others spend "
            "nothing."
        )
    notes += sorted({f"{one.mechanism}: {one.assumes}" for one in plan.predictions if one.assumes})
    notes += [f"warning: {warning}" for warning in plan.warnings]
    told = {
        "tests": plan.setting.tests,
        "error": plan.error,
        "asked": plan.asked,
        "recommended": plan.recommended,
        "reason": plan.reason,
        "warnings": list(plan.warnings),
    }
    about = _about(plan.setting, _asked(plan), told)
    table = _predicted(about, ("mechanism",), rows, notes, plan.needed, plan_picture(plan))
    return replace(table, notes=(*table.notes, worth_asking(plan)))


def _asked(plan: Plan) -> str:
    setting = plan.setting
    asked = f"{setting.answers:,} answers" if setting.answers else f"{setting.tests:,} strings"
    if isinstance(setting.domain, Strings) and setting.domain.alphabet and not setting.listed:
        asked = (
            f"strings of {setting.domain.length} characters that nobody listed; if listed, {asked}"
        )
    if isinstance(setting.domain, Profile):
        asked = f"{setting.tests:,} cells of tables of {setting.order} attributes"
    return (
        f"{crowd(setting.people)}, epsilon {setting.epsilon:g}, {asked} tested for; errors are "
        f"of the {setting.of}"
    )


def _about(setting: Setting, what: str, more: Mapping[str, Any]) -> About:
    """Return the head of a plan: its setting, and members that only its kind has."""
    told: dict[str, Any] = {"people": setting.people, "answers": setting.answers or None, **more}
    if isinstance(setting.domain, Profile):
        told |= {"attributes": len(setting.domain.answers), "order": setting.order}
    return About(
        "plan",
        domain=setting.domain.kind,
        epsilon_once=setting.epsilon,
        epsilon_forever=setting.forever,
        what=(what,),
        more={"plan": told},
    )


def survey_table(plan: SurveyPlan) -> Table:
    """Return the plan of a survey: a row per field; its budget is a part of it."""
    rows = [((one.question, one.field, one.prediction.mechanism), one) for one in plan.fields]
    disclosed = plan.epsilon_disclosed
    bounded = f"; without its ceiling it would be {epsilon_text(plan.epsilon_year)}."
    notes = [
        "A device whose values stay the same discloses at most epsilon "
        f"{epsilon_text(disclosed)} in a "
        f"year, all questions together{bounded if disclosed < plan.epsilon_year else '.'}"
    ]
    for mix in plan.mixes:
        notes.append(
            f"{mix.question}: all levels together have a rare share with a standard deviation of "
            f"{100 * mix.rare_error:.3g}%, against {100 * mix.best_error:.3g}% if everybody chose "
            f"'{mix.best}': the mix costs as much as {100 * mix.cost:.0f}% of the people."
        )
    for one in plan.fields:
        name = one.question if one.field == PLAIN_FIELD else f"{one.question}.{one.field}"
        notes += [f"{name}: {one.prediction.assumes}"] if one.prediction.assumes else []
        notes += [f"warning: {name}: {text}" for text in one.warnings]
    told = {
        "people": plan.people,
        "epsilon_of_a_year": disclosed,
        "epsilon_of_a_year_without_ceiling": plan.epsilon_year,
    }
    what = (f"{crowd(plan.people)} for every question; errors are of the population",)
    table = _predicted(
        About("plan", what=what, more={"plan": told}),
        ("question", "field", "mechanism"),
        [(names, one.prediction) for names, one in rows],
        notes,
        parts={"budget": budget_table(plan.budget)},
    )
    return replace(table, notes=(*table.notes, worth_asking_all(plan)))


def _predicted(
    about: About,
    labels: Sequence[str],
    named: Sequence[tuple[Sequence[str], Prediction]],
    notes: Sequence[str],
    needed: Mapping[str, Needed] | None = None,
    picture: Any = None,
    parts: Mapping[str, Table] | None = None,
) -> Table:
    """Return the rows of predictions, with the columns that some of them fill."""
    shuffled = any(prediction.central is not None for _, prediction in named)
    more, central = _NEEDED if needed else (), _CENTRAL if shuffled else ()
    columns = [
        *(Column(name, "label", name) for name in labels),
        *_LEARNED,
        *more,
        *_COSTS,
        *central,
    ]
    rows = []
    for names, one in named:
        need = needed[one.mechanism] if needed else None
        cells = (*names, *_learned(one), *((need.people, need.epsilon) if need else ()))
        rows.append((*cells, *_costs(one), *(_central(one) if shuffled else ())))
    told = (*notes, *(_SHUFFLED if shuffled else ()), *_MEANINGS)
    return Table.of(about, columns, rows, notes=told, picture=picture, parts=parts or {})


def _learned(one: Prediction) -> tuple[Cell, ...]:
    return one.mean_error, one.rare_error, one.margin, _seen(one), one.learned


def _seen(one: Prediction) -> float | None:
    return one.smallest if one.smallest < 1 else None


def _costs(one: Prediction) -> tuple[Cell, ...]:
    return one.size, one.words, one.operations, one.work, one.leverage, one.epsilon, one.forever


def _central(one: Prediction) -> tuple[Cell, ...]:
    found = one.central
    if found is None:
        return (None,) * len(_CENTRAL)
    return found.epsilon, found.bound, found.at_least, found.crowds, found.worst


def window_table(plan: WindowPlan) -> Table:
    """Return both ways to spend a budget per window, the better one first."""
    setting, days = plan.setting, plan.window.epochs
    rows: list[tuple[Cell, ...]] = [
        (
            way.name.replace("one", "1").replace(" w", f" {days:,}"),
            *(way.prediction.mechanism, way.people, way.prediction.epsilon),
            *(way.error, way.window_error, way.margin),
            *(_seen(way.prediction), way.epochs),
        )
        for way in plan.ways
    ]
    what = f"{crowd(setting.people)}, at most epsilon {setting.epsilon:g} in any {days:,} epochs"
    what += "; errors are of the reporters"
    told = {
        "tests": setting.tests,
        "window": days,
        "better": plan.better.name,
        "variance_ratio": plan.ratio,
        "reason": plan.reason,
    }
    notes = (plan.reason, *_WINDOW_MEANINGS)
    return Table.of(_about(setting, what, told), _WINDOW_COLUMNS, rows, notes=notes)


def reports_table(plan: ReportsPlan) -> Table:
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
    keep, p = float(plan.schedule.keep), float(as_fraction(plan.schedule.zero))
    what = (
        f"{crowd(setting.people)}, epsilon {setting.epsilon:g} for ever, each report leaves "
        f"{keep:g} of what is left; p = {p:g}"
    )
    notes = (
        f"Useful reports: {plan.useful:,}, as long as one {tells}. Shown: {len(plan.rows):,}, "
        f"which spend epsilon {epsilon_text(plan.spent)}.",
        "error: of a rare answer's share from this report of everybody, one standard deviation",
    )
    told = {"keep": keep, "p": p, "error": plan.error, "useful": plan.useful, "spent": plan.spent}
    return Table.of(_about(setting, what, told), _REPORT_COLUMNS, rows, notes=notes)
