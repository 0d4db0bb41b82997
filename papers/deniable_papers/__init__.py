"""The papers' figures and tables, one file each, made by `deniable paper ID`.

from deniable_papers import figure
one = figure("epk14-table1")
outcome = one.run(one.options(runs=20))
"""

from deniable_papers.base import Figure, Options, Outcome
from deniable_papers.registry import FIGURES, figure
from deniable_papers.writing import write

__all__ = ["FIGURES", "Figure", "Options", "Outcome", "figure", "write"]
