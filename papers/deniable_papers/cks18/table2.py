"""[CKS18] table 2: how errors grow with d and with k, measured beside the bounds.

A method's error in d is fitted by log2(error) = a + b log2(d), and in k by a + b k; the same lines
are fitted to the bounds over the same d and k, so that the two exponents b can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from deniable.marginals.bounds import GROWTH, error_bound
from deniable_papers.base import Figure, Options, Outcome, Value
from deniable_papers.cks18.charts import bars
from deniable_papers.cks18.methods import EVERY
from deniable_papers.cks18.people import skewed
from deniable_papers.cks18.scores import LN3, PEOPLE, Score, Setting, reasons_of
from deniable_papers.cks18.sweep import COMMON, sweep

SIZES = (4, 6, 8, 12, 16)
ORDERS = (1, 2, 3, 4)
FIXED_ORDER, FIXED_SIZE = 2, 8
PRINTED: Mapping[str, str] = {
    "inp_rr": "2^(k/2) 2^d",
    "inp_ps": "2^(k/2) 2^d",
    "inp_ht": "2^(k/2) d^k",
    "marg_rr": "2^k d^(k/2)",
    "marg_ps": "2^(3k/2) d^(k/2)",
    "marg_ht": "2^(3k/2) d^(k/2)",
}
NOTES = (
    "exponent_in_d: b of log2(error) = a + b log2(d) at k = 2 over the d of the run; exponent_in_k "
    "is b of log2(error) = a + b k at d = 8. 'bound' is the same fit to the bound. "
    "error_over_bound: least and largest of measured error over the theorem's bound, which "
    "leaves out a constant and logarithms.",
    "Two bounds of the printed table are misprints: inp_ht is sqrt(2^k T) with T coefficients (it "
    "prints d^k for d^(k/2)), and inp_rr is 2^((d+k)/2) (it prints inp_ps's). The corrected ones "
    "are fitted. The table has no bound for the other methods.",
    "Raw tables of methods whose noise exceeds the whole range are not clipped, so that an error "
    "may be above 1.",
)


def run(options: Options) -> Outcome:
    """Fit the exponents of every method."""
    by_size = [(Setting(d, FIXED_ORDER, LN3, options.people), options.runs) for d in SIZES]
    by_order = [(Setting(FIXED_SIZE, k, LN3, options.people), options.runs) for k in ORDERS]
    rows, found = sweep(options, skewed(max(SIZES)), by_size + by_order)
    sizes, orders = found[: len(SIZES)], found[len(SIZES) :]
    ours: dict[str, Any] = {}
    fits: list[dict[str, Value]] = []
    for name in EVERY:
        in_d = _fitted([(log2(s.attributes), scored[name]) for s, scored in sizes])
        in_k = _fitted([(float(s.order), scored[name]) for s, scored in orders])
        bound = _bounds(name, [s.attributes for s, scored in sizes if scored[name].error])
        ours[name] = {
            "exponent_in_d": {"measured": in_d, "bound": bound[0]},
            "exponent_in_k": {"measured": in_k, "bound": bound[1]},
            "error_over_bound": _over_bound(name, found),
        }
        for panel, measured, expected in (("in d", in_d, bound[0]), ("in k", in_k, bound[1])):
            fits.append({"panel": panel, "method": name, "measured": measured, "bound": expected})
    notes = (*NOTES, *COMMON, *reasons_of([scored for _, scored in found]))
    paper = {name: {"error": text} for name, text in PRINTED.items()}
    chart = bars(fits, "Measured exponents", "measured", "exponent", "panel")
    return Outcome(paper, ours, {"exponents": fits, "errors": rows}, chart, notes)


def _bounds(name: str, sizes: Sequence[int]) -> tuple[float | None, float | None]:
    """Return the exponents of a method's bound over the same d and k as were measured."""
    bound = GROWTH.get(name)
    if bound is None or len(sizes) < 2:
        return None, None
    in_d = [(log2(d), log2(bound(d, FIXED_ORDER))) for d in sizes]
    in_k = [(float(k), log2(bound(FIXED_SIZE, k))) for k in ORDERS]
    return _slope(in_d), _slope(in_k)


def _over_bound(
    name: str, found: Sequence[tuple[Setting, Mapping[str, Score]]]
) -> list[float] | None:
    """Return the least and the largest measured error over the theorem's bound in its setting."""
    if name not in GROWTH:
        return None
    ratios = [
        error / error_bound(name, s.attributes, s.order, s.epsilon, s.people)
        for s, scored in found
        if (error := scored[name].error)
    ]
    return [float(f"{end:.3g}") for end in (min(ratios), max(ratios))] if ratios else None


def _fitted(points: Sequence[tuple[float, Score]]) -> float | None:
    known = [(x, log2(score.error)) for x, score in points if score.error]
    return _slope(known) if len(known) > 1 else None


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line, to six digits."""
    x, y = np.array(points).T
    return float(f"{np.polyfit(x, y, 1)[0]:.6g}")


FIGURE = Figure(
    id="cks18-table2",
    paper="[CKS18] table 2",
    title="How errors grow with d and k",
    shows="The measured exponents are those of the bounds, with two misprints corrected.",
    run=run,
    runs=3,
    full_runs=10,
    people=PEOPLE,
    full_people=PEOPLE,
)
