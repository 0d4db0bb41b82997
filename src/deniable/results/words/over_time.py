"""Sentences about change over epochs and differences between groups."""

from __future__ import annotations

from collections.abc import Sequence

from deniable._words import plural
from deniable.groups import Change
from deniable.protocol.epochs import date_of, days_of
from deniable.results.labels import shortened
from deniable.results.table.table import Table
from deniable.results.table.text import p_text

UNRELATED = (
    "Changes are judged as if no two epochs had people in common, or a share of them from epoch to "
    "epoch, whichever is less certain. That holds where a person's answers at two times are not "
    "negatively related (people who alternate between two answers break it). --same-people is "
    "tighter, --new-people says that nobody came back."
)
SAME = (
    "Changes are judged as those of the same people in all epochs, whose own noise and choice "
    "cancel (--same-people). If others reported, they look larger than they are."
)
TOO_FEW = (
    "--same-people was set aside: in the smallest epoch so few reports differ by fresh noise alone "
    "that a test of the same people would reject too often."
)


def change_sentence(change: Change, of: str, days: int) -> str:
    """Return the result of a test of "no change" in a sentence.

    Args:
        change: the test.
        of: the segment's value that it is about; empty for all reports.
        days: the length of an epoch.
    """
    who = f"{of}: " if of else ""
    p_value = p_text(change.p_value)
    stated = f"p {p_value}" if p_value.startswith("<") else f"p = {p_value}"
    if change.p_value >= 0.05:
        told = f"{who}No change over these epochs is to be seen ({stated})."
    else:
        told = f"{who}The shares change over these epochs ({stated})."
    step = change.largest
    if step is None:
        return told
    when = date_of(days_of(step.epoch, days)[0]).isoformat()
    return (
        f"{told} Largest step: {shortened(step.answer, 40)} by {_points(step.difference)} in the "
        f"epoch of {when} ({_points(step.low)} to {_points(step.high)}, all steps together)."
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points"


def compared_sentence(p_value: float, by: str, groups: Sequence[tuple[str, int]]) -> str:
    """Return the result of a test over all answers of several groups in a sentence."""
    told = ", ".join(f"{name} ({plural(n, 'report')})" for name, n in groups)
    shown = p_text(p_value)
    stated = f"p {shown}" if shown.startswith("<") else f"p = {shown}"
    if not p_value < 0.05:
        return f"No difference by {by} is to be seen ({stated}): {told}."
    return f"The answers differ by {by} ({stated}, all answers together): {told}."


def compared_described(table: Table) -> str:
    """Return a description of the picture of differences, for those who do not see it."""
    rows = [row for row in table.rows if row["differs"]]
    listed = "; ".join(
        f"{row['value']} {_points(row['difference'])} for {row[table.about.more['by']]}"
        for row in rows[:5]
    )
    found = f"These differ: {listed}." if rows else "No answer by itself differs."
    return (
        f"Bar chart of {len(table.rows)} differences to {table.about.more['reference']}, with 95% "
        f"intervals. {' '.join(table.about.what)} {found} The table below has every number."
    )
