"""A survey's budget as a table: what each question costs a device beside its ceiling."""

from __future__ import annotations

from deniable.protocol.budget import Budget
from deniable.protocol.epsilon import as_float
from deniable.results.table import About, Column, Table

_COLUMNS = (
    Column("question", "label", "question"),
    Column("version", "count"),
    Column("epsilon", "epsilon", "one value costs"),
    Column("each_epoch", "decision", "again", word="each epoch"),
    Column("expired", "decision", "open", word="expired", otherwise="yes"),
    Column("sum", "epsilon", "sum"),
    Column("ceiling", "epsilon", "ceiling"),
    Column("left_out", "share", "left out by"),
)


def budget_table(budget: Budget) -> Table:
    """Return the budget: a row per question, with the share of devices that leave it out."""
    ceiling = as_float(budget.ceiling)
    rows = [
        (
            *(line.question, line.version, as_float(line.micros), line.each_epoch, line.expired),
            *(as_float(line.sum), ceiling, line.left_out),
        )
        for line in budget.lines
    ]
    notes = [budget.words()]
    if any(line.each_epoch and not line.expired for line in budget.lines):
        notes.append(
            "Where each epoch costs again, later epochs are paid from what the other questions "
            "leave, until the ceiling is reached."
        )
    return Table.of(About("budget", what=("Budget of a device",)), _COLUMNS, rows, notes=notes)
