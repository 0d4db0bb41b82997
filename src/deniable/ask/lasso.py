"""The table of the paper's decoder [EPK14, section 4], for comparison with the default one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.decode import decode_lasso
from deniable.decode.significance import half_width
from deniable.mechanisms import Candidate, Counts, Mechanism
from deniable.results.charts.bars import bars, caption, described
from deniable.results.table import About, Cell, Column, Table

PAPERS_DECODER = (
    "The paper's decoder: the reports that select strings also test them, and strings that nobody "
    "listed count as if they were listed. Its errors are too small, and its intervals are of the "
    "reporters; those of the default decoder hold."
)


def lasso_table(
    about: About,
    mechanism: Mechanism,
    counts: Counts,
    candidates: Sequence[Candidate],
    notes: Sequence[str],
) -> Table:
    """Return what the Lasso, least squares and both corrections say, the most frequent first.

    Args:
        about: the head, whose level decides intervals and corrections.
        mechanism: RAPPOR with Bloom filters.
        counts: of the reports.
        candidates: the strings to test for.
        notes: on the candidates and the reports.

    Raises:
        InvalidParameter: for other mechanisms, no reports, or more than 20,000 candidates.
        MissingExtra: without scikit-learn.
    """
    found = decode_lasso(mechanism, counts, candidates, alpha=1 - about.level)
    wide = half_width(about.level, math.inf)
    columns = [
        Column("value", "label", "value"),
        Column("frequency", "share", "estimate"),
        Column("std_error", "error", "std. error", extra=True),
        Column("interval", "interval", about.intervals),
        Column("p_value", "p_value", "p-value", extra=True),
        Column("bonferroni", "decision", "found", word="Bonferroni", extra=True),
        Column("fdr", "decision", "found", word="FDR", extra=True),
        Column("selected", "decision", "selected", word="Lasso"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for i in sorted(range(len(found.candidates)), key=lambda i: -found.frequency[i]):
        share, error = float(found.frequency[i]), float(found.std_error[i])
        ends = (max(0.0, share - wide * error), min(1.0, share + wide * error))
        decided = (found.bonferroni[i], found.bh[i], found.selected[i])
        tested = (float(found.p_value[i]), *map(bool, decided))
        rows.append((found.candidates[i], share, error, ends, *tested))
    form = {"picture": bars, "described": described, "caption": caption}
    return Table.of(about, columns, rows, notes=(*notes, PAPERS_DECODER), **form)
