"""A survey's budget as a table."""

from __future__ import annotations

from rich.table import Table

from deniable.cli.output import out
from deniable.protocol.budget import Budget, BudgetLine
from deniable.protocol.epsilon import as_float


def show_budget(budget: Budget) -> None:
    """Print what each question costs a device beside its ceiling, and who leaves it out."""
    out.print("Budget of a device", style="bold", markup=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("question", no_wrap=True)
    for heading in ("one value costs", "sum", "ceiling", "left out by"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in budget.lines:
        table.add_row(
            line.question,
            _cost(line),
            f"{as_float(line.sum):.3f}",
            f"{as_float(budget.ceiling):.3f}",
            f"{line.left_out:.1%}",
        )
    out.print(table)
    out.print(f"  • {budget.words()}", markup=False)
    if any(line.each_epoch and not line.expired for line in budget.lines):
        out.print(
            "  • Where each epoch costs again, later epochs are paid from what the other "
            "questions leave, until the ceiling is reached.",
            markup=False,
        )


def _cost(line: BudgetLine) -> str:
    if line.expired:
        return "expired"
    return f"{as_float(line.micros):.3f}" + (" each epoch" if line.each_epoch else "")
