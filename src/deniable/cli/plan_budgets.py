"""How plans of budgets over time are printed: both ways of a window, the reports of a schedule."""

from __future__ import annotations

import math

from rich.table import Table

from deniable.cli.output import out
from deniable.cli.plan_tables import percent, table
from deniable.plan import ReportsPlan, WindowPlan

_WAYS = ("people", "ε", "error", "window", "smallest", "epochs")


def show_window(plan: WindowPlan) -> None:
    """Print both ways to spend a budget per window, the better one first."""
    setting, days = plan.setting, plan.window.epochs
    out.print(
        f"{setting.people:,} people, at most epsilon {setting.epsilon:g} in any {days:,} epochs",
        style="bold",
        markup=False,
    )
    shown = table(("way", "mechanism"), _WAYS)
    for way in plan.ways:
        prediction = way.prediction
        shown.add_row(
            way.name.replace("one", "1").replace(" w", f" {days:,}"),
            prediction.mechanism,
            f"{way.people:,}",
            f"{prediction.epsilon:.3g}",
            percent(way.error),
            percent(way.window_error),
            percent(prediction.smallest) if prediction.smallest < 1 else "none",
            f"{way.epochs:,}",
        )
    _close(
        shown,
        plan.reason,
        (
            "people, ε: who report in one epoch, and with what; 1 epoch in w: devices take turns",
            "error: of a share in one epoch, one standard deviation; window: over a whole window, "
            "if it stays the same",
            "epochs: so many are pooled until a share of 1% is told from nothing",
        ),
    )


def show_reports(plan: ReportsPlan) -> None:
    """Print the first reports of a schedule."""
    setting, p = plan.setting, plan.as_json()["p"]
    out.print(
        f"{setting.people:,} people, epsilon {setting.epsilon:g} for ever, each report leaves "
        f"{float(plan.schedule.keep):g} of what is left; p = {p:g}",
        style="bold",
        markup=False,
    )
    shown = table(("report",), ("ε", "q", "error", "useful"))
    for row in plan.rows:
        shown.add_row(
            f"{row.number}",
            f"{row.epsilon:.6f}",
            f"{row.q:.6f}",
            percent(row.error) if math.isfinite(row.error) else "says nothing",
            "yes" if row.useful else "no",
        )
    what = (
        "tells an answer of every second person from none"
        if plan.error is None
        else f"has a rare share to ± {percent(plan.error)}"
    )
    _close(
        shown,
        f"Useful reports: {plan.useful:,}, as long as one {what}. "
        f"Shown: {len(plan.rows):,}, which spend epsilon {plan.spent:.6f}.",
        ("error: of a rare answer's share from this report of everybody, one standard deviation",),
    )


def _close(shown: Table, reason: str, meanings: tuple[str, ...]) -> None:
    out.print(shown)
    out.print(reason, markup=False)
    for meaning in meanings:
        out.print(meaning, style="dim", markup=False)
