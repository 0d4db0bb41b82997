"""Plans and budgets as tables, and the picture of a plan.

Public are the functions that make a table of each kind of plan, in `tables`, and `budget_table` in
`budget`. They are not imported here: a budget is shown without the mathematics of plans.
"""

__all__: list[str] = []
