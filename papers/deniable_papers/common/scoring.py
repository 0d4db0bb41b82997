"""Scores of findings against the truth: detected, false, precision, recall, coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.decode import Decoded
from deniable.mechanisms.base import Floats

Found = NDArray[np.bool_]


def found_and_false(decisions: Found, truth: Floats) -> dict[str, float]:
    """Return how many candidates were detected, and how many of these nobody holds."""
    return {
        "detected": float(np.count_nonzero(decisions)),
        "false": float(np.count_nonzero(decisions & (truth == 0))),
    }


def precision_and_recall(decisions: Found, truth: Floats) -> dict[str, float]:
    """Return the true share of the detected (1 if none), and the detected share of the true."""
    right, found, there = (
        float(np.count_nonzero(group)) for group in (decisions & (truth > 0), decisions, truth > 0)
    )
    return {"precision": right / found if found else 1.0, "recall": right / max(1.0, there)}


def coverage(decoded: Decoded, truth: Floats) -> dict[str, float]:
    """Return the share of intervals that hold the truth, of all and of the detected candidates.

    Without any detected candidate nothing was missed: the second share is 1.
    """
    inside = (decoded.low <= truth) & (truth <= decoded.high)
    places = decoded.storey
    adjusted = (decoded.selected_low <= truth) & (truth <= decoded.selected_high)
    return {
        "coverage": float(inside.mean()),
        "coverage_selected": float(adjusted[places].mean()) if places.any() else 1.0,
    }


def averaged(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of numbers of the same names, also inside nested objects."""
    first = runs[0]
    return {
        name: averaged([run[name] for run in runs])
        if isinstance(first[name], Mapping)
        else mean(run[name] for run in runs)
        for name in first
    }


def mean(numbers: Iterable[float]) -> float:
    """Return the mean, to nine significant digits: the last ones depend on the processor."""
    return float(f"{np.mean(list(numbers)):.9g}")
