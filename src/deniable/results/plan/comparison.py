"""The plan of a comparison as a table: people per arm by mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from deniable._words import crowd
from deniable.plan import Setting
from deniable.plan.comparison import Comparison
from deniable.results.table import About, Column, Table

_COLUMNS = (
    Column("mechanism", "label", "mechanism"),
    Column("per_arm", "count", "people per arm", otherwise="none are enough"),
    Column("together", "count", "both arms", otherwise="none are enough"),
    Column("shown", "share", "effect shown", otherwise="none"),
)


def comparison_table(
    setting: Setting, found: Sequence[Comparison], effect: float, share: float, power: float
) -> Table:
    """Return the people that two arms need for an effect, and the effect that all people show."""
    rows = [
        (one.mechanism, one.needed, None if one.needed is None else 2 * one.needed, one.shown)
        for one in found
    ]
    what = (
        f"to tell a share of {100 * share:.3g}% from one that is {100 * effect:.3g} points larger: "
        f"epsilon {setting.epsilon:g}, power {100 * power:.3g}%, a two-sided test at 5%"
    )
    notes = (
        f"effect shown: the smallest one that {crowd(setting.people)} show, half of them in each "
        "arm, with the same power",
        "For one answer by itself. Several answers need more: deniable compare adjusts its "
        "p-values for all of them (Holm).",
    )
    told = {"effect": effect, "share": share, "power": power, "people": setting.people}
    about = About("comparison_plan", what=(what,), more={"plan": told})
    return Table.of(about, _COLUMNS, rows, notes=notes)
