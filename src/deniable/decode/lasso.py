"""The paper's decoder, as a readable reference [EPK14, section 4].

    1. y_ij: unbiased counts of every bit in every cohort
    2. X: a column per candidate
    3. non-negative Lasso path of y on X selects candidates
    4. least squares on the selected: counts, standard errors, t-tests
    5. p-values below alpha / M (Bonferroni), or Benjamini-Hochberg

It is not the default: the data that select also test, and strings missing from the list are counted
as if they were candidates. `decoder` mends both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from deniable._distributions import t_sf
from deniable.decode.design import design_of
from deniable.decode.observed import is_open, observe
from deniable.decode.significance import benjamini_hochberg, bonferroni
from deniable.errors import InvalidParameter, MissingExtra
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import Candidate, Counts, Mechanism
from deniable.mechanisms.base import Floats
from deniable.mechanisms.candidates import label_of
from deniable.mechanisms.closed_form import NO_REPORTS

_LARGEST = 20_000
"""More candidates than this would need gigabytes as a dense matrix."""
_SMALLEST_PENALTY = 0.03
"""Where the path ends, as a share of the penalty that selects nothing.

The paper does not give it, and it matters: on its own example of section 5.2, ending at 0.01, 0.03
and 0.1 detects 31.9, 32.3 and 34.4 strings under Bonferroni, and 39.6, 40.4 and 45.2 under BH
(means of 20 runs).
"""
_MOST_SELECTED = 0.5
"""The path ends earlier when more columns per cell than this are selected."""


@dataclass(frozen=True)
class LassoDecoded:
    """The paper's table.

    Attributes:
        candidates: all of them, in order.
        frequency: of the selected by least squares; 0 for the others.
        std_error: NaN for those that were not selected.
        p_value: of the one-sided t-test; 1 for those that were not selected.
        selected: what the Lasso kept.
        bonferroni, bh: detected, under each correction over all candidates.
    """

    candidates: tuple[str, ...]
    frequency: Floats
    std_error: Floats
    p_value: Floats
    selected: NDArray[np.bool_]
    bonferroni: NDArray[np.bool_]
    bh: NDArray[np.bool_]


@one_thread
def decode_lasso(
    mechanism: Mechanism,
    counts: Counts,
    candidates: Sequence[Candidate],
    *,
    alpha: float = 0.05,
) -> LassoDecoded:
    """Decode Bloom reports as the paper does.

    Cost: a dense matrix of k m x M numbers and scikit-learn's coordinate descent on it.

    Raises:
        InvalidParameter: for mechanisms without Bloom filters, no reports, or more than 20,000
            candidates.
        MissingExtra: without scikit-learn.
    """
    if not is_open(mechanism):
        raise InvalidParameter(
            "The paper's decoder is of strings in Bloom filters (rappor). "
            f"Got {mechanism.parameters.mechanism}.",
            "Use the default decoder.",
        )
    observed = observe(mechanism, counts)
    if observed.n == 0:
        raise InvalidParameter(NO_REPORTS)
    if len(candidates) > _LARGEST:
        raise InvalidParameter(
            f"The paper's decoder takes at most {_LARGEST:,} candidates. Got {len(candidates):,}.",
            "Use decode().",
        )
    live = observed.live
    design = design_of(observed.shape, candidates).matrix().T.toarray()[live]
    y = observed.y[live]
    selected = _select(design, y)
    frequency, error, p_value = _least_squares(design, y, selected)
    return LassoDecoded(
        tuple(label_of(candidate) for candidate in candidates),
        frequency,
        error,
        p_value,
        selected,
        bonferroni(p_value, alpha),
        benjamini_hochberg(p_value, alpha),
    )


def _select(design: Floats, y: Floats) -> NDArray[np.bool_]:
    """Return the columns with a positive coefficient at the last point of the Lasso path."""
    try:
        from sklearn.linear_model import lasso_path
    except ImportError:
        raise MissingExtra("analysis", "The paper's Lasso decoder") from None
    centred, rest = design - design.mean(axis=0), y - y.mean()
    # The least penalty that selects nothing: there every x'y / rows is at most the penalty.
    largest = max(float((centred.T @ rest).max()) / len(y), 1e-12)
    penalties = largest * np.geomspace(1, _SMALLEST_PENALTY, 50)
    _, path, _ = lasso_path(centred, rest, positive=True, alphas=penalties)
    within = np.flatnonzero((path > 0).sum(axis=0) <= _MOST_SELECTED * len(y))
    return np.asarray(path[:, within[-1]] > 0)


def _least_squares(
    design: Floats, y: Floats, selected: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Return frequency, standard error and p-value of every candidate; ordinary least squares."""
    frequency, p_value = np.zeros(selected.size), np.ones(selected.size)
    error = np.full(selected.size, np.nan)
    columns = design[:, selected]
    degrees = len(y) - columns.shape[1]
    if columns.shape[1] == 0 or degrees < 1:
        return frequency, error, p_value
    inverse = linalg.pinvh(columns.T @ columns)
    found = inverse @ columns.T @ y
    # Ordinary least squares: Var b = s^2 (X'X)^-1, s^2 = |residual|^2 / degrees.
    noise = float(np.square(y - columns @ found).sum()) / degrees
    errors = np.sqrt(np.maximum(noise * inverse.diagonal(), 1e-300))
    frequency[selected], error[selected] = found, errors
    p_value[selected] = t_sf(found / errors, degrees)
    return frequency, error, p_value
